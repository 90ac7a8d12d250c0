"""Requirements that installed packages state and that do not hold; which of them the promise expects. Pure.

This is what `pip check` does, with the markers of the environment's own interpreter and with reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from accel_install.facts.target import Target
from accel_install.verify.culprit import parsed_requires
from accel_install.verify.environment import InstalledDist
from accel_install.verify.families import family_of
from accel_install.verify.findings import Finding
from accel_install.verify.promise import Promise
from accel_install.verify.versions import satisfies

__all__ = ["Conflict", "markers_for", "requirement_conflicts", "sort_conflicts"]


@dataclass(frozen=True)
class Conflict:
    """A requirement of `package` on `requires` that does not hold.

    `found` is None when that is not installed.
    """

    package: str
    version: str
    requires: str
    wish: str
    found: str | None

    @property
    def text(self) -> str:
        """Say it in one line."""
        state = f"{self.requires} {self.found} is installed" if self.found else "it is not installed"
        return f"{self.package} {self.version} requires {self.wish}, but {state}"


def markers_for(python_version: str | None, arch: str, kernel: str | None = None) -> dict[str, str]:
    """Return the marker environment of an interpreter (`3.11.7`) on an arch, never that of this tool."""
    full = python_version or "3.11"
    short = ".".join(full.split(".")[:2])
    target = Target(arch=arch, python=short, libc="glibc", libc_version="2.17", kernel=kernel)
    full = full if full.count(".") > 1 else f"{full}.0"
    return {**target.markers(), "python_full_version": full, "implementation_version": full}


def requirement_conflicts(installed: Sequence[InstalledDist], markers: Mapping[str, str]) -> list[Conflict]:
    """Return every requirement that does not hold; versions that cannot be compared are not judged."""
    versions: dict[str, str] = {}
    for dist in installed:
        versions.setdefault(dist.name, dist.version)
    conflicts = []
    for dist in installed:
        for requirement in parsed_requires(dist, markers):
            name = str(canonicalize_name(requirement.name))
            found = versions.get(name)
            if found is None or satisfies(found, requirement.specifier) is False:
                wish = f"{name}{requirement.specifier}"
                conflicts.append(Conflict(dist.name, dist.version, name, wish, found))
    return list(dict.fromkeys(conflicts))


def sort_conflicts(
    conflicts: Iterable[Conflict], promise: Promise | None, installed: Sequence[InstalledDist]
) -> tuple[list[dict[str, str]], list[Finding]]:
    """Part conflicts into those that the promise accounts for (text and reason) and findings."""
    present = {d.name for d in installed}
    expected: list[dict[str, str]] = []
    findings: list[Finding] = []
    for conflict in conflicts:
        reason = _reason(conflict, promise, present) if promise else None
        if reason is not None:
            expected.append({"text": conflict.text, "reason": reason})
        else:
            findings.append(_finding(conflict))
    return sorted(expected, key=lambda e: e["text"]), findings


def _reason(conflict: Conflict, promise: Promise, present: set[str]) -> str | None:
    listed = promise.expected_conflicts.get((conflict.package, conflict.requires))
    if listed is not None or conflict.found is not None:
        return listed
    family = family_of(conflict.requires, promise.exclusive)
    if family is not None and family.provider in present:
        return f"module {family.module} is provided by {family.provider}: {family.reason}"
    return promise.why_forbidden(conflict.requires)


def _finding(conflict: Conflict) -> Finding:
    return Finding(
        slug="requirements.conflict",
        severity="warning",
        subject=conflict.package,
        expected=conflict.wish,
        actual=f"{conflict.requires} {conflict.found}" if conflict.found else "not installed",
        culprit=f"{conflict.package} {conflict.version}",
        remedy="decide which of the two is wanted; the recipe lists conflicts that are right",
        packages=[conflict.package, conflict.requires],
    )
