"""What a plain install of the serving package would download: nothing overridden, nothing left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from packaging.utils import canonicalize_name

from accel_install.errors import AccelError
from accel_install.facts.target import Target
from accel_install.recipe.models import Recipe, Row
from accel_install.resolve.bound import version_specifier
from accel_install.resolve.closure import ClosureRequest, ClosureSolver
from accel_install.resolve.select import select

__all__ = ["PlainInstall", "plain_install", "plain_requirement"]


@dataclass(frozen=True)
class PlainInstall:
    """Bytes of a plain install, by name and in sum; empty, with a `warning`, when there is no such install."""

    total_bytes: int | None = None
    sizes: Mapping[str, int | None] = field(default_factory=dict)
    warning: str | None = None


def plain_requirement(recipe: Recipe, row: Row) -> str | None:
    """Return what a person would type: the serving package of the row, else what orders the rows."""
    serving = [canonicalize_name(n) for n, spec in recipe.packages.items() if spec.role == "serving"]
    for name in [*serving, *([recipe.serving] if recipe.serving else [])]:
        version = row.version_of(name)
        if version is not None:
            return f"{name}{version_specifier(version)}"
    return None


def plain_install(recipe: Recipe, row: Row, target: Target, solver: ClosureSolver, default_index: str | None) -> PlainInstall:
    """Solve the plain install for the target and add up the files that fit it best."""
    requirement = plain_requirement(recipe, row)
    if requirement is None:
        return PlainInstall(warning="the recipe has no serving package to compare with")
    try:
        answer = solver.solve(ClosureRequest((requirement,), target, default_index))
    except AccelError as error:
        why = f"{error.message} ({error.value})" if error.value else error.message
        return PlainInstall(warning=f"a plain install of {requirement} cannot be computed: {why}")
    sizes: dict[str, int | None] = {}
    for package in answer.packages:
        picked = select(package.files, package.name, f"=={package.version}", target, index="default", local=None)
        sizes[package.name] = picked.chosen.size_bytes if picked.chosen is not None else None
    return PlainInstall(sum(size or 0 for size in sizes.values()), sizes)
