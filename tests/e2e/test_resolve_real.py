"""A row against the real default index: holes filled by extra files, plain install for comparison, no second solve."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.network, pytest.mark.xdist_group("network")]

X86_64 = ("--arch", "x86_64", "--python", "3.11", "--glibc", "2.34", "--accelerator", "910B2")
AARCH64 = ("--arch", "aarch64", *X86_64[2:])


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {"ACCEL_INSTALL_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}


def plan(tool, cache: dict[str, str], *arguments: object) -> tuple[int, dict]:
    ended = tool("plan", "ascend-910b", *arguments, "--json", env=cache)
    return ended.returncode, json.loads(ended.stdout)


def stand_in(folder: Path, name: str, version: str, platform: str, *requires: str) -> None:
    """Write a wheel that has nothing but metadata."""
    stem = f"{name}-{version}"
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {r}\n" for r in requires)
    with zipfile.ZipFile(folder / f"{stem}-cp311-cp311-{platform}.whl", "w") as archive:
        archive.writestr(f"{stem}.dist-info/METADATA", text)
        archive.writestr(f"{stem}.dist-info/WHEEL", f"Wheel-Version: 1.0\nTag: cp311-cp311-{platform}\n")
        archive.writestr(f"{stem}.dist-info/RECORD", "")


def test_find_links_complete_x86_64_with_cpu_builds(tool, cache: dict[str, str], tmp_path: Path) -> None:
    requires = ("filelock", "typing-extensions", "sympy", "networkx", "jinja2", "fsspec")
    stand_in(tmp_path, "torch", "2.10.0+cpu", "manylinux_2_28_x86_64", *requires)
    stand_in(tmp_path, "torchvision", "0.25.0+cpu", "manylinux_2_28_x86_64", "torch==2.10.0", "numpy", "pillow")
    stand_in(tmp_path, "torchaudio", "2.10.0+cpu", "manylinux_2_28_x86_64", "torch==2.10.0")
    stand_in(tmp_path, "triton_ascend", "3.2.2", "manylinux_2_27_x86_64.manylinux_2_28_x86_64", "triton==3.2.0")
    code, doc = plan(tool, cache, *X86_64, "--find-links", tmp_path)
    assert code == 0 and doc["unresolved"] == []
    wheels = {w["name"]: w for w in doc["wheels"]}
    for name in ("torch", "torchvision", "torchaudio"):
        assert wheels[name]["version"].endswith("+cpu") and wheels[name]["index"] == "find-links"
    assert wheels["triton-ascend"]["version"] == "3.2.2" and "triton" not in wheels
    assert not [n for n in wheels if n.startswith(("nvidia-", "cuda-"))]
    wishes = {(o["package"], o["by"], o["pinned"]) for o in doc["predicted_overrides"]}
    assert ("torch", "vllm 0.23.0", "2.10.0+cpu") in wishes and ("triton", "triton-ascend 3.2.2", None) in wishes
    assert not [o for o in doc["predicted_overrides"] if o["by"].startswith("torch-npu")]


def test_a_plain_install_brings_several_times_as_much(tool, cache: dict[str, str]) -> None:
    _, doc = plan(tool, cache, *AARCH64, "--compare")
    assert doc["plain_install_bytes"] > 4 * doc["download_bytes"] > 0
    sizes = {x["name"]: x["size_bytes"] for x in doc["left_out"]}
    assert sizes["flashinfer-cubin"] > 100_000_000 and sizes["nvidia-cutlass-dsl"]
    assert sizes["triton"]


def test_an_older_row_keeps_its_torch_family_together(tool, cache: dict[str, str]) -> None:
    _, doc = plan(tool, cache, *AARCH64, "--row", "ascend-vllm-0.11.0")
    wheels = {w["name"]: w["version"] for w in doc["wheels"]}
    assert (wheels["torch"], wheels["torchvision"], wheels["torchaudio"]) == ("2.7.1", "0.22.1", "2.7.1")
    assert wheels["torch-npu"] == "2.7.1"
    assert (wheels["numpy"], wheels["opencv-python-headless"]) == ("1.26.4", "4.11.0.86")
    assert any("2.7.1.post1 of the row is not on index" in w for w in doc["warnings"])
