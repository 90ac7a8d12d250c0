"""Folders of wheels as sources: what they hold, with digests computed once per file and kept."""

from __future__ import annotations

import json
from pathlib import Path

from packaging.utils import canonicalize_name

from accel_install.digests import sha256_bytes, sha256_file
from accel_install.host.durable import write_atomic
from accel_install.resolve.filename import project_version
from accel_install.resolve.models import IndexFile

__all__ = ["folder_files"]


def folder_files(folder: Path, project: str, cache_dir: Path | None) -> list[IndexFile]:
    """Return the wheels and source distributions of a project in a folder, by name.

    Args:
        folder: searched flat, not below.
        project: in any spelling.
        cache_dir: where digests are kept, by path, size and time of change.
    """
    name = canonicalize_name(project)
    try:
        paths = sorted(p for p in folder.iterdir() if project_version(p.name, name) is not None and p.is_file())
    except OSError:
        return []
    return [IndexFile(p.name, p.absolute().as_uri(), _digest(p, cache_dir), p.stat().st_size) for p in paths]


def _digest(path: Path, cache_dir: Path | None) -> str:
    stat = path.stat()
    key = sha256_bytes(f"{path.absolute()}\n{stat.st_size}\n{stat.st_mtime_ns}\n{stat.st_ino}".encode())
    kept = None if cache_dir is None else cache_dir / "local-wheels" / f"{key}.json"
    try:
        if kept is not None:
            return str(json.loads(kept.read_bytes())["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    digest = sha256_file(path)
    try:
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(kept, json.dumps({"sha256": digest}).encode())
    except OSError:
        return digest
    return digest
