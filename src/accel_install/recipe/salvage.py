"""What can still be judged of a recipe whose shape is wrong, so that all problems of a file come at once. Pure.

The broken places are filled with stand-ins, the rest is checked, and what follows from a stand-in alone is not reported.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from pydantic import ValidationError

from accel_install.recipe.check import Found, check
from accel_install.recipe.models import Recipe

__all__ = ["check_the_rest"]

KeyPath = tuple[str | int, ...]

_PASSES = 4
_TABLES = ("packages", "indexes")
_STAND_INS: dict[str, Any] = {
    "requirements": [],
    "packages": {},
    "steps": [],
    "components": {},
    "members": [],
    "models": [],
    "provider": None,
    "role": "runtime",
    "status": "unverified",
    "schema": 1,
}


def check_the_rest(value: dict[str, Any], broken: Iterable[KeyPath]) -> list[Found]:
    """Return the problems of the parts that have a sound shape.

    Args:
        value: the recipe as loaded, not valid.
        broken: the key paths that the shape check has complained of.
    """
    paths = list(broken)
    recipe = _salvaged(value)
    if recipe is None:
        return []
    return [(where, text) for where, text in check(recipe) if not _follows(where, paths)]


def _salvaged(value: dict[str, Any]) -> Recipe | None:
    filled = copy.deepcopy(value)
    for _ in range(_PASSES):
        try:
            return Recipe.model_validate(filled)
        except ValidationError as error:
            for item in error.errors(include_url=False, include_context=False, include_input=False):
                _fill(filled, item["loc"], item["type"])
    return None


def _fill(value: Any, loc: KeyPath, kind: str) -> None:
    """Put a stand-in at the deepest place that exists on the way to `loc`; drop what may be absent."""
    parent, key, depth = value, loc[0], 0
    for part in loc[1:]:
        below = _item(parent, key)
        if not isinstance(below, dict | list) or (_item(below, part) is None and kind != "missing"):
            break
        parent, key, depth = below, part, depth + 1
    if isinstance(parent, list):
        if isinstance(key, int) and key < len(parent):
            parent[key] = {} if loc[0] in ("steps", "rows") and depth == 1 else "stand-in"
    elif kind == "missing" or key in ("serving", "id"):
        parent[key] = copy.deepcopy(_STAND_INS.get(str(key), "stand-in"))
    elif depth == 1 and loc[0] in _TABLES:
        parent[key] = {}
    else:
        parent.pop(key, None)


def _item(parent: Any, key: str | int) -> Any:
    if isinstance(parent, dict):
        return parent.get(key)
    if isinstance(parent, list) and isinstance(key, int) and key < len(parent):
        return parent[key]
    return None


def _follows(where: KeyPath, broken: list[KeyPath]) -> bool:
    """Say whether a problem only follows from a broken place: it lies there, or refers to a table that is broken."""
    if any(where[: len(path)] == path or path[: len(where)] == where for path in broken):
        return True
    match where:
        case ("steps", _, "needs", *_):
            return any(path[0] == "steps" and (len(path) < 3 or path[2] in ("id", "needs")) for path in broken)
        case ("steps", _, "packages", *_):
            return ("packages",) in broken
        case ("packages", _, "index" | "version_index"):
            return ("indexes",) in broken
        case ("default_row",):
            return any(path[0] == "rows" for path in broken)
    return False
