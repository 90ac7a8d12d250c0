"""Makes tiny real wheels (METADATA, WHEEL, RECORD, a module) that real pip and uv install offline."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["make_wheel"]


def make_wheel(
    folder: Path,
    name: str,
    version: str,
    requires: Sequence[str] = (),
    files: Mapping[str, str | bytes] | None = None,
    tag: str = "py3-none-any",
    build: str | None = None,
) -> Path:
    """Write `name-version[-build]-tag.whl` into a folder and return its path.

    `files` maps archive paths to contents; without it the wheel holds one module with name and version.
    The bytes depend on the arguments alone.
    """
    stem = name.replace("-", "_")
    info = f"{stem}-{version}.dist-info"
    contents: dict[str, bytes] = {
        path: data.encode() if isinstance(data, str) else data
        for path, data in (files if files is not None else {f"{stem}/__init__.py": _module(name, version)}).items()
    }
    contents[f"{info}/METADATA"] = _metadata(name, version, requires).encode()
    contents[f"{info}/WHEEL"] = _wheel(tag).encode()
    record = "".join(f"{path},{_hash(data)},{len(data)}\n" for path, data in contents.items())
    contents[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "-".join(p for p in (stem, version, build, tag) if p)
    path = path.with_name(f"{path.name}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for inner, data in contents.items():
            archive.writestr(zipfile.ZipInfo(inner, (2026, 1, 1, 0, 0, 0)), data)
    return path


def _module(name: str, version: str) -> str:
    return f'"""Stand-in for {name}, made for a test."""\n\n__version__ = "{version}"\n'


def _metadata(name: str, version: str, requires: Sequence[str]) -> str:
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {line}" for line in requires]
    return "\n".join([*lines, "", f"Stand-in for {name}.", ""])


def _wheel(tag: str) -> str:
    lines = ["Wheel-Version: 1.0", "Generator: stand-in", "Root-Is-Purelib: true", f"Tag: {tag}"]
    return "\n".join([*lines, ""])


def _hash(data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"sha256={digest}"
