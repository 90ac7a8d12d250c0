"""One installed distribution, read from its dist-info folder as far as it is asked for. Never writes."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from packaging.utils import canonicalize_name

__all__ = ["InstalledDist", "RecordEntry"]


class RecordEntry(NamedTuple):
    """One RECORD line: path relative to the site folder, `sha256=<urlsafe base64>` or '', size or None."""

    path: str
    hash: str
    size_bytes: int | None


class InstalledDist:
    """A distribution in a site folder. The folder name gives name and version where METADATA is missing.

    `mtime` is when its dist-info folder last changed: the time of installation, unless somebody touched it.
    """

    def __init__(self, dist_info: Path) -> None:
        self.dist_info = dist_info

    def __repr__(self) -> str:
        return f"InstalledDist({self.dist_info.name!r})"

    @property
    def site_dir(self) -> Path:
        """The folder that RECORD paths are relative to."""
        return self.dist_info.parent

    @property
    def legacy(self) -> bool:
        """Say whether it is an egg-info of old, which has no RECORD by nature."""
        return self.dist_info.suffix == ".egg-info"

    @cached_property
    def name(self) -> str:
        """Canonical name: the folder's, which metadata repeats in any spelling (`torch_npu`, `torch-npu`)."""
        return str(canonicalize_name(self._stem[0]))

    @cached_property
    def version(self) -> str:
        """Version as METADATA states it, else as the folder name does."""
        return next(iter(self._headers.get("version", ())), "") or self._stem[1]

    @cached_property
    def requires(self) -> tuple[str, ...]:
        """Requires-Dist lines as written."""
        return tuple(self._headers.get("requires-dist", ()))

    @cached_property
    def installer(self) -> str | None:
        """Who installed it, by its own word (`pip`, `uv`), or None."""
        return (_read(self.dist_info / "INSTALLER") or "").strip() or None

    @cached_property
    def mtime(self) -> float:
        """Seconds since the epoch of the last change of the dist-info folder; 0 when it cannot be read."""
        try:
            return self.dist_info.stat().st_mtime
        except OSError:
            return 0.0

    @cached_property
    def record(self) -> list[RecordEntry] | None:
        """The RECORD entries, or None when there is no RECORD."""
        text = None if self.legacy else _read(self.dist_info / "RECORD")
        return None if text is None else list(_parse_record(text))

    @cached_property
    def problems(self) -> tuple[str, ...]:
        """What is missing of it: `no METADATA`, `no RECORD`. Empty for a whole one."""
        if self.legacy:
            return ()
        missing = []
        if not self._headers.get("version"):
            missing.append("no METADATA")
        if not (self.dist_info / "RECORD").is_file():
            missing.append("no RECORD")
        return tuple(missing)

    @cached_property
    def _stem(self) -> tuple[str, str]:
        name, _, version = self.dist_info.name.rsplit(".", 1)[0].partition("-")
        return name, re.sub(r"-py3\.\d+$", "", version) if self.legacy else version

    @cached_property
    def _headers(self) -> dict[str, list[str]]:
        path = self.dist_info / ("PKG-INFO" if self.legacy else "METADATA")
        return _parse_headers(_read(self.dist_info if self.dist_info.is_file() else path) or "")


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _parse_headers(text: str) -> dict[str, list[str]]:
    """Parse the header block only: descriptions are long, and no reader here wants them."""
    headers: dict[str, list[str]] = {}
    last: list[str] | None = None
    for line in text.partition("\n\n")[0].splitlines():
        if line[:1] in " \t" and last is not None:
            last[-1] = f"{last[-1]} {line.strip()}"
            continue
        key, colon, value = line.partition(":")
        if colon:
            last = headers.setdefault(key.strip().lower(), [])
            last.append(value.strip())
    return headers


def _parse_record(text: str) -> Iterator[RecordEntry]:
    for line in text.splitlines():
        fields = next(csv.reader([line]), []) if '"' in line else line.rsplit(",", 2)
        if fields and fields[0]:
            path, digest, size = (*fields, "", "")[:3]
            yield RecordEntry(path, digest, int(size) if size.isdigit() else None)
