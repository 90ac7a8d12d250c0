"""Canonical bytes of a lock: same value, same bytes, whatever machine, folder, locale or umask.

Writes nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accel_install.digests import digest_of
from accel_install.lock.model import LockFile
from accel_install.lock.toml_text import toml_document, without_none

__all__ = ["body_digest", "lock_bytes", "lock_digest"]

_HEADER = "# Lockfile of one machine, written by accel-install; change it with `accel-install lock`.\n\n"
_OUTSIDE_DIGEST = frozenset({"digest", "run"})
_LIST_KEYS: Mapping[str, tuple[str, ...]] = {
    "wheels": ("name", "filename"),
    "unresolved": ("name",),
    "overrides": ("package", "by"),
    "expected_conflicts": ("package", "requires"),
    "exclusive": ("module",),
    "left_out": ("name",),
}


def lock_bytes(lock: LockFile) -> bytes:
    """Return the canonical TOML bytes.

    Fixed key order, lists by name, the `run` table last, the digest filled in.
    """
    document = _document(lock)
    document["digest"] = body_digest(document)
    return (_HEADER + toml_document(document)).encode("utf-8")


def lock_digest(lock: LockFile) -> str:
    """Return `sha256:<hex>` of everything but `run`."""
    return body_digest(_document(lock))


def body_digest(document: Mapping[str, Any]) -> str:
    """Return the digest of a parsed lock document, leaving out `run` and the digest itself.

    Raises:
        TypeError: the document holds a value that JSON has no spelling for (TOML dates).
    """
    return digest_of({k: v for k, v in document.items() if k not in _OUTSIDE_DIGEST})


def _document(lock: LockFile) -> dict[str, Any]:
    document: dict[str, Any] = without_none(lock.model_dump(mode="json"))
    for field, keys in _LIST_KEYS.items():
        document[field].sort(key=lambda item, keys=keys: tuple(str(item.get(k)) for k in keys))
    for field in ("target", "run", "environment", "exclusive"):
        if field in document:  # free-form values come in the order of whoever made them
            document[field] = _by_key(document[field])
    for step in document["steps"]:
        step["params"] = _by_key(step["params"])
    return document


def _by_key(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _by_key(value[k]) for k in sorted(value)}
    return [_by_key(v) for v in value] if isinstance(value, list) else value
