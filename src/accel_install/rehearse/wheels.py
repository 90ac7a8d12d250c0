"""Tiny stand-in wheels with real names, versions, requirements and RECORD. Deterministic bytes.

Each holds one small module that says it is a stand-in; the conflicts between them are those of the real packages.
"""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["StandInWheel", "build_wheel", "stand_in_wheels"]

_DATE = (2026, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class StandInWheel:
    """What a stand-in wheel says of itself. `files` are further module files beside `<module>/__init__.py`."""

    name: str
    version: str
    requires: Sequence[str] = ()
    module: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    index: str = "default"

    @property
    def filename(self) -> str:
        """Return the wheel's file name."""
        return f"{self.name.replace('-', '_')}-{self.version}-py3-none-any.whl"


def build_wheel(folder: Path, wheel: StandInWheel) -> Path:
    """Write the wheel into a folder and return its path."""
    contents = {**_modules(wheel), **_dist_info(wheel)}
    record = f"{_dist_info_dir(wheel)}/RECORD"
    lines = [f"{name},sha256={_hash(data)},{len(data)}" for name, data in contents.items()]
    contents[record] = ("\n".join([*lines, f"{record},,"]) + "\n").encode()
    path = folder / wheel.filename
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), data)
    return path


def _hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _dist_info_dir(wheel: StandInWheel) -> str:
    return f"{wheel.name.replace('-', '_')}-{wheel.version}.dist-info"


def _modules(wheel: StandInWheel) -> dict[str, bytes]:
    module = wheel.module or wheel.name.replace("-", "_")
    text = f'"""Stand-in for {wheel.name}, made for a rehearsal."""\n\n__version__ = "{wheel.version}"\n'
    return {f"{module}/__init__.py": text.encode(), **{n: t.encode() for n, t in wheel.files.items()}}


def _dist_info(wheel: StandInWheel) -> dict[str, bytes]:
    folder = _dist_info_dir(wheel)
    metadata = ["Metadata-Version: 2.1", f"Name: {wheel.name}", f"Version: {wheel.version}", "Summary: stand-in for a rehearsal"]
    metadata += [f"Requires-Dist: {r}" for r in wheel.requires]
    tags = "Wheel-Version: 1.0\nGenerator: accel-install rehearsal\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    return {f"{folder}/METADATA": ("\n".join(metadata) + "\n").encode(), f"{folder}/WHEEL": tags.encode()}


def stand_in_wheels(versions: Mapping[str, str], local: str | None) -> list[StandInWheel]:
    """Return the stand-ins for a row of the Ascend recipe.

    Args:
        versions: row components, by distribution name.
        local: the label of the torch family on this arch (`cpu` on x86_64), None where it has none.
    """
    suffix = f"+{local}" if local else ""
    torch = versions["torch"] + suffix
    family = "pytorch-cpu" if local else "default"
    return [
        StandInWheel("torch", torch, index=family),
        StandInWheel("torchvision", versions["torchvision"] + suffix, [f"torch=={versions['torch']}"], index=family),
        StandInWheel("torchaudio", versions["torchaudio"] + suffix, [f"torch=={versions['torch']}"], index=family),
        StandInWheel("torch-npu", versions["torch-npu"], [f"torch=={torch}"]),
        StandInWheel("vllm", versions["vllm"], _VLLM_REQUIRES),
        StandInWheel("vllm-ascend", versions["vllm-ascend"], _plugin_requires(versions)),
        _fork(versions["triton-ascend"]),
        *(StandInWheel(name, version, requires) for name, version, requires in _CLOSURE),
        StandInWheel("transformers", versions["transformers"], ["numpy", "tokenizers>=0.22.0,<=0.23.0"]),
    ]


def _plugin_requires(versions: Mapping[str, str]) -> list[str]:
    exact = ("torch", "torchvision", "torchaudio", "torch-npu", "triton-ascend", "transformers")
    return [*(f"{n}=={versions[n]}" for n in exact), "memfabric_hybrid", "memcache_hybrid", "arctic-inference==0.1.1", "numpy"]


def _fork(version: str) -> StandInWheel:
    """The compiler fork owns the folder triton/, as the real one does."""
    text = '"""Stand-in backend."""\n'
    files = {"triton/backends/__init__.py": text, "triton/backends/ascend/__init__.py": text, "triton/_C/__init__.py": text}
    return StandInWheel("triton-ascend", version, [], "triton", {**files, "triton/compiler/__init__.py": text}, "ascend")


_VLLM_REQUIRES = (
    "torch==2.11.0",
    "torchvision==0.26.0",
    "torchaudio==2.11.0",
    "flashinfer-python==0.6.12",
    "nvidia-cudnn-frontend",
    "transformers>=4.56.0",
    "xgrammar>=0.2.0,<1.0.0",
    "numpy",
)
_CLOSURE: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("numpy", "2.3.5", ()),
    ("tokenizers", "0.22.2", ()),
    ("xgrammar", "0.2.3", ("apache-tvm-ffi>=0.1.9", 'triton; platform_system == "Linux" and platform_machine == "x86_64"')),
    ("apache-tvm-ffi", "0.1.9", ()),
    ("memfabric-hybrid", "1.2.0", ()),
    ("memfabric-hybrid", "1.3.0", ()),
    ("memcache-hybrid", "1.2.0", ()),
    ("memcache-hybrid", "1.3.0", ()),
)
