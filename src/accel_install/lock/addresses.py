"""Keeping addresses out of lockfiles: they are configuration, and they may carry credentials. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["plain_index", "without_addresses", "without_hosts"]

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>()\[\],;]*")
_HOST = re.compile(r"\b(?:[a-z0-9-]+\.)+(?:com|cn|org|net|io)\b(?::\d+)?(?:/[^\s\"'<>()\[\],;]*)?", re.IGNORECASE)
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_STAND_IN = "(address)"


def without_addresses(value: Any) -> Any:
    """Return a JSON-like value without addresses.

    Text that is one becomes None, within text it is left out.
    """
    if isinstance(value, str):
        return None if _ADDRESS.fullmatch(value.strip()) else _scrub(value)
    if isinstance(value, Mapping):
        return {k if isinstance(k, str) and "://" not in k else _scrub(str(k)): without_addresses(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_addresses(v) for v in value]
    return value


def without_hosts(text: str | None) -> str | None:
    """Return text for people without addresses and without host names; None when nothing else is left."""
    if text is None:
        return None
    kept = _HOST.sub(_STAND_IN, _scrub(text))
    return kept if kept.replace(_STAND_IN, "").strip() else None


def _scrub(text: str) -> str:
    return _ADDRESS.sub(_STAND_IN, text).replace("://", ":")


def plain_index(name: str) -> str:
    """Return the name of an index; one that is an address or a path was given as a flat page.

    `find-links`.
    """
    return name if _PLAIN_NAME.fullmatch(name) else "find-links"
