"""Files of installed distributions against their RECORDs.

There, of the right size, and (deep) of the right content.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from accel_install.digests import sha256_file
from accel_install.verify.culprit import Context, unknown_culprit
from accel_install.verify.environment import InstalledDist, RecordEntry
from accel_install.verify.findings import Finding
from accel_install.verify.ownership import file_of, hex_digest, is_generated

__all__ = ["Damage", "check_integrity", "damage_of"]

_SHOWN = 3


@dataclass
class Damage:
    """RECORD paths of one distribution that are gone, and those whose content is another."""

    missing: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)


def damage_of(dist: InstalledDist, *, deep: bool = False, skip: Collection[tuple[str, str]] = ()) -> Damage:
    """Compare files with RECORD: existence and size; with `deep` sha256 too. `skip` holds (name, path)."""
    damage = Damage()
    for entry in dist.record or ():
        if is_generated(entry.path) or (dist.name, entry.path) in skip:
            continue
        path = file_of(dist, entry)
        try:
            size_bytes = path.stat().st_size
        except OSError:
            damage.missing.append(entry.path)
            continue
        if _differs(path, size_bytes, entry, deep):
            damage.changed.append(entry.path)
    return damage


def _differs(path: Path, size_bytes: int, entry: RecordEntry, deep: bool) -> bool:
    if entry.size_bytes is not None and size_bytes != entry.size_bytes:
        return True
    wanted = hex_digest(entry.hash) if deep else None
    if wanted is None:
        return False
    try:
        return sha256_file(path) != wanted
    except OSError:
        return True


def check_integrity(
    installed: Iterable[InstalledDist],
    *,
    pinned: Collection[str] | None,
    context: Context,
    deep: bool = False,
    skip: Collection[tuple[str, str]] = (),
) -> list[Finding]:
    """Find damaged distributions.

    A fault for what is pinned, and for all when nothing is promised (`pinned` None).
    """
    findings: list[Finding] = []
    for dist in installed:
        severe = pinned is None or dist.name in pinned
        findings.extend(_findings(dist, damage_of(dist, deep=deep, skip=skip), severe, context))
    return findings


def _findings(dist: InstalledDist, damage: Damage, severe: bool, context: Context) -> Iterator[Finding]:
    for slug, paths, state in (
        ("integrity.missing-files", damage.missing, "missing"),
        ("integrity.changed-files", damage.changed, "not as RECORD says"),
    ):
        if paths:
            yield Finding(
                slug=slug,
                severity="fault" if severe else "warning",
                subject=dist.name,
                expected=f"the files of {dist.name} {dist.version} as installed",
                actual=f"{len(paths)} {state}: {_some(paths)}",
                culprit=unknown_culprit(context),
                remedy="accel-install repair" if severe else f"install {dist.name} {dist.version} again",
                packages=[dist.name],
            )


def _some(paths: Sequence[str]) -> str:
    return ", ".join(paths[:_SHOWN]) + (" ..." if len(paths) > _SHOWN else "")
