"""`resolve` on small indexes made of folders: the cases that people hit, through the program."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

X86_64 = ("--arch", "x86_64", "--python", "3.11", "--glibc", "2.34")
AARCH64 = ("--arch", "aarch64", *X86_64[2:])


def put(folder: Path, filename: str, *requires: str) -> None:
    """Write a wheel that has no payload."""
    folder.mkdir(exist_ok=True)
    name, version = filename.split("-")[:2]
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {r}\n" for r in requires)
    with zipfile.ZipFile(folder / filename, "w") as archive:
        archive.writestr(f"{name}-{version}.dist-info/METADATA", text + "\n")
        archive.writestr(f"{name}-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        archive.writestr(f"{name}-{version}.dist-info/RECORD", "")


def ask(tool, *arguments: object) -> tuple[int, dict, dict[str, str]]:
    ended = tool("resolve", *arguments, "--json")
    document = json.loads(ended.stdout)
    return ended.returncode, document, {r["filename"]: r["reason"] for r in document["rejected"]}


@pytest.fixture
def family(tmp_path: Path) -> tuple[Path, Path]:
    public, cpu = tmp_path / "public", tmp_path / "cpu"
    put(public, "torch_npu-2.9.0-cp311-cp311-manylinux_2_28_x86_64.whl", "torch==2.9.0+cpu")
    put(public, "torch_npu-2.9.0-cp311-cp311-manylinux_2_28_aarch64.whl", "torch==2.9.0")
    for arch in ("x86_64", "aarch64"):
        put(public, f"torch-2.9.0-cp311-cp311-manylinux_2_28_{arch}.whl")
    put(cpu, "torch-2.9.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl")
    return public, cpu


def test_the_metadata_of_this_arch_decides(tool, family: tuple[Path, Path]) -> None:
    public, cpu = family
    wanted = ("torch-npu==2.9.0", "torch==2.9.0")
    assert ask(tool, *wanted, *AARCH64, "--index", f"a={public}")[0] == 0
    code, document, _ = ask(tool, *wanted, *X86_64, "--index", f"a={public}")
    assert code == 12 and "torch==2.9.0+cpu" in document["unresolved"][0]["detail"]
    both = ("--index", f"a={public}", "--index", f"b={cpu}")
    assert "wrong-index" in ask(tool, *wanted, *X86_64, *both)[2].values()
    code, document, _ = ask(tool, *wanted, *X86_64, *both, "--package-index", "b=torch")
    assert code == 0 and document["wheels"][1]["index"] == "b" and document["wheels"][1]["version"] == "2.9.0+cpu"


def test_abi_and_torch_in_the_label_are_compared(tool, tmp_path: Path) -> None:
    for label in ("torch2.6cxx11abiFALSE", "torch2.6cxx11abiTRUE", "torch2.7cxx11abiTRUE"):
        put(tmp_path / "f", f"flash_attn-2.7.4.post1+cu12{label}-cp311-cp311-linux_x86_64.whl")
    for torch in ("2.6.0+cu126", "2.9.0+cu128"):
        put(tmp_path / "f", f"torch-{torch}-cp311-cp311-manylinux_2_28_x86_64.whl")
    source = ("--find-links", tmp_path / "f")
    code, document, reasons = ask(tool, "flash-attn", "torch==2.6.0+cu126", *X86_64, *source)
    assert code == 0 and "torch2.6cxx11abiTRUE" in document["wheels"][0]["filename"]
    assert list(reasons.values()).count("abi-mismatch") == 2
    assert ask(tool, "flash-attn", "torch==2.9.0", *X86_64, *source)[0] == 12


def test_a_vendors_chips_before_the_name_are_not_guessed_away(tool, tmp_path: Path) -> None:
    put(tmp_path / "f", "S3000_S80_torch_musa-1.2.1-cp311-cp311-linux_x86_64.whl")
    code, document, _ = ask(tool, "torch-musa", *X86_64, "--find-links", tmp_path / "f")
    assert code == 12 and "S3000, S80" in document["unresolved"][0]["detail"]


def test_a_rocm_index_never_falls_through_to_the_public_one(tool, tmp_path: Path) -> None:
    put(tmp_path / "r", "vllm-0.22.1+rocm722-cp312-cp312-manylinux_2_34_x86_64.whl")
    put(tmp_path / "p", "vllm-0.22.1-cp38-abi3-manylinux_2_28_x86_64.whl")
    code, _, reasons = ask(tool, "vllm==0.22.1", *X86_64, "--index", f"r={tmp_path / 'r'}", "--index", f"p={tmp_path / 'p'}")
    assert code == 12 and sorted(reasons.values()) == ["python-tag", "wrong-index"]


def test_a_newer_source_release_is_told_and_not_taken(tool, tmp_path: Path) -> None:
    put(tmp_path / "m", "vllm_ascend-0.23.0-cp311-cp311-manylinux_2_34_aarch64.whl")
    (tmp_path / "m/vllm_ascend-0.23.0.post1.tar.gz").write_bytes(b"source")
    code, document, _ = ask(tool, "vllm-ascend", *AARCH64, "--index", f"m={tmp_path / 'm'}")
    assert code == 0 and document["wheels"][0]["version"] == "0.23.0" and "source only" in document["warnings"][0]
    code, document, _ = ask(tool, "vllm-ascend==0.23.0.post1", *AARCH64, "--index", f"m={tmp_path / 'm'}")
    assert code == 12 and document["unresolved"][0]["reason"] == "sdist-only"
    assert document["unresolved"][0]["alternatives"] == ["0.23.0"]


def test_the_files_of_an_extra_folder_keep_their_own_reasons(tool, tmp_path: Path) -> None:
    put(tmp_path / "f", "S3000_S80_torch_musa-1.2.1-cp311-cp311-linux_x86_64.whl")
    _, document, reasons = ask(tool, "torch-musa", *X86_64, "--find-links", tmp_path / "f")
    assert list(reasons.values()) == ["variant"] and len(document["rejected"]) == 1


def test_deps_add_the_closure_and_its_failure_is_told(tool, tmp_path: Path) -> None:
    put(tmp_path / "f", "top-1.0-py3-none-any.whl", "below>=1")
    put(tmp_path / "f", "lonely-1.0-py3-none-any.whl", "nowhere")
    for version in ("0.9", "1.1"):
        put(tmp_path / "f", f"below-{version}-py3-none-any.whl")
    source = ("--find-links", tmp_path / "f")
    code, document, _ = ask(tool, "top", *X86_64, *source, "--deps")
    assert code == 0
    assert [(w["name"], w["version"], w["requested"]) for w in document["wheels"]] == [
        ("top", "1.0", True),
        ("below", "1.1", False),
    ]
    code, document, _ = ask(tool, "lonely", *X86_64, *source, "--deps")
    assert code == 12 and "nowhere" in document["unresolved"][0]["detail"]


@pytest.mark.parametrize("line", ["torch=>2", "torch @ https://u:secret@x.example/t.whl", "", "--index-url"])
def test_a_bad_requirement_is_named_and_no_password_shown(tool, line: str) -> None:
    ended = tool("resolve", "--json", *X86_64, "--", line)
    error = json.loads(ended.stdout)["error"]
    assert ended.returncode == 2 and "secret" not in ended.stdout + ended.stderr
    assert error["value"] is not None and "Traceback" not in ended.stderr
