"""A small made-up index, solver and recipe for tests of row resolution. Names are real, digests are not."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from accel_install.errors import IndexUnavailableError, ResolutionError
from accel_install.facts.target import Target
from accel_install.recipe.models import (
    Constraint,
    Exclusion,
    ExclusiveFamily,
    ForeignPattern,
    IndexSpec,
    Override,
    PackageSpec,
    Recipe,
    Row,
)
from accel_install.resolve.closure import ClosureAnswer, ClosurePackage, ClosureRequest
from accel_install.resolve.models import IndexFile, IndexPage

A64_34 = Target("aarch64", "3.11", "glibc", "2.34")
A64_28 = Target("aarch64", "3.11", "glibc", "2.28")
X64_34 = Target("x86_64", "3.11", "glibc", "2.34")


def digest(filename: str) -> str:
    return hashlib.sha256(filename.encode()).hexdigest()


def index_file(filename: str, size: int = 10) -> IndexFile:
    url = f"https://idx.example/files/{filename.replace('+', '%2B')}"
    return IndexFile(filename, url, digest(filename), size, ">=3.8")


@dataclass
class FakeClient:
    """Pages by (index, project); a missing index is out of reach, a missing project is a 404."""

    pages: dict[str, dict[str, list[str]]]
    extra: dict[str, list[tuple[str, IndexFile]]] = field(default_factory=dict)
    snapshot: dict[str, str] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)

    @property
    def config(self) -> FakeClient:
        return self

    def url_of(self, name: str) -> str | None:
        return f"https://{name}.example/simple"

    def page(self, index_name: str, project: str) -> IndexPage | None:
        self.asked.append((index_name, project))
        if index_name not in self.pages:
            raise IndexUnavailableError("index.unreachable", f"index `{index_name}` does not answer: refused")
        names = self.pages[index_name].get(project)
        if names is None:
            return None
        url = f"https://idx.example/{index_name}/{project}/"
        self.snapshot[url] = "d"
        return IndexPage(project, index_name, url, tuple(map(index_file, names)), "d")

    def find_links_files(self, project: str) -> list[tuple[str, IndexFile]]:
        return self.extra.get(project, [])


@dataclass
class Answer:
    status: int
    content: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class FakeHttp:
    """Serves METADATA by file name prefix (`vllm-0.23.0`); others have no requirements."""

    def __init__(self, requires: Mapping[str, Sequence[str]]) -> None:
        self.requires = requires

    def get(self, url: str) -> Answer:
        filename = url.rpartition("/")[2].replace("%2B", "+").removesuffix(".metadata")
        name, version = filename.split("-")[:2]
        lines = next((v for k, v in self.requires.items() if filename.startswith(k + "-")), ())
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        return Answer(200, (text + "".join(f"Requires-Dist: {line}\n" for line in lines) + "\n").encode())

    def get_range(self, url: str, start: int, end: int) -> Answer:
        return Answer(404)

    def stream_to(self, url: str, path: Path) -> None:
        raise IndexUnavailableError("network.not-found", "no such file")


class FakeSolver:
    """Answers with `found` (name -> file name) and the direct files, less what is excluded; remembers requests."""

    def __init__(self, found: Mapping[str, str], errors: Mapping[str, Exception] | None = None) -> None:
        self.found, self.errors = found, errors or {}
        self.requests: list[ClosureRequest] = []

    def solve(self, request: ClosureRequest) -> ClosureAnswer:
        self.requests.append(request)
        for root, error in self.errors.items():
            if root in request.requirements:
                raise error
        packages = [ClosurePackage(n, f.split("-")[1], (index_file(f),)) for n, f in self.found.items()]
        packages += [ClosurePackage(name, "", ()) for name, _ in request.direct]
        return ClosureAnswer(tuple(p for p in packages if p.name not in request.excludes))


def no_solution(words: str) -> ResolutionError:
    return ResolutionError("resolve.no-solution", "no set of packages fits together", value=words)


def row(version: str, status: str = "published", **components: Any) -> Row:
    return Row(
        platform="fake-platform",
        id=f"row-{version}",
        components={"vllm": version.split("rc")[0], "vllm-ascend": version, **components},
        python=["3.11"],
        arches=["aarch64", "x86_64"],
        source="test",
        date="2026-01-01",
        status=status,  # type: ignore[arg-type]
    )


ROW_23 = row("0.23.0", **{"torch": "2.10.0", "torch-npu": "2.10.0.post4", "triton-ascend": "3.2.2", "cann": "9.1.0"})
ROW_19RC = row("0.19.1rc1", **{"torch": "2.9.0", "torch-npu": "2.9.0"})
ROW_18 = row("0.18.0", **{"torch": "2.9.0", "torch-npu": "2.9.0"})

_BOTH = ("aarch64", "x86_64")

DEFAULT_PAGES: dict[str, list[str]] = {
    "vllm": [
        *(f"vllm-0.23.0-{b}cp38-abi3-manylinux_2_28_{a}.whl" for a in _BOTH for b in ("", "2-")),
        *(f"vllm-{v}-cp38-abi3-manylinux_2_28_{a}.whl" for a in _BOTH for v in ("0.19.1", "0.18.0")),
    ],
    "vllm-ascend": [
        *(f"vllm_ascend-0.23.0-cp311-cp311-manylinux_2_34_{a}.whl" for a in _BOTH),
        *(f"vllm_ascend-{v}-cp311-cp311-manylinux_2_24_{a}.whl" for a in _BOTH for v in ("0.19.1rc1", "0.18.0")),
    ],
    "torch": [f"torch-{v}-cp311-cp311-manylinux_2_28_{a}.whl" for a in _BOTH for v in ("2.10.0", "2.9.0")],
    "torch-npu": [f"torch_npu-{v}-cp311-cp311-manylinux_2_28_{a}.whl" for a in _BOTH for v in ("2.10.0.post4", "2.9.0")],
    "triton-ascend": [f"triton_ascend-3.2.0-cp311-cp311-manylinux_2_27_{a}.whl" for a in _BOTH],
}

REQUIRES = {
    "vllm-0.23.0": [
        "torch==2.11.0",
        "flashinfer-python==0.6.12",
        "numpy",
        'xgrammar; platform_machine == "x86_64"',
    ],
    "vllm_ascend-0.23.0": [
        "torch==2.10.0",
        "torch-npu==2.10.0.post4",
        "triton-ascend==3.2.2",
        "memfabric-hybrid",
    ],
    "vllm_ascend-0.18.0": ["torch==2.9.0", "memfabric_hybrid==1.0.8"],
    "torch_npu-2.10.0.post4": ["torch==2.10.0"],
}

CLOSURE = {
    "numpy": "numpy-2.3.5-cp311-cp311-manylinux_2_28_aarch64.whl",
    "six": "six-1.0-py3-none-any.whl",
    "nvidia-nccl-cu13": "nvidia_nccl_cu13-2.0-py3-none-any.whl",
}


def fake_recipe(**changes: Any) -> Recipe:
    """Return a recipe like the one of a vendor stack, with three rows."""
    values: dict[str, Any] = {
        "name": "fake",
        "title": "fake",
        "platform": "fake-platform",
        "serving": "vllm-ascend",
        "requirements": ["vllm", "vllm-ascend"],
        "indexes": {"default": IndexSpec(), "vendor": IndexSpec(url="https://vendor.example/simple")},
        "packages": {
            "torch": PackageSpec(
                role="torch-family",
                index={"x86_64": "pytorch-cpu", "aarch64": "default"},
                local={"x86_64": "cpu"},
            ),
            "torch-npu": PackageSpec(role="torch-plugin"),
            "vllm": PackageSpec(role="serving"),
            "vllm-ascend": PackageSpec(role="plugin"),
            "triton-ascend": PackageSpec(
                role="fork",
                index="vendor",
                alternatives={"3.2.0": "belongs to CANN 8.5.0", "3.2.1": "not there"},
            ),
        },
        "constraints": [
            Constraint(requirement="setuptools<81", reason="pkg_resources"),
            Constraint(requirement="memfabric-hybrid==1.2.0", reason="what post1 pins"),
        ],
        "overrides": [
            Override(requirement="numpy<2", reason="opencv", when_package="vllm-ascend", when_version="<0.20"),
        ],
        "excluded": [
            Exclusion(name="flashinfer-python", reason="CUDA only"),
            Exclusion(name="triton", reason="fork"),
        ],
        "foreign": [ForeignPattern(pattern="nvidia-*", reason="payload for NVIDIA")],
        "exclusive": [
            ExclusiveFamily(module="triton", provider="triton-ascend", members=["triton", "triton-ascend"], reason="one")
        ],
        "steps": [],
        "rows": [ROW_23, ROW_18, ROW_19RC],
    }
    return Recipe(**{**values, **changes})
