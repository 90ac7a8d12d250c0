"""The plan of a described 910B server from the real default index, against the recorded right answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = [pytest.mark.network, pytest.mark.xdist_group("network")]

EXPECTED = json.loads((Path(__file__).parents[1] / "captured/expected-wheels-py311.json").read_text())["entries"]
TARGET = ("--python", "3.11", "--accelerator", "910B2")
FOREIGN = ("nvidia-", "cuda-", "flashinfer-", "cupy")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {"ACCEL_INSTALL_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}


def plan(tool, cache: dict[str, str], *arguments: str) -> tuple[int, dict]:
    ended = tool("plan", "ascend-910b", *TARGET, *arguments, "--json", env=cache)
    return ended.returncode, json.loads(ended.stdout)


def expected(arch: str, glibc: str) -> dict[str, str]:
    return {e["name"]: e for e in EXPECTED if e["arch"] == arch and e["glibc"] == glibc and e["file"]}


def test_aarch64_gives_the_files_of_the_expected_table(tool, cache: dict[str, str]) -> None:
    code, doc = plan(tool, cache, "--arch", "aarch64", "--glibc", "2.34")
    assert code == 13 and doc["row"] == "ascend-vllm-0.23.0"
    wheels = {w["name"]: w for w in doc["wheels"]}
    for name, entry in expected("aarch64", "2.34").items():
        if name != "triton-ascend":
            got = wheels[name]
            assert (got["filename"], got["sha256"], got["size_bytes"]) == (entry["file"], entry["sha256"], entry["size"])
    assert [u["name"] for u in doc["unresolved"]] == ["triton-ascend"]
    assert doc["unresolved"][0]["alternatives"] == ["3.2.0"] and doc["unresolved"][0]["version"] == "3.2.2"
    assert "triton" not in wheels and not [n for n in wheels if n.startswith(FOREIGN)]
    assert {"torch", "torchaudio", "torchvision"} <= {o["package"] for o in doc["predicted_overrides"] if o["pinned"]}
    torch = next(o for o in doc["predicted_overrides"] if o["package"] == "torch")
    assert (torch["by"], torch["wanted"], torch["pinned"]) == ("vllm 0.23.0", "==2.11.0", "2.10.0")
    assert "vllm-ascend" in torch["pinned_by"]
    assert wheels["memfabric-hybrid"]["version"] == "1.2.0" and wheels["memcache-hybrid"]["version"] == "1.2.0"
    assert int(wheels["setuptools"]["version"].split(".")[0]) < 81
    assert all(w["sha256"] and w["size_bytes"] and w["step"] for w in doc["wheels"])
    reasons = {r["filename"]: r["reason"] for r in doc["rejected"]}
    assert reasons["vllm-0.23.0-cp38-abi3-manylinux_2_28_aarch64.whl"] == "build-tag"


def test_x86_64_never_takes_the_public_cuda_builds(tool, cache: dict[str, str]) -> None:
    _, doc = plan(tool, cache, "--arch", "x86_64", "--glibc", "2.34")
    family = {"torch", "torchvision", "torchaudio"}
    here = {w["name"]: w["version"] for w in doc["wheels"] if w["name"] in family}
    missing = {u["name"] for u in doc["unresolved"]}
    assert all("+cpu" in version for version in here.values())
    assert here.keys() | missing >= family
    wheels = {w["name"]: w["filename"] for w in doc["wheels"]}
    for name, entry in expected("x86_64", "2.34").items():
        if name not in family | {"triton-ascend"}:
            assert wheels[name] == entry["file"]
    assert "triton" not in wheels and not [n for n in wheels if n.startswith(FOREIGN)]
    assert any(o["package"] == "triton" and o["by"].startswith("xgrammar") for o in doc["predicted_overrides"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arch", "glibc", "final", "pre"),
    [
        ("aarch64", "2.28", "ascend-vllm-0.11.0", "ascend-vllm-0.11.0rc3"),
        ("aarch64", "2.31", "ascend-vllm-0.18.0", "ascend-vllm-0.19.1rc1"),
        ("x86_64", "2.28", "ascend-vllm-0.11.0", "ascend-vllm-0.21.0rc1"),
    ],
)
def test_an_old_glibc_is_refused_and_the_rows_that_fit_are_named(
    tool, cache: dict[str, str], arch: str, glibc: str, final: str, pre: str
) -> None:
    code, doc = plan(tool, cache, "--arch", arch, "--glibc", glibc, "--row", "ascend-vllm-0.23.0")
    assert code == 12
    error = doc["error"]
    assert error["proposals"] == {"final": final, "prerelease": pre}
    assert "glibc >= 2.34" in error["message"] and glibc in error["message"]
    assert final in error["hint"] and pre in error["hint"]


def test_the_measured_row_warns_that_it_is_not_the_published_pair(tool, cache: dict[str, str]) -> None:
    code, doc = plan(tool, cache, "--arch", "aarch64", "--glibc", "2.34", "--row", "ascend-910b2-measured-0.23")
    assert code == 13 and doc["row"] == "ascend-910b2-measured-0.23"
    assert {s["id"]: s["version"] for s in doc["steps"]}["cann-toolkit"] == "9.0.0"
    assert any("not the published pair" in w and "9.1.0" in w for w in doc["warnings"])


def test_offline_uses_what_was_cached_and_names_what_is_missing(tool, cache: dict[str, str], tmp_path: Path) -> None:
    plan(tool, cache, "--arch", "aarch64", "--glibc", "2.34")
    code, doc = plan(tool, cache, "--arch", "aarch64", "--glibc", "2.34", "--offline")
    assert code == 13 and len(doc["wheels"]) > 150
    code, doc = plan(tool, {"ACCEL_INSTALL_CACHE_DIR": str(tmp_path)}, "--arch", "aarch64", "--glibc", "2.34", "--offline")
    assert code == 13 and {u["reason"] for u in doc["unresolved"]} == {"offline"}


def test_a_lock_of_a_described_machine_has_no_address(tool, cache: dict[str, str], tmp_path: Path) -> None:
    out = tmp_path / "a.lock.toml"
    target = ("--arch", "aarch64", "--glibc", "2.34", *TARGET)
    ended = tool("lock", "ascend-910b", *target, "-o", out, "--json", env=cache)
    assert ended.returncode == 13
    text = out.read_text()
    assert "://" not in text and "[run]" not in text and text.count("[[wheels]]") > 150
    again = tmp_path / "b.lock.toml"
    tool("lock", "ascend-910b", *target, "-o", again, env=cache)
    assert again.read_bytes() == out.read_bytes()
