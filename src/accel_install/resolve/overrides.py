"""Requirements that lose against the row, forecast from the metadata of every chosen wheel. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from accel_install.facts.target import Target
from accel_install.resolve.models import PredictedOverride
from accel_install.resolve.requirements import Dist, Wish, accepts, extras_asked, is_exact, wishes

__all__ = ["predict_overrides"]

ANY_VERSION = "any version"


def predict_overrides(
    dists: Mapping[str, Dist],
    pins: Mapping[str, str],
    left_out: Collection[str],
    target: Target,
    *,
    roots: Sequence[str] = (),
    trusted: Sequence[str] = (),
    row_id: str = "",
) -> tuple[PredictedOverride, ...]:
    """Return every requirement that holds for the target and loses.

    Args:
        dists: all chosen distributions with their Requires-Dist lines, by canonical name.
        pins: versions fixed by the row or by an override, by name (also of what could not be had).
        left_out: names that are left out on purpose.
        target: what markers are evaluated for.
        roots: requirements of recipe and user, for the extras they ask for.
        trusted: distributions in the order in which their exact pins are named as the source of a pin.
        row_id: the row, named as the source when no distribution pins exactly.
    """
    environment = target.markers()
    names = frozenset(pins) | frozenset(left_out)
    found = list(wishes(dists, names, extras_asked(dists, roots, environment), environment))
    losers = [w for w in found if w.name in left_out or not accepts(w.specifier, pins[w.name])]
    sources = {name: _source(name, pins[name], found, trusted, row_id) for name in pins}
    overrides = [
        PredictedOverride(
            package=wish.name,
            pinned=None if wish.name in left_out else pins[wish.name],
            wanted=wish.specifier or ANY_VERSION,
            by=_label(wish.by),
            pinned_by=None if wish.name in left_out else sources[wish.name],
        )
        for wish in losers
    ]
    return tuple(sorted(dict.fromkeys(overrides), key=lambda o: (o.pinned is None, o.package, o.by, o.wanted)))


def _label(dist: Dist) -> str:
    return f"{dist.name} {dist.version}"


def _source(name: str, pinned: str, found: Sequence[Wish], trusted: Sequence[str], row_id: str) -> str:
    """Return who pins a name exactly to the pinned version: the most trusted distribution, else the row."""
    exact = [w.by for w in found if w.name == name and is_exact(w.specifier) and accepts(w.specifier, pinned)]
    rank = {dist: number for number, dist in enumerate(trusted)}
    best = min(exact, key=lambda d: (rank.get(d.name, len(rank)), d.name), default=None)
    return _label(best) if best is not None else f"row {row_id}"
