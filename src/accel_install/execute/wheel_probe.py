"""Whether wheels are installed as planned: by dist-info and RECORD, never by an installer's word."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from accel_install.plan.models import Plan, PlanStep, PlanWheel, Probe
from accel_install.verify.distribution import InstalledDist
from accel_install.verify.environment import read_environment, site_dirs_of
from accel_install.verify.integrity import damage_of
from accel_install.verify.ownership import shared_paths

__all__ = ["is_whole", "probe_wheels"]


def is_whole(dist: InstalledDist) -> bool:
    """Say whether a dist-info folder is all there. A cut of power leaves RECORD empty, or cut at a block; it lists itself."""
    if dist.problems:
        return False
    text = (dist.dist_info / "RECORD").read_bytes()
    return text.endswith(b"\n") and any(e.path == f"{dist.dist_info.name}/RECORD" for e in dist.record or ())


def probe_wheels(env: Path, wanted: Sequence[PlanWheel], plan: Plan, step: PlanStep, *, deep: bool = False) -> Probe:
    """Compare an environment with the wheels of a step; `deep` hashes every file instead of looking at sizes.

    `problems` names the packages that are not as planned. A package that is simply missing makes the state `absent` while all
    others are right, so that the first install reads as one.
    """
    installed: dict[str, list[InstalledDist]] = {}
    everything = read_environment(site_dirs_of(env))
    for dist in everything:
        installed.setdefault(dist.name, []).append(dist)
    contested = _contested(everything, plan)
    missing = [w.name for w in wanted if w.name not in installed]
    moved = [w.name for w in wanted if w.name in installed and not _is_planned(installed[w.name], w)]
    damaged = [
        w.name
        for w in wanted
        if w.name in installed and w.name not in moved and _is_damaged(installed[w.name][0], contested, deep)
    ]
    forced = [n for n in step.params.get("reinstall", []) if n in {w.name for w in wanted}]
    if moved or damaged or forced:
        names = sorted({*moved, *damaged, *forced, *missing})
        return Probe(state="damaged" if not moved else "differs", detail=f"not as planned: {', '.join(names)}", problems=names)
    if missing:
        done = len(wanted) - len(missing)
        return Probe(state="absent", detail=f"{done} of {len(wanted)} installed" if done else "not installed yet")
    return Probe(state="present", detail=f"{len(wanted)} packages as pinned")


def _is_planned(dists: Sequence[InstalledDist], wheel: PlanWheel) -> bool:
    return len(dists) == 1 and dists[0].version == wheel.version and is_whole(dists[0])


def _is_damaged(dist: InstalledDist, contested: set[tuple[str, str]], deep: bool) -> bool:
    damage = damage_of(dist, deep=deep, skip=contested)
    return bool(damage.missing or damage.changed)


def _contested(everything: Sequence[InstalledDist], plan: Plan) -> set[tuple[str, str]]:
    """Paths that a planned fork took from its planned upstream are the fork's: no damage of the upstream."""
    planned = {w.name for w in plan.wheels}
    forks = {f.get("provider") for f in plan.exclusive}
    found: set[tuple[str, str]] = set()
    for shared in shared_paths(everything):
        names = {shared.first.name, shared.second.name}
        if names <= planned and names & forks:
            found.update((n, entry.path) for n in names - forks for entry, _ in shared.entries)
    return found
