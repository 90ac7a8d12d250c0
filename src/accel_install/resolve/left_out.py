"""What a plain install would bring and a plan does not: each name once, reason and wishers named. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from packaging.utils import canonicalize_name

from accel_install.recipe.models import Recipe
from accel_install.resolve.models import LeftOut, PredictedOverride

__all__ = ["exclusion_reasons", "foreign_reason", "list_left_out"]

_DEPENDENT_REASON = "only needed by what is left out or replaced"


def exclusion_reasons(recipe: Recipe) -> dict[str, str]:
    """Return the names a recipe leaves out on purpose, with reasons: exclusions and rivals of families."""
    reasons: dict[str, str] = {}
    for family in recipe.exclusive:
        provider = canonicalize_name(family.provider) if family.provider else None
        for member in map(canonicalize_name, family.members):
            if member != provider:
                reasons[member] = family.reason
    reasons.update({canonicalize_name(x.name): x.reason for x in recipe.excluded})
    return reasons


def foreign_reason(recipe: Recipe, name: str) -> str | None:
    """Return why a name's payload is foreign to the platform, None when it is not."""
    return next((p.reason for p in recipe.foreign if fnmatchcase(name, p.pattern)), None)


def list_left_out(
    recipe: Recipe,
    reasons: Mapping[str, str],
    overrides: Sequence[PredictedOverride],
    plain_sizes: Mapping[str, int | None] | None = None,
    present: frozenset[str] = frozenset(),
) -> tuple[LeftOut, ...]:
    """List what is left out.

    Args:
        recipe: for foreign patterns and for exclusions that are always named (rivals of an exclusive family).
        reasons: names left out of the solve, with reasons.
        overrides: the forecast; those with `pinned` None say who wanted a name.
        plain_sizes: name -> bytes of a plain install's answer, None when it was not computed.
        present: names that the plan installs, or would install if it could.
    """
    wanted: dict[str, list[str]] = {}
    for override in overrides:
        if override.pinned is None:
            wanted.setdefault(override.package, []).append(override.by)
    plain = dict(plain_sizes or {})
    always = {canonicalize_name(m) for f in recipe.exclusive for m in f.members}
    always &= {canonicalize_name(x.name) for x in recipe.excluded}
    names = (set(reasons) & (set(wanted) | set(plain) | always)) | (set(plain) - set(reasons))
    return tuple(
        LeftOut(
            name,
            _reason(recipe, name, reasons, wanted.get(name, [])),
            plain.get(name),
        )
        for name in sorted(names - present)
    )


def _reason(recipe: Recipe, name: str, reasons: Mapping[str, str], wanted_by: Sequence[str]) -> str:
    reason = reasons.get(name) or foreign_reason(recipe, name) or _DEPENDENT_REASON
    return f"{reason} (wanted by {', '.join(wanted_by)})" if wanted_by else reason
