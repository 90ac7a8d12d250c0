"""What is wrong with a machine file, in words, and what it leaves open. Pure; reading and lines are next door."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any

from accel_install.facts.chips import family_of, vendor_of
from accel_install.facts.models import (
    AcceleratorFacts,
    FilesystemFacts,
    LayerFacts,
    LayersFacts,
    MachineFacts,
    OsFacts,
    PythonFacts,
)

__all__ = ["Path", "Problem", "completed", "facts_problems", "field_problem"]

Path = tuple[int | str, ...]
Problem = tuple[Path, str]
"""Where in the file, and what is wrong there."""

_NOT_STATED = "not stated in the machine file"
_TYPES = {
    "string_type": "should be text",
    "int_parsing": "should be a whole number",
    "int_type": "should be a whole number",
    "int_from_float": "should be a whole number",
    "bool_parsing": "should be true or false",
    "bool_type": "should be true or false",
    "dict_type": "should be a mapping of keys",
    "list_type": "should be a list",
    "model_type": "should be a mapping of keys",
    "model_attributes_type": "should be a mapping of keys",
}
_MODELS = {
    "os": OsFacts,
    "python": PythonFacts,
    "layers": LayersFacts,
    "accelerators": AcceleratorFacts,
    "filesystems": FilesystemFacts,
}
_TOP = ("os", "arch", "kernel", "memory_bytes", "filesystems", "container", "python", "accelerators", "environment")
_LAYERS = tuple(LayersFacts.model_fields)
_LIBC = re.compile(r"\d+\.\d+")
_PYTHON = re.compile(r"3\.\d+(\.\d+)?\w*")


def field_problem(item: Mapping[str, Any]) -> Problem:
    """Turn one pydantic error into words: the key, what it is, what it should be."""
    loc: Path = tuple(item["loc"])
    name = ".".join(str(part) for part in loc)
    if item["type"] == "extra_forbidden":
        close = difflib.get_close_matches(str(loc[-1]), _keys_at(loc[:-1]), n=1)
        return loc, f"unknown key `{name}`" + (f", did you mean `{close[0]}`?" if close else "")
    if item["type"] == "missing":
        return loc, f"`{name}` is missing"
    wanted = _TYPES.get(item["type"])
    if wanted is None:
        return loc, f"`{name}`: {item['msg']}"
    return loc, f"`{name}` {wanted}, is {_kind(item.get('input'))}"


def facts_problems(facts: MachineFacts) -> list[Problem]:
    """Return values that have the right type but cannot be what they claim."""
    checks: list[tuple[Path, str | None, re.Pattern[str], str]] = [
        (("glibc",), facts.glibc, _LIBC, "2.34"),
        (("musl",), facts.musl, _LIBC, "1.2"),
        (("python", "version"), facts.python.version, _PYTHON, "3.11.7"),
    ]
    found: list[Problem] = [
        (path, f"`{'.'.join(map(str, path))}` should look like {example}, is `{value}`")
        for path, value, pattern, example in checks
        if value is not None and not pattern.fullmatch(value)
    ]
    if facts.glibc is not None and facts.musl is not None:
        found.append((("musl",), "`glibc` and `musl` exclude each other"))
    return found


def completed(facts: MachineFacts, given: Mapping[Any, Any]) -> MachineFacts:
    """Fill in what follows from a model's name, and list what the file does not state as unknown.

    An explicit null or empty list counts as stated: known to be absent.
    """
    cards = [_with_family(card) for card in facts.accelerators]
    unknown = dict(facts.unknown)
    for field in _missing(given, cards):
        parents = (field.rsplit(".", n)[0] for n in range(field.count(".") + 1))
        if not any(name in unknown for name in parents):
            unknown[field] = _NOT_STATED
    return facts.model_copy(update={"accelerators": cards, "unknown": unknown})


def _missing(given: Mapping[Any, Any], cards: list[AcceleratorFacts]) -> list[str]:
    names = [name for name in _TOP if given.get(name) is None]
    if given.get("glibc") is None and given.get("musl") is None:
        names.append("glibc")
    names += [f"layers.{name}" for name in _LAYERS if name not in _mapping(given.get("layers"))]
    names += [f"os.{name}" for name in OsFacts.model_fields if name not in _mapping(given.get("os"))]
    names += [f"python.{name}" for name in PythonFacts.model_fields if name not in _mapping(given.get("python"))]
    for name, layer in _mapping(given.get("layers")).items():
        if isinstance(layer, Mapping) and layer.get("version") is None:
            names.append(f"layers.{name}.version")
    for place, (stated, card) in enumerate(zip(given.get("accelerators") or [], cards, strict=True)):
        fields = (f for f in AcceleratorFacts.model_fields if f not in stated and getattr(card, f) is None)
        names += [f"accelerators.{place}.{field}" for field in fields]
    return names


def _with_family(card: AcceleratorFacts) -> AcceleratorFacts:
    family = card.family or family_of(card.model or "")
    vendor = card.vendor or (vendor_of(family) if family else None)
    return card.model_copy(update={"family": family, "vendor": vendor})


def _keys_at(path: Path) -> list[str]:
    model: Any = MachineFacts
    if path:
        model = LayerFacts if path[0] == "layers" and len(path) > 1 else _MODELS.get(str(path[0]))
    return list(model.model_fields) if model is not None else []


def _mapping(value: Any) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else {}


def _kind(value: Any) -> str:
    names = {dict: "a mapping", list: "a list", bool: str(value).lower(), type(None): "empty"}
    return names.get(type(value), f"`{value}`")
