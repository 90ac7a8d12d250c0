"""Who moved a package: proven by the metadata line that explains the change, else said to be unknown. Pure.

A distribution that was there all along explains nothing, whatever it requires: only one that came with the
change, or after the last good check, can have made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone

from packaging.markers import UndefinedComparison, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from accel_install.verify.environment import InstalledDist
from accel_install.verify.versions import satisfies

__all__ = [
    "Context",
    "culprit_of_move",
    "installed_at",
    "parsed_requires",
    "requirers",
    "stamp",
    "unknown_culprit",
]

_SAME_RUN_S = 2.0


@dataclass(frozen=True)
class Context:
    """What is known around a check.

    Attributes:
        step: what just ran (`step vllm`), when the check follows a step of our own.
        last_good: time of the last check that found all well, seconds since the epoch, if known.
        now: time of this check.
        markers: marker environment of the target's interpreter; None applies every requirement line.
        step_of: the step that installs each pinned name.
        victims: pinned names that are not as pinned; such a one is rather a consequence than a cause.
    """

    step: str | None = None
    last_good: float | None = None
    now: float | None = None
    markers: Mapping[str, str] | None = None
    step_of: Mapping[str, str] = field(default_factory=dict)
    victims: frozenset[str] = frozenset()


def stamp(seconds: float) -> str:
    """Return a time as UTC text, to the second."""
    return datetime.fromtimestamp(seconds, tz=timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def installed_at(dist: InstalledDist) -> str:
    """Return `name version (installed <time>)`."""
    return f"{dist.name} {dist.version} (installed {stamp(dist.mtime)})"


def parsed_requires(dist: InstalledDist, markers: Mapping[str, str] | None) -> Iterator[Requirement]:
    """Yield the requirements that apply without extras; lines that cannot be parsed are passed over."""
    for line in dist.requires:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        if _applies(requirement, markers):
            yield requirement


def _applies(requirement: Requirement, markers: Mapping[str, str] | None) -> bool:
    if requirement.marker is None:
        return True
    if markers is None:
        return "extra" not in str(requirement.marker)
    try:
        return requirement.marker.evaluate({**markers, "extra": ""})
    except (UndefinedComparison, UndefinedEnvironmentName):
        return False


def requirers(
    installed: Iterable[InstalledDist], name: str, markers: Mapping[str, str] | None
) -> list[tuple[InstalledDist, Requirement]]:
    """Return who requires a name, and by which line."""
    return [
        (dist, requirement)
        for dist in installed
        if dist.name != name
        for requirement in parsed_requires(dist, markers)
        if canonicalize_name(requirement.name) == name
    ]


def culprit_of_move(moved: InstalledDist, pinned: str | None, installed: Sequence[InstalledDist], context: Context) -> str:
    """Name who brought `moved` in its present version although `pinned` was wanted (None: nothing was).

    The requirement must hold for what is there now and not for the pin. Of several, one that was not
    moved itself wins, then an exact one over a mere bound, then the one that came last.
    """
    since = context.last_good if context.last_good is not None else moved.mtime - _SAME_RUN_S
    proofs = [
        (dist, requirement)
        for dist, requirement in requirers(installed, moved.name, context.markers)
        if dist.mtime >= min(since, moved.mtime) and _explains(requirement, moved.version, pinned)
    ]
    if proofs:
        dist, requirement = max(proofs, key=lambda proof: _weight(proof[0], proof[1], context))
        proof = f"{dist.name} {dist.version} requires {_wish(requirement)} (installed {stamp(dist.mtime)})"
        return f"{context.step}: {proof}" if context.step else proof
    return context.step or unknown_culprit(context, until=moved.mtime)


def _weight(dist: InstalledDist, requirement: Requirement, context: Context) -> tuple[bool, bool, float, str]:
    return dist.name not in context.victims, "==" in str(requirement.specifier), dist.mtime, dist.name


def unknown_culprit(context: Context, until: float | None = None) -> str:
    """Return the step of our own that just ran, else `unknown, between T1 and T2` as far as known."""
    if context.step:
        return context.step
    end = until if until is not None else context.now
    upper = stamp(end) if end is not None else "now"
    if context.last_good is None:
        return f"unknown, between the installation and {upper}"
    lower = context.last_good if end is None else min(context.last_good, end)
    return f"unknown, between {stamp(lower)} and {upper}"


def _explains(requirement: Requirement, version: str, pinned: str | None) -> bool:
    wants_this = satisfies(version, requirement.specifier)
    if pinned is None:
        return wants_this is not False
    return wants_this is True and satisfies(pinned, requirement.specifier) is False


def _wish(requirement: Requirement) -> str:
    return f"{requirement.name}{requirement.specifier}"
