"""Composing the closure's question from recipe, row and picks, and asking again until nothing foreign is left in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from accel_install.errors import ResolutionError
from accel_install.facts.target import Target
from accel_install.recipe.models import Constraint, Override, Recipe, Row
from accel_install.resolve.bound import BoundOutcome, version_specifier
from accel_install.resolve.closure import ClosureAnswer, ClosureRequest, ClosureSolver
from accel_install.resolve.left_out import exclusion_reasons, foreign_reason
from accel_install.resolve.requirements import Dist, Wish, accepts, extras_asked, wishes

__all__ = ["SolvedClosure", "active_overrides", "closure_roots", "compose", "reasons_for", "solve_closure"]

_MAX_ROUNDS = 8


@dataclass(frozen=True)
class SolvedClosure:
    """The answer, and every name that was left out of it on purpose, with its reason."""

    answer: ClosureAnswer
    left_out: Mapping[str, str]


def compose(
    recipe: Recipe,
    row: Row,
    target: Target,
    outcomes: Sequence[BoundOutcome],
    default_index: str | None,
    user_requirements: Sequence[str] = (),
) -> tuple[ClosureRequest, tuple[str, ...]]:
    """Return the solver's request, and warnings about constraints that had to yield."""
    chosen = [o for o in outcomes if o.wheel is not None and o.package.spec.role != "fork"]
    absent = {o.package.name for o in outcomes if o.wheel is None or o.package.spec.role == "fork"}
    roots = closure_roots(recipe, row, outcomes)
    bounds = [c for c in recipe.constraints if _holds(c, row)]
    constraints, notes = _constraints(bounds, chosen, target, roots)
    request = ClosureRequest(
        requirements=tuple(dict.fromkeys([*roots, *user_requirements])),
        target=target,
        default_index=default_index,
        direct=tuple((o.package.name, _direct_url(o)) for o in chosen),
        version_overrides=tuple(o.requirement for o in active_overrides(recipe, row)),
        constraints=constraints,
        excludes=tuple(sorted(absent | set(reasons_for(recipe, outcomes, target)))),
    )
    return request, notes


def reasons_for(recipe: Recipe, outcomes: Sequence[BoundOutcome], target: Target) -> dict[str, str]:
    """Return every name the solve must not bring, with reasons: the recipe's, and what another index alone may supply."""
    reasons = exclusion_reasons(recipe)
    named = {o.package.name for o in outcomes}
    for raw, spec in recipe.packages.items():
        name, index = canonicalize_name(raw), spec.index_for(target.arch)
        if name not in named and index != "default":
            reasons.setdefault(name, f"the row names no version, and only index `{index}` may supply it")
    return reasons


def closure_roots(recipe: Recipe, row: Row, outcomes: Sequence[BoundOutcome]) -> list[str]:
    """Return the roots: the recipe's requirements and every picked wheel but forks, which are laid over the rest last."""
    by_name = {o.package.name: o for o in outcomes}
    roots: dict[str, str] = {}
    for text in recipe.requirements:
        wanted = Requirement(text)
        name = canonicalize_name(wanted.name)
        outcome = by_name.get(name)
        version = outcome.package.version if outcome else row.version_of(name)
        if outcome is not None and (outcome.wheel is None or outcome.package.spec.role == "fork"):
            continue
        extras = f"[{','.join(sorted(wanted.extras))}]" if wanted.extras else ""
        fixed = version is not None and not wanted.specifier and wanted.url is None
        roots[name] = f"{name}{extras}{version_specifier(version or '')}" if fixed else text
    for outcome in outcomes:
        if outcome.wheel is not None and outcome.package.spec.role != "fork":
            roots.setdefault(outcome.package.name, f"{outcome.package.name}=={outcome.wheel.version}")
    return list(roots.values())


def active_overrides(recipe: Recipe, row: Row) -> list[Override]:
    """Return the overrides of the recipe that hold for a row."""
    return [o for o in recipe.overrides if _holds(o, row)]


def _holds(rule: Override | Constraint, row: Row) -> bool:
    if rule.when_package is None:
        return True
    version = row.version_of(rule.when_package)
    return version is not None and (rule.when_version is None or accepts(rule.when_version, version))


def _direct_url(outcome: BoundOutcome) -> str:
    assert outcome.wheel is not None  # noqa: S101 - the caller filtered
    url = outcome.wheel.url.split("#", 1)[0]
    return f"{url}#sha256={outcome.wheel.sha256}" if outcome.wheel.sha256 else url


def _constraints(
    bounds: Sequence[Constraint], chosen: Sequence[BoundOutcome], target: Target, roots: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Keep the recipe's bounds, but those on picked packages and those that an exact pin of a picked wheel contradicts."""
    fixed = {o.package.name for o in chosen}
    wanted = _wishes_of_chosen(chosen, target, roots, frozenset(map(_name, bounds)))
    kept, notes = [], []
    for constraint in bounds:
        against = next((w for w in wanted if w.name == _name(constraint) and _contradicts(constraint, w)), None)
        if _name(constraint) in fixed:
            continue
        if against is None:
            kept.append(constraint.requirement)
        else:
            by = f"{against.by.name} {against.by.version}"
            notes.append(f"bound {constraint.requirement} is not applied: {by} wants {against.name} {against.specifier}")
    return tuple(kept), tuple(notes)


def _wishes_of_chosen(chosen: Sequence[BoundOutcome], target: Target, roots: Sequence[str], names: frozenset[str]) -> list[Wish]:
    dists = {
        o.package.name: Dist(o.package.name, o.metadata.version, o.metadata.requires_dist)
        for o in chosen
        if o.metadata is not None
    }
    environment = target.markers()
    return list(wishes(dists, names, extras_asked(dists, roots, environment), environment))


def _name(constraint: Constraint) -> str:
    return canonicalize_name(Requirement(constraint.requirement).name)


def _contradicts(constraint: Constraint, wish: Wish) -> bool:
    """Say whether one of the two is an exact version that the other does not take."""
    own = str(Requirement(constraint.requirement).specifier)
    pairs = ((own, wish.specifier), (wish.specifier, own))
    return any(_exact(a) is not None and not accepts(b, _exact(a) or "") for a, b in pairs)


def _exact(specifier: str) -> str | None:
    single = specifier.startswith("==") and "," not in specifier and "*" not in specifier
    return specifier.lstrip("=") if single else None


def solve_closure(recipe: Recipe, request: ClosureRequest, solver: ClosureSolver, reasons: Mapping[str, str]) -> SolvedClosure:
    """Solve until the answer holds nothing foreign: names that match a pattern are excluded and it is solved again.

    Raises:
        ResolutionError: no solution, or no end after eight rounds. IndexUnavailableError: the index does not answer.
    """
    reasons = dict(reasons)
    fixed = {name for name, _ in request.direct}
    for _ in range(_MAX_ROUNDS):
        answer = solver.solve(request)
        found = _foreign(recipe, answer.names() - fixed)
        if not found:
            return SolvedClosure(answer, reasons)
        reasons.update(found)
        request = replace(request, excludes=tuple(sorted({*request.excludes, *found})))
    raise ResolutionError(
        "resolve.closure-unstable",
        f"foreign packages still appear after {_MAX_ROUNDS} rounds",
        value=", ".join(sorted(found)),
        hint="add them to `excluded` of the recipe",
    )


def _foreign(recipe: Recipe, names: Iterable[str]) -> dict[str, str]:
    found = {name: foreign_reason(recipe, name) for name in names}
    return {name: reason for name, reason in found.items() if reason is not None}
