"""Canonical TOML text of JSON-like values: one spelling per value, so equal documents are equal bytes.

Our own rather than a library's, because the bytes are a promise: a library may change its layout in a
release. Keys keep their order; None has no spelling in TOML and is dropped by `without_none` before.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["toml_document", "without_none"]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LONG = 100


def without_none(value: Any) -> Any:
    """Return a JSON-like value without None, in mappings and in lists, at any depth.

    Empty mappings and lists stay.
    """
    if isinstance(value, Mapping):
        return {str(k): without_none(v) for k, v in value.items() if v is not None}
    if isinstance(value, (list, tuple)):
        return [without_none(v) for v in value if v is not None]
    return value


def toml_document(document: Mapping[str, Any]) -> str:
    """Return the TOML text of a document.

    Plain values first, then tables and arrays of tables in the given order.

    Raises:
        TypeError: a value is neither text, number, truth, list nor mapping.
        ValueError: a number is not finite.
    """
    plain = [f"{_key(k)} = {_value(v)}" for k, v in document.items() if not _is_table(v) and not _is_tables(v)]
    blocks = ["\n".join(plain)] if plain else []
    for key, value in document.items():
        if _is_table(value):
            blocks.append(_table(f"[{_key(key)}]", value))
        elif _is_tables(value):
            blocks.extend(_table(f"[[{_key(key)}]]", item) for item in value)
    return "\n\n".join(blocks) + "\n"


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_tables(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(v, Mapping) for v in value)


def _table(header: str, table: Mapping[str, Any]) -> str:
    return "\n".join([header, *(f"{_key(k)} = {_value(v)}" for k, v in table.items())])


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _text(key)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return _array([_value(v) for v in value])
    raise TypeError(f"no TOML spelling for {type(value).__name__}")


def _array(items: Sequence[str]) -> str:
    line = "[" + ", ".join(items) + "]"
    if len(line) <= _LONG or len(items) < 2 or any("\n" in i for i in items):
        return line
    return "[\n" + "".join(f"  {item},\n" for item in items) + "]"


def _float(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError("a lockfile holds finite numbers only")
    text = repr(value)
    return text if any(c in text for c in ".e") else f"{text}.0"


def _text(value: str) -> str:
    """Spell a basic string; JSON's escapes are TOML's, except that TOML also wants DEL escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
