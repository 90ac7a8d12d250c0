"""Wheel metadata by the sha256 of the wheel, kept for ever: the content of a digest cannot change."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

__all__ = ["MetadataCache"]


class MetadataCache:
    """A folder with one JSON file per wheel digest.

    Args:
        folder: where the files lie; None switches the cache off.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def get(self, sha256: str | None) -> dict[str, Any] | None:
        """Return what was stored for a digest; a file that cannot be read counts as absent."""
        path = self._path(sha256)
        if path is None:
            return None
        try:
            value = json.loads(path.read_bytes())
        except (OSError, ValueError):
            return None
        return value if isinstance(value, dict) else None

    def put(self, sha256: str | None, value: dict[str, Any]) -> None:
        """Store a value; a full or read-only disk is no reason to fail a plan."""
        path = self._path(sha256)
        if path is None:
            return
        temporary = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps(value), "utf-8")
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)

    def _path(self, sha256: str | None) -> Path | None:
        if self._folder is None or sha256 is None or not sha256.isalnum():
            return None
        return self._folder / f"{sha256}.json"
