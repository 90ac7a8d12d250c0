"""Canonical JSON and sha256 digests.

Everything that is compared between runs (recipe, facts, index snapshot, lock) is compared by the digest of its canonical
JSON: sorted keys, no insignificant white space, UTF-8, so the same value gives the same bytes on every machine.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

__all__ = ["canonical_json", "digest_of", "file_digest", "sha256_bytes", "sha256_file"]

_CHUNK_BYTES = 1 << 20


def canonical_json(value: Any) -> bytes:
    """Return the canonical UTF-8 JSON bytes of a JSON-compatible value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")


def digest_of(value: Any) -> str:
    """Return `sha256:<hex>` of the canonical JSON of a JSON-compatible value."""
    return f"sha256:{sha256_bytes(canonical_json(value))}"


def sha256_bytes(data: bytes) -> str:
    """Return the lower-case hex sha256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """Return the lower-case hex sha256 of a file, read in chunks.

    Raises:
        OSError: the file cannot be read.
    """
    return file_digest(path, "sha256")


def file_digest(path: Path, algorithm: str) -> str:
    """Return the lower-case hex digest of a file by an algorithm that hashlib knows under this name."""
    state = hashlib.new(algorithm, usedforsecurity=False)
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            state.update(chunk)
    return state.hexdigest()
