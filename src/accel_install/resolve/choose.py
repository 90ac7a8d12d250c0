"""Which row of a recipe: the first in order that fits, or the one asked for and nothing else.

How one row is resolved lives in `resolve`, the order of rows and what can be judged without an index in `recipe.rows`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from packaging.version import InvalidVersion, Version

from accel_install.errors import RecipeError, ResolutionError
from accel_install.facts.target import Target
from accel_install.recipe.models import Recipe, Row
from accel_install.recipe.rows import complete_row, load_rows, rows_for, static_misfit, warnings_for
from accel_install.resolve.bound import Pages
from accel_install.resolve.closure import CachedSolver, ClosureSolver
from accel_install.resolve.closure_uv import UvSolver
from accel_install.resolve.dead_indexes import DeadIndexes
from accel_install.resolve.metadata import HttpReader
from accel_install.resolve.models import RejectedFile, Resolution, RowMisfit
from accel_install.resolve.resolve import IndexSource, resolve_row

__all__ = ["RowChoice", "choose_row"]

_DEAD_TTL_S = 60.0

Attempt = Callable[[Row], "Resolution | RowMisfit"]


@dataclass(frozen=True)
class RowChoice:
    """The row that was taken, its resolution, and what people should know about the choice."""

    row: Row
    resolution: Resolution
    warnings: tuple[str, ...] = ()


def choose_row(
    recipe: Recipe,
    target: Target,
    requested: str | None = None,
    *,
    client: IndexSource,
    http: HttpReader,
    cache_dir: Path,
    solver: ClosureSolver | None = None,
    compare: bool = False,
    offline: bool = False,
    refresh: bool = False,
    cache_ttl_s: float = 600,
    user_requirements: Sequence[str] = (),
) -> RowChoice:
    """Choose a row and resolve it.

    Args:
        recipe, target: what and for what.
        requested: the id of the only row that may be taken, None for the first in order that fits.
        client, http: for pages and metadata.
        cache_dir: the tool's cache folder; answers of the solver are kept there for `cache_ttl_s` seconds.
        solver: the closure's solver, None for uv.
        compare, offline, refresh, user_requirements: see `resolve_row`.

    Raises:
        RecipeError: there is no such row (`recipe.unknown-row`).
        ResolutionError: the requested row does not fit (`resolve.row-does-not-fit`, with rows that do), or none does
            (`resolve.no-row-fits`).
    """
    inner = solver or UvSolver(cache_dir, offline=offline, refresh=refresh)
    cached = CachedSolver(inner, cache_dir, ttl_s=cache_ttl_s, offline=offline, refresh=refresh)
    memory_s = 0.0 if refresh or offline else min(_DEAD_TTL_S, cache_ttl_s)
    pages = Pages(client, DeadIndexes(cache_dir / "unreachable", client.config.url_of, memory_s))

    def attempt(row: Row) -> Resolution | RowMisfit:
        return resolve_row(recipe, row, target, client, http, cached, cache_dir, compare, offline, user_requirements, pages)

    rows = rows_for(recipe)
    if requested is not None:
        return _take_requested(recipe, target, rows, _row_of(recipe, rows, requested), attempt)
    return _take_first(recipe, target, rows, attempt)


def _row_of(recipe: Recipe, rows: Sequence[Row], requested: str) -> Row:
    for row in rows:
        if row.id == requested:
            return row
    raise RecipeError(
        "recipe.unknown-row",
        f"recipe {recipe.name} has no such row",
        value=requested,
        expected=", ".join(r.id for r in rows),
        hint=f"accel-install recipes show {recipe.name}",
    )


def _take_first(recipe: Recipe, target: Target, rows: Sequence[Row], attempt: Attempt) -> RowChoice:
    passed: list[RowMisfit] = []
    for row, outcome in _tried(recipe, target, rows, attempt):
        if isinstance(outcome, Resolution):
            taken_by_id = {r.id for r in rows if r.status == "unverified"}
            notes = [f"row {m.row_id} was passed over: {m.detail}" for m in passed if m.row_id not in taken_by_id]
            return _choice(row, recipe, target, outcome, notes)
        passed.append(outcome)
    raise ResolutionError(
        "resolve.no-row-fits",
        f"no row of recipe {recipe.name} fits {describe(target)}",
        value="; ".join(f"{m.row_id}: {m.detail}" for m in passed) or "the recipe has no rows",
        expected="a row whose files and closure fit the target",
        hint=f"accel-install recipes show {recipe.name}",
        details={"rejected": _rejected([r for m in passed for r in m.rejected])},
    )


def _tried(recipe: Recipe, target: Target, rows: Sequence[Row], attempt: Attempt) -> Iterator[tuple[Row, Resolution | RowMisfit]]:
    for row in rows:
        static = static_misfit(row, recipe, target)
        yield row, attempt(row) if static is None else RowMisfit(row.id, static)


def _take_requested(recipe: Recipe, target: Target, rows: Sequence[Row], row: Row, attempt: Attempt) -> RowChoice:
    static = static_misfit(row, recipe, target, by_id=True)
    outcome = attempt(row) if static is None else RowMisfit(row.id, static)
    if isinstance(outcome, Resolution):
        return _choice(row, recipe, target, outcome, [])
    final, pre = _proposals(recipe, target, [r for r in rows if r.id != row.id], attempt)
    raise ResolutionError(
        "resolve.row-does-not-fit",
        f"row {row.id} does not fit {describe(target)}: {outcome.detail}",
        value=row.id,
        expected=_expected(final, pre),
        hint=" or ".join(f"--row {r.id}" for r in (final, pre) if r is not None) or None,
        details={
            "rejected": _rejected(outcome.rejected),
            "proposals": {"final": final.id if final else None, "prerelease": pre.id if pre else None},
        },
    )


def _expected(final: Row | None, pre: Row | None) -> str:
    if final is None and pre is None:
        return "another target: no row of this recipe fits"
    words = [
        f"the newest final row that fits, {final.id}" if final else "no final row fits",
        f"the newest pre-release row that fits, {pre.id}" if pre else "no pre-release row fits",
    ]
    return "; ".join(words)


def _proposals(recipe: Recipe, target: Target, rows: Sequence[Row], attempt: Attempt) -> tuple[Row | None, Row | None]:
    """Return the newest final and the newest pre-release row that fit, each found by really resolving it."""
    groups = [[r for r in rows if is_prerelease(r, recipe) is wanted] for wanted in (False, True)]
    with ThreadPoolExecutor(max_workers=len(groups)) as pool:
        final, pre = pool.map(lambda group: _first_fit(recipe, target, group, attempt), groups)
    return final, pre


def _first_fit(recipe: Recipe, target: Target, rows: Sequence[Row], attempt: Attempt) -> Row | None:
    for row, outcome in _tried(recipe, target, rows, attempt):
        if isinstance(outcome, Resolution):
            return row
    return None


def is_prerelease(row: Row, recipe: Recipe) -> bool:
    """Say whether a row's release of the package that orders the rows is a pre-release (PEP 440)."""
    version = row.version_of(recipe.serving) if recipe.serving else None
    try:
        return version is not None and Version(version).is_prerelease
    except InvalidVersion:
        return False


def _choice(row: Row, recipe: Recipe, target: Target, resolution: Resolution, notes: Sequence[str]) -> RowChoice:
    full = complete_row(row, load_rows(recipe.platform))
    return RowChoice(full, resolution, (*notes, *warnings_for(row, target)))


def describe(target: Target) -> str:
    """Return the target in words for messages."""
    return f"{target.arch}, Python {target.python_label}, {target.libc} {target.libc_version}"


def _rejected(files: Sequence[RejectedFile]) -> list[dict[str, str]]:
    return [{"name": f.name, "filename": f.filename, "reason": f.reason, "detail": f.detail} for f in files]
