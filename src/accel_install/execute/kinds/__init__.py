"""One file per step kind. Kinds are found by looking into this folder; nothing is registered by hand."""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache

from accel_install.errors import RecipeError
from accel_install.execute.kinds.base import StepKind

__all__ = ["kind_of", "known_kinds"]


@lru_cache(maxsize=1)
def known_kinds() -> dict[str, StepKind]:
    """Return every kind by name: each module here, except `base`, offers one as `KIND`."""
    found: dict[str, StepKind] = {}
    for info in pkgutil.iter_modules(__path__):
        module = importlib.import_module(f"{__name__}.{info.name}")
        kind = getattr(module, "KIND", None)
        if kind is not None:
            found[kind.name] = kind
    return found


def kind_of(name: str) -> StepKind:
    """Return a kind.

    Raises:
        RecipeError: a recipe names a kind that does not exist.
    """
    kinds = known_kinds()
    if name not in kinds:
        raise RecipeError("recipe.unknown-kind", f"there is no step kind `{name}`", value=name, expected=", ".join(sorted(kinds)))
    return kinds[name]
