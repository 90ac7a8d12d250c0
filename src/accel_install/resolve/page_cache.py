"""Parsed pages on disk: a repeated plan reads neither the network nor 400 kB of JSON again. Damage is a miss."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

from accel_install.digests import sha256_bytes
from accel_install.host.durable import write_atomic
from accel_install.resolve.models import IndexFile, IndexPage

__all__ = ["KeptPage", "PageCache"]

_FORMAT = 3
_FIELDS = tuple(f.name for f in fields(IndexFile))


@dataclass(frozen=True)
class KeptPage:
    """A page, when it was fetched (seconds since the epoch), and what to ask the server with whether it changed."""

    page: IndexPage
    fetched: float
    etag: str | None = None
    last_modified: str | None = None

    def conditions(self) -> dict[str, str]:
        """Return the headers of a conditional request (RFC 9110, 13.1), empty when the server gave no validator."""
        found = {"if-none-match": self.etag, "if-modified-since": None if self.etag else self.last_modified}
        return {name: value for name, value in found.items() if value}


class PageCache:
    """Pages by address of the index and project.

    Args:
        folder: where they are kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, index_url: str, project: str, index: str) -> KeptPage | None:
        """Return the page, or None."""
        try:
            kept: dict[str, Any] = json.loads(self._path(index_url, project).read_bytes())
            if kept["format"] != _FORMAT or kept["project"] != project:
                return None
            page = IndexPage(project, index, kept["url"], tuple(map(_file, kept["files"])), kept["digest"])
            return KeptPage(page, float(kept["fetched"]), kept["etag"], kept["last_modified"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def store(self, index_url: str, page: IndexPage, fetched: float, headers: Mapping[str, str]) -> None:
        """Keep a page with the validators of its answer. A cache that cannot be written costs time, nothing else."""
        document = {
            "format": _FORMAT,
            "project": page.project,
            "url": page.url,
            "digest": page.digest,
            "fetched": fetched,
            "etag": headers.get("etag"),
            "last_modified": headers.get("last-modified"),
            "files": [astuple(f) for f in page.files],
        }
        path = self._path(index_url, page.project)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, json.dumps(document).encode())
        except OSError:
            return

    def _path(self, index_url: str, project: str) -> Path:
        return self._folder / f"{sha256_bytes(chr(10).join((index_url, project)).encode())}.json"


def _file(row: list[Any]) -> IndexFile:
    values: dict[str, Any] = dict(zip(_FIELDS, row, strict=True))
    return IndexFile(**{**values, "hashes": tuple(values["hashes"])})
