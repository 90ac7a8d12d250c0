"""Comparing what is installed with what was pinned: versions, builds, single copies, single owners.

`check_pins` is the entry for the engine (after every step) and for `verify`. Contents are `integrity`'s.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from accel_install.recipe.models import ExclusiveFamily
from accel_install.verify.culprit import Context, culprit_of_move, installed_at, unknown_culprit
from accel_install.verify.environment import InstalledDist
from accel_install.verify.families import as_families, check_families, family_of
from accel_install.verify.findings import Finding, sorted_findings
from accel_install.verify.ownership import SharedPaths, shared_paths, winner_of
from accel_install.verify.versions import local_family, same_public, same_version

__all__ = ["check_ownership", "check_pins"]

_REPAIR = "accel-install repair"


def check_pins(
    installed: Sequence[InstalledDist],
    pins: Mapping[str, str],
    *,
    exclusive: Iterable[ExclusiveFamily | Mapping[str, Any]] = (),
    step_of: Mapping[str, str] | None = None,
    culprit_hint: str | None = None,
    last_good: float | None = None,
    now: float | None = None,
    markers: Mapping[str, str] | None = None,
    leftovers: Mapping[Path, str] | None = None,
) -> list[Finding]:
    """Compare an environment with its pins.

    Args:
        installed: what `read_environment` found.
        pins: name to exact version (local label included) of what must be there; names in any spelling.
        exclusive: families of which only the provider may be there.
        step_of: name to the step that installs it, for remedies.
        culprit_hint: the step that just ran (`step vllm`), when the check follows one.
        last_good: time of the last check that was clean (seconds since the epoch), None when not known.
        now: time of this check.
        markers: marker environment of the target's interpreter, for requirement lines.
        leftovers: what `find_leftovers` found.

    Returns:
        Findings, worst first; empty when every pin holds.
    """
    wanted = {str(canonicalize_name(name)): version for name, version in pins.items()}
    moved = frozenset(d.name for d in installed if d.name in wanted and not same_version(d.version, wanted[d.name]))
    context = Context(culprit_hint, last_good, now, markers, step_of or {}, moved)
    families = as_families(exclusive)
    copies: dict[str, list[InstalledDist]] = defaultdict(list)
    for dist in installed:
        copies[dist.name].append(dist)
    findings = [f for name, version in wanted.items() for f in _check_one(name, version, copies, installed, context)]
    findings += [_half_installed(d, wanted) for d in installed if d.problems]
    findings += [_leftover(path, name, wanted) for path, name in (leftovers or {}).items()]
    findings += check_families(installed, wanted, families, context)
    findings += check_ownership(installed, wanted, families, context)
    return sorted_findings(findings)


def _check_one(
    name: str,
    version: str,
    copies: Mapping[str, Sequence[InstalledDist]],
    installed: Sequence[InstalledDist],
    context: Context,
) -> list[Finding]:
    found = copies.get(name, ())
    if not found:
        return [_missing(name, version, context)]
    if len({d.version for d in found}) > 1 or len(found) > 1:
        return [_duplicate(name, version, found)]
    there = found[0]
    if same_version(there.version, version):
        return []
    return [_moved(there, version, installed, context)]


def _missing(name: str, version: str, context: Context) -> Finding:
    return Finding(
        slug="pins.missing",
        severity="fault",
        subject=name,
        expected=version,
        actual="not installed",
        culprit=unknown_culprit(context),
        remedy=_remedy(name, context),
        packages=[name],
    )


def _duplicate(name: str, version: str, found: Sequence[InstalledDist]) -> Finding:
    return Finding(
        slug="pins.duplicate-dist",
        severity="fault",
        subject=name,
        expected=f"one copy, {version}",
        actual="; ".join(f"{d.version} at {d.dist_info}" for d in found),
        culprit=f"the newer copy: {installed_at(max(found, key=lambda d: d.mtime))}",
        remedy=_REPAIR,
        packages=[name],
    )


def _moved(there: InstalledDist, version: str, installed: Sequence[InstalledDist], context: Context) -> Finding:
    same_base = same_public(there.version, version) and local_family(there.version) != local_family(version)
    return Finding(
        slug="pins.local-family-lost" if same_base else "pins.version-moved",
        severity="fault",
        subject=there.name,
        expected=version,
        actual=there.version,
        culprit=culprit_of_move(there, version, installed, context),
        remedy=_remedy(there.name, context),
        packages=[there.name],
    )


def _remedy(name: str, context: Context) -> str:
    step = context.step_of.get(name)
    return f"{_REPAIR}  (re-pins what step {step} installs)" if step else _REPAIR


def _half_installed(dist: InstalledDist, pins: Mapping[str, str]) -> Finding:
    pinned = dist.name in pins
    return Finding(
        slug="env.half-installed",
        severity="fault" if pinned else "warning",
        subject=dist.name,
        expected="METADATA and RECORD in its dist-info folder",
        actual=f"{', '.join(dist.problems)} in {dist.dist_info}",
        culprit=f"an interrupted installation or removal ({installed_at(dist)})",
        remedy=_REPAIR if pinned else f"remove {dist.dist_info}, then install {dist.name} again if it is wanted",
        packages=[dist.name],
    )


def _leftover(path: Path, tail: str, pins: Mapping[str, str]) -> Finding:
    owner = next((n for n in pins if tail and n[1:] == tail), None)
    return Finding(
        slug="env.half-installed",
        severity="warning",
        subject=owner or path.name,
        expected="no leftovers",
        actual=f"{path} was left behind",
        culprit="a removal by pip that was interrupted",
        remedy=f"rm -r '{path}'",
        packages=[owner] if owner else [],
    )


def check_ownership(
    installed: Sequence[InstalledDist],
    pins: Mapping[str, str],
    families: Sequence[ExclusiveFamily],
    context: Context,
    *,
    any_package: bool = False,
) -> list[Finding]:
    """Find paths that two distributions claim with different content, one of them pinned (or any).

    Members of one family that are both pinned are a fork over its upstream: there sharing is meant.
    """
    findings = []
    for shared in shared_paths(installed):
        names = (shared.first.name, shared.second.name)
        pinned = [n for n in names if n in pins]
        family = family_of(names[0], families)
        overlay = len(pinned) == 2 and family is not None and family is family_of(names[1], families)
        if not overlay and (pinned or any_package):
            findings.append(_shared(shared, pinned, context))
    return findings


def _shared(shared: SharedPaths, pinned: Sequence[str], context: Context) -> Finding:
    first, second = shared.first, shared.second
    if second.name in pinned and first.name not in pinned:
        first, second = second, first
    winner = winner_of(shared)
    loser = second if winner is first else first
    lies = f"the content is {winner.name}'s, {loser.name}'s is lost" if winner else "the content is mixed or gone"
    return Finding(
        slug="ownership.shared-path",
        severity="fault" if len(pinned) == 1 else "warning",
        subject=first.name,
        expected=f"{first.name} alone owns its files",
        actual=f"{len(shared.entries)} paths also claimed by {second.name} {second.version}, "
        f"such as {shared.entries[0][0].path}; {lies}",
        culprit=(f"{context.step}: " if context.step else "") + installed_at(second),
        remedy=_REPAIR if pinned else "uninstall both, then install the one that is wanted",
        packages=[first.name, second.name],
    )
