"""Which index the shipped recipes take a project from: what a refusal can name where nobody asked that index."""

from __future__ import annotations

from functools import lru_cache

from packaging.utils import canonicalize_name

from accel_install.errors import AccelError
from accel_install.recipe.load import list_recipes, load_recipe

__all__ = ["known_place"]


def known_place(project: str) -> tuple[str, str] | None:
    """Return (index name, its address) that a shipped recipe takes a project from, None when no vendor's index is named."""
    return _places().get(canonicalize_name(project))


@lru_cache(maxsize=1)
def _places() -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for info in list_recipes():
        try:
            recipe = load_recipe(str(info.path)).recipe
        except AccelError:
            continue  # a damaged recipe is `recipes check`'s business
        for name, spec in recipe.packages.items():
            named = [spec.index] if isinstance(spec.index, str) else list(spec.index.values())
            for index in named:
                address = recipe.indexes[index].url if index in recipe.indexes else None
                if address is not None:
                    found.setdefault(str(canonicalize_name(name)), (index, address))
    return found
