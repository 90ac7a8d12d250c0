"""What the chosen set overrides and leaves out, and what is unknown of it, from metadata that was read. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accel_install.errors import AccelError
from accel_install.facts.target import Target
from accel_install.recipe.models import Recipe, Row
from accel_install.resolve.bound import BoundOutcome
from accel_install.resolve.left_out import exclusion_reasons, list_left_out
from accel_install.resolve.metadata import WheelMetadata
from accel_install.resolve.models import ChosenWheel, LeftOut, PredictedOverride
from accel_install.resolve.overrides import predict_overrides
from accel_install.resolve.requirements import Dist

__all__ = ["Forecast", "forecast"]

# Whose exact pins are named as the source of a pin: who sits highest knows the others best.
_TRUST = ("plugin", "torch-plugin", "serving", "runtime", "torch-family", "fork")


@dataclass(frozen=True)
class Forecast:
    """Overrides, what is left out, warnings, and Requires-Dist lines by name."""

    overrides: tuple[PredictedOverride, ...]
    left_out: tuple[LeftOut, ...]
    warnings: tuple[str, ...]
    requires: dict[str, tuple[str, ...]]


def forecast(
    recipe: Recipe,
    row: Row,
    target: Target,
    outcomes: Sequence[BoundOutcome],
    closure: Sequence[ChosenWheel],
    read: Mapping[str, WheelMetadata | AccelError],
    *,
    left_out: Mapping[str, str] | None,
    plain_sizes: Mapping[str, int | None] | None,
    user_requirements: Sequence[str] = (),
    pinned_names: frozenset[str] = frozenset(),
) -> Forecast:
    """Return the forecast.

    Args:
        recipe, row, target: as for the resolution.
        outcomes: the bound set, with metadata.
        closure: the wheels of the closure.
        read: their metadata, or why it could not be read, by file name.
        left_out: names left out of the solve, with reasons; None when nothing was solved.
        plain_sizes: bytes by name of a plain install, None when it was not computed.
        user_requirements: for the extras they ask for.
        pinned_names: ordinary names whose version the recipe overrides.
    """
    dists, warnings = _dists(outcomes, closure, read)
    reasons = dict(left_out) if left_out is not None else exclusion_reasons(recipe)
    pins = {o.package.name: o.wheel.version if o.wheel else o.package.pinned for o in outcomes}
    pins.update({w.name: w.version for w in closure if w.name in pinned_names})
    overrides = predict_overrides(
        dists,
        pins,
        frozenset(reasons) - frozenset(pins),
        target,
        roots=[*recipe.requirements, *user_requirements],
        trusted=_trusted(outcomes),
        row_id=row.id,
    )
    present = frozenset(pins) | {w.name for w in closure}
    listed = list_left_out(recipe, reasons, overrides, plain_sizes, present)
    unknown = [
        f"requirements of {o.package.name} {o.package.pinned} are unknown, as it could not be had"
        for o in outcomes
        if o.wheel is None
    ]
    bound_notes = [note for o in outcomes for note in o.warnings]
    requires = {name: dist.requires for name, dist in dists.items()}
    return Forecast(overrides, listed, (*bound_notes, *warnings, *unknown), requires)


def _dists(
    outcomes: Sequence[BoundOutcome],
    closure: Sequence[ChosenWheel],
    read: Mapping[str, WheelMetadata | AccelError],
) -> tuple[dict[str, Dist], list[str]]:
    dists = {
        o.wheel.name: Dist(o.wheel.name, o.wheel.version, o.metadata.requires_dist)
        for o in outcomes
        if o.wheel is not None and o.metadata is not None
    }
    warnings = []
    for wheel in closure:
        found = read.get(wheel.filename)
        if isinstance(found, WheelMetadata):
            dists[wheel.name] = Dist(wheel.name, wheel.version, found.requires_dist)
        else:
            why = found.message if found is not None else "not read"
            warnings.append(f"requirements of {wheel.name} {wheel.version} are unknown: {why}")
    return dists, warnings


def _trusted(outcomes: Sequence[BoundOutcome]) -> list[str]:
    rank = {role: number for number, role in enumerate(_TRUST)}
    return [o.package.name for o in sorted(outcomes, key=lambda o: (rank[o.package.spec.role], o.package.name))]
