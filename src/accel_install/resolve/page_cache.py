"""Parsed pages on disk: a repeated plan reads neither the network nor 400 kB of JSON again. Damage is a miss."""

from __future__ import annotations

import json
from dataclasses import astuple
from pathlib import Path
from typing import Any

from accel_install.digests import sha256_bytes
from accel_install.host.durable import write_atomic
from accel_install.resolve.models import IndexFile, IndexPage

__all__ = ["PageCache"]

_FORMAT = 1


class PageCache:
    """Pages by address of the index and project.

    Args:
        folder: where they are kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, index_url: str, project: str, index: str) -> tuple[IndexPage, float] | None:
        """Return the page and when it was fetched (seconds since the epoch), or None."""
        try:
            kept: dict[str, Any] = json.loads(self._path(index_url, project).read_bytes())
            if kept["format"] != _FORMAT or kept["project"] != project:
                return None
            files = tuple(IndexFile(*row) for row in kept["files"])
            return IndexPage(project, index, kept["url"], files, kept["digest"]), float(kept["fetched"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def store(self, index_url: str, page: IndexPage, fetched: float) -> None:
        """Keep a page. A cache that cannot be written costs time, nothing else."""
        document = {
            "format": _FORMAT,
            "project": page.project,
            "url": page.url,
            "digest": page.digest,
            "fetched": fetched,
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
