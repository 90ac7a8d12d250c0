"""Which distribution claims which path, by their RECORDs, and whose content lies there. Changes nothing."""

from __future__ import annotations

import base64
import binascii
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from accel_install.digests import sha256_file
from accel_install.verify.environment import InstalledDist, RecordEntry

__all__ = ["SharedPaths", "file_of", "hex_digest", "is_generated", "shared_paths", "winner_of"]

_MOST_HASHED = 20


@dataclass(frozen=True)
class SharedPaths:
    """Paths that two distributions claim with different content: pairs of first's and second's lines."""

    first: InstalledDist
    second: InstalledDist
    entries: tuple[tuple[RecordEntry, RecordEntry], ...]


def is_generated(path: str) -> bool:
    """Say whether a RECORD path is no content of the package: bytecode, or the RECORD itself."""
    return path.endswith(".pyc") or path.endswith(".dist-info/RECORD")


def file_of(dist: InstalledDist, entry: RecordEntry) -> Path:
    """Return where a RECORD entry lies (paths may climb out of the site folder to `bin`)."""
    return dist.site_dir / entry.path


def hex_digest(record_hash: str) -> str | None:
    """Return the hex sha256 of a RECORD hash (`sha256=<urlsafe base64, unpadded>`), None for another kind."""
    kind, _, value = record_hash.partition("=")
    if kind != "sha256" or not value:
        return None
    try:
        return base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)).hex()
    except (binascii.Error, ValueError):
        return None


def shared_paths(installed: Iterable[InstalledDist]) -> list[SharedPaths]:
    """Return every pair of distributions whose RECORDs claim one path with different (or unstated) content.

    Equal content harms nobody (namespace `__init__.py` files are shared that way) and is not reported.
    """
    owners: dict[tuple[Path, str], tuple[InstalledDist, RecordEntry]] = {}
    pairs: dict[tuple[int, int], list[tuple[RecordEntry, RecordEntry]]] = defaultdict(list)
    dists: dict[int, InstalledDist] = {}
    for dist in installed:
        for entry in dist.record or ():
            first = owners.setdefault((dist.site_dir, entry.path), (dist, entry))
            other, theirs = first
            if other.name == dist.name or is_generated(entry.path) or _same_content(theirs, entry):
                continue
            dists[id(other)], dists[id(dist)] = other, dist
            pairs[id(other), id(dist)].append((theirs, entry))
    return [SharedPaths(dists[a], dists[b], tuple(entries)) for (a, b), entries in pairs.items()]


def _same_content(left: RecordEntry, right: RecordEntry) -> bool:
    return bool(left.hash) and left.hash == right.hash


def winner_of(shared: SharedPaths) -> InstalledDist | None:
    """Say whose content lies at the shared paths (a few are hashed), or None when neither's does."""
    firsts, seconds = 0, 0
    looked: Sequence[tuple[RecordEntry, RecordEntry]] = shared.entries[:_MOST_HASHED]
    for mine, theirs in looked:
        try:
            digest = sha256_file(file_of(shared.first, mine))
        except OSError:
            return None
        firsts += digest == hex_digest(mine.hash)
        seconds += digest == hex_digest(theirs.hash)
    if firsts == len(looked):
        return shared.first
    return shared.second if seconds == len(looked) else None
