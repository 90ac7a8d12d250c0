"""Metadata-only copies of the files that are fixed already, so that the solver need not fetch their metadata again.

A copy has the file's own name and the requirement part of its METADATA, read before and kept by digest; no payload. It lives in
the solver's scratch folder and is never installed.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from accel_install.resolve.filename import parse_wheel_name
from accel_install.resolve.metadata_cache import MetadataCache

__all__ = ["local_copy"]


def local_copy(url: str, cache_dir: Path, folder: Path) -> str:
    """Return the address of a metadata-only copy of a wheel, or the address itself where its metadata is not known.

    Args:
        url: address of the wheel with `#sha256=...`.
        cache_dir: the tool's cache folder, where metadata is kept.
        folder: where the copy goes.
    """
    parts = urlsplit(url)
    filename = unquote(parts.path.rpartition("/")[2])
    known = MetadataCache(cache_dir / "metadata").get(parts.fragment.removeprefix("sha256="))
    if known is None or parts.scheme == "file":
        return url
    try:
        name = parse_wheel_name(filename)
        place = folder / name.name
        place.mkdir(parents=True, exist_ok=True)
        path = place / filename
        stem = "-".join(filename.split("-")[:2])
        with zipfile.ZipFile(path, "w") as archive:
            for member, text in _members(stem, known, filename).items():
                archive.writestr(member, text)
        return path.absolute().as_uri()
    except (OSError, ValueError, KeyError):
        return url


def _members(stem: str, known: dict[str, Any], filename: str) -> dict[str, str]:
    lines = ["Metadata-Version: 2.1", f"Name: {known['name']}", f"Version: {known['version']}"]
    lines += [f"Requires-Python: {known['requires_python']}"] if known["requires_python"] else []
    lines += [f"Provides-Extra: {extra}" for extra in known["provides_extra"]]
    lines += [f"Requires-Dist: {line}" for line in known["requires_dist"]]
    tag = "-".join(filename.removesuffix(".whl").split("-")[-3:])
    info = f"{stem}.dist-info"
    return {
        f"{info}/METADATA": "\n".join(lines) + "\n",
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: accel-install\nRoot-Is-Purelib: false\nTag: {tag}\n",
        f"{info}/RECORD": f"{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n",
    }
