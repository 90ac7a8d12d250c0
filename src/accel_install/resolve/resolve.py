"""One row for one target: the bound set from the row, the closure around it, and what both override.

The order of rows and the choice among them live in `choose`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from packaging.utils import canonicalize_name

from accel_install.errors import AccelError, IndexUnavailableError, ResolutionError
from accel_install.facts.target import Target
from accel_install.recipe.models import Recipe, Row
from accel_install.recipe.rows import complete_row, load_rows
from accel_install.resolve.bound import BoundOutcome, BoundPackage, Pages, PageSource, bound_packages
from accel_install.resolve.closure import (
    ClosureAnswer,
    ClosurePackage,
    ClosureRequest,
    ClosureSolver,
)
from accel_install.resolve.closure_loop import (
    SolvedClosure,
    active_overrides,
    compose,
    reasons_for,
    solve_closure,
)
from accel_install.resolve.compare import PlainInstall, plain_install
from accel_install.resolve.forecast import Forecast, forecast
from accel_install.resolve.metadata import HttpReader, WheelMetadata, read_many
from accel_install.resolve.models import ChosenWheel, Resolution, RowMisfit, UnresolvedPackage
from accel_install.resolve.requirements import accepts, parse_line
from accel_install.resolve.row_gaps import Finder, fill_gaps
from accel_install.resolve.select import select

__all__ = ["CLOSURE_NAME", "IndexSource", "resolve_row"]

CLOSURE_NAME = "closure"


class Addresses(Protocol):
    """What is needed of `indexes.IndexConfig`."""

    def url_of(self, name: str) -> str | None:
        """Return the address of an index."""


class IndexSource(PageSource, Protocol):
    """What is needed of `client.IndexClient`."""

    @property
    def config(self) -> Addresses:
        """The addresses of the indexes."""

    @property
    def snapshot(self) -> Mapping[str, str]:
        """Digests of the listings that were read."""


@dataclass(frozen=True)
class _Question:
    recipe: Recipe
    row: Row
    target: Target
    default_index: str | None
    user_requirements: tuple[str, ...]

    def compose(self, outcomes: Sequence[BoundOutcome]) -> tuple[ClosureRequest, tuple[str, ...]]:
        return compose(self.recipe, self.row, self.target, outcomes, self.default_index, self.user_requirements)


def resolve_row(
    recipe: Recipe,
    row: Row,
    target: Target,
    client: IndexSource,
    http: HttpReader,
    solver: ClosureSolver,
    cache_dir: Path,
    compare: bool = False,
    offline: bool = False,
    user_requirements: Sequence[str] = (),
    pages: Pages | None = None,
) -> Resolution | RowMisfit:
    """Resolve a row.

    Args:
        recipe, row, target: what, in which versions, for what.
        client: the index client.
        http: reader for metadata.
        solver: for the ordinary closure.
        cache_dir: the tool's cache folder.
        compare: also compute what a plain install would download.
        offline: touch no network.
        user_requirements: PEP 508 lines that join the roots.
        pages: the client's pages, to share what was learnt about dead indexes between rows.

    Returns:
        The resolution (with `unresolved` for what is out of reach), or why the row does not fit.

    Raises:
        ResolutionError: a user requirement contradicts the row, or the solver itself failed.
    """
    row = complete_row(row, load_rows(recipe.platform))
    pages = pages or Pages(client)
    question = _Question(recipe, row, target, client.config.url_of("default"), tuple(user_requirements))
    packages = bound_packages(recipe, row, target)
    _check_user_requirements(question, packages)
    finder = Finder(target, pages, http, cache_dir, offline)
    found = finder.find(packages)
    outcomes = fill_gaps(recipe, found, finder)
    misfits = [o.misfit for o in outcomes if o.misfit is not None]
    if misfits:
        rejected = tuple(r for o in outcomes if o.misfit is not None for r in o.rejected)
        return RowMisfit(row.id, "; ".join(misfits), rejected)
    with ThreadPoolExecutor(max_workers=1) as pool:
        plain = pool.submit(_plain, question, solver) if compare else None
        answer = _closure(question, outcomes, solver, pages, offline)
        if isinstance(answer, RowMisfit):
            return answer
        return _finish(question, outcomes, answer, _Reader(http, cache_dir, offline), plain, dict(client.snapshot))


@dataclass(frozen=True)
class _Closure:
    """The closure's wheels and what was left out; `missing` when no answer could be had."""

    wheels: tuple[ChosenWheel, ...] = ()
    left_out: Mapping[str, str] | None = None
    missing: UnresolvedPackage | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Reader:
    http: HttpReader
    cache_dir: Path
    offline: bool

    def metadata(self, wheels: Sequence[ChosenWheel]) -> dict[str, WheelMetadata | AccelError]:
        return read_many([w.file() for w in wheels], self.http, self.cache_dir, offline=self.offline)


def _plain(question: _Question, solver: ClosureSolver) -> PlainInstall:
    return plain_install(question.recipe, question.row, question.target, solver, question.default_index)


def _closure(
    question: _Question, outcomes: Sequence[BoundOutcome], solver: ClosureSolver, pages: Pages, offline: bool
) -> _Closure | RowMisfit:
    request, notes = question.compose(outcomes)
    if not request.requirements and any(o.unresolved for o in outcomes):
        return _Closure(missing=_no_closure("none of its roots can be had", offline), warnings=notes)
    if pages.is_dead("default"):
        return _Closure(missing=_no_closure("the default index is out of reach", offline), warnings=notes)
    try:
        reasons = reasons_for(question.recipe, outcomes, question.target)
        solved = solve_closure(question.recipe, request, solver, reasons)
    except IndexUnavailableError as error:
        said = f"{error.message}: {error.value}" if error.value else error.message
        return _Closure(missing=_no_closure(said, offline), warnings=notes)
    except ResolutionError as error:
        if error.slug != "resolve.no-solution":
            raise
        return RowMisfit(question.row.id, f"its closure has no solution: {error.value or error.message}")
    picked = _pick(question, solved, outcomes)
    return picked if isinstance(picked, RowMisfit) else replace(picked, warnings=notes)


def _no_closure(said: str, offline: bool) -> UnresolvedPackage:
    reason = "offline" if offline else "index-unreachable"
    return UnresolvedPackage(CLOSURE_NAME, "", "default", reason, f"the ordinary closure could not be solved: {said}")


def _pick(question: _Question, solved: SolvedClosure, outcomes: Sequence[BoundOutcome]) -> _Closure | RowMisfit:
    """Pick the file of every solved package by our own selection, among the solver's files."""
    row_id = question.row.id
    bound = {o.package.name for o in outcomes if o.wheel is not None}
    stray = solved.answer.names() & {o.package.name for o in outcomes if o.wheel is None}
    if stray:
        return RowMisfit(row_id, f"the solver brought back what could not be had: {', '.join(sorted(stray))}")
    wheels = []
    for package in _ordinary(solved.answer, bound):
        picked = select(package.files, package.name, f"=={package.version}", question.target, index="default", local=None)
        if picked.chosen is None:
            said = picked.nearest or "no file fits the target"
            return RowMisfit(row_id, f"{package.name} {package.version}: {said}", picked.rejected)
        wheels.append(picked.chosen)
    return _Closure(tuple(wheels), solved.left_out)


def _ordinary(answer: ClosureAnswer, bound: set[str]) -> list[ClosurePackage]:
    return [p for p in answer.packages if p.name not in bound]


def _finish(
    question: _Question,
    outcomes: Sequence[BoundOutcome],
    closure: _Closure,
    reader: _Reader,
    plain: Future[PlainInstall] | None,
    snapshot: dict[str, str],
) -> Resolution:
    read = reader.metadata(closure.wheels)
    compared = plain.result() if plain is not None else None
    told: Forecast = forecast(
        question.recipe,
        question.row,
        question.target,
        outcomes,
        closure.wheels,
        read,
        left_out=closure.left_out,
        plain_sizes=compared.sizes if compared else None,
        user_requirements=question.user_requirements,
        pinned_names=_pinned_names(question),
    )
    bound = tuple(o.wheel for o in outcomes if o.wheel is not None)
    unresolved = tuple(o.unresolved for o in outcomes if o.unresolved is not None)
    return Resolution(
        row_id=question.row.id,
        wheels=tuple(sorted((*bound, *closure.wheels), key=lambda w: w.name)),
        rejected=tuple(r for o in outcomes for r in o.rejected),
        unresolved=(*unresolved, *((closure.missing,) if closure.missing else ())),
        predicted_overrides=told.overrides,
        left_out=told.left_out,
        warnings=tuple(dict.fromkeys([*closure.warnings, *told.warnings, *_compare_notes(compared)])),
        snapshot=snapshot,
        requires=told.requires,
        plain_install_bytes=compared.total_bytes if compared else None,
    )


def _compare_notes(compared: PlainInstall | None) -> list[str]:
    return [compared.warning] if compared is not None and compared.warning else []


def _pinned_names(question: _Question) -> frozenset[str]:
    parsed = (parse_line(o.requirement) for o in active_overrides(question.recipe, question.row))
    return frozenset(canonicalize_name(r.name) for r in parsed if r is not None)


def _check_user_requirements(question: _Question, packages: Sequence[BoundPackage]) -> None:
    """Refuse user requirements that contradict the row: an override would silence them without a word."""
    pins = {p.name: p.pinned for p in packages}
    environment = {**question.target.markers(), "extra": ""}
    against = []
    for line in question.user_requirements:
        wanted = parse_line(line)
        name = canonicalize_name(wanted.name) if wanted else ""
        if wanted is None or name not in pins or (wanted.marker and not wanted.marker.evaluate(environment)):
            continue
        if not accepts(str(wanted.specifier), pins[name]):
            against.append(f"{line} (the row pins {pins[name]})")
    if against:
        raise ResolutionError(
            "resolve.requirement-contradicts-row",
            f"the given requirements contradict row {question.row.id}",
            value="; ".join(against),
            expected="requirements that take the versions of the row",
            hint="--row ID takes another row",
        )
