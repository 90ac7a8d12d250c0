"""Verifying one environment: everything that its files can show, against a promise or against sense alone.

What only a run can show (imports, kernels, collectives) is the ladder's; here `proven` is always False.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from accel_install.verify.culprit import Context
from accel_install.verify.environment import (
    EnvironmentInfo,
    InstalledDist,
    environment_info,
    find_leftovers,
    read_environment,
)
from accel_install.verify.families import check_known_families
from accel_install.verify.findings import Finding, has_fault, sorted_findings
from accel_install.verify.integrity import check_integrity
from accel_install.verify.ownership import shared_paths
from accel_install.verify.pins import check_ownership, check_pins
from accel_install.verify.promise import Promise
from accel_install.verify.requirements import markers_for, requirement_conflicts, sort_conflicts

__all__ = ["VerifyReport", "verify_environment"]


class VerifyReport(BaseModel):
    """What a check found, in the shape of `verify --json`.

    `level` is the highest proven level, None before any.
    """

    model_config = ConfigDict(extra="forbid")

    promise: str | None = None
    level: str | None = None
    proven: bool = False
    findings: list[Finding] = Field(default_factory=list)
    expected_conflicts: list[dict[str, str]] = Field(default_factory=list)
    ladder: list[dict[str, Any]] = Field(default_factory=list)

    @property
    def clean(self) -> bool:
        """Say whether no fault was found."""
        return not has_fault(self.findings)


def verify_environment(
    env: Path,
    promise: Promise | None = None,
    deep: bool = False,
    *,
    last_good: float | None = None,
    now: float | None = None,
    culprit_hint: str | None = None,
) -> VerifyReport:
    """Check an environment without running anything in it.

    Args:
        env: the environment, or a folder of generations that has `current`.
        promise: what must hold; without one only ownership, integrity and family rules apply.
        deep: hash every file instead of looking at sizes.
        last_good: time of the last check that was clean, seconds since the epoch.
        now: time of this check (default: the clock).
        culprit_hint: the step that just ran.
    """
    info = environment_info(env)
    if not info.exists:
        return VerifyReport(promise=promise.name if promise else None, findings=[_absent(env)])
    markers = markers_for(info.python_version, _arch(promise))
    context = Context(culprit_hint, last_good, time.time() if now is None else now, markers)
    installed = read_environment(info.site_dirs)
    findings = _promised(installed, promise, context, info) if promise else _unpromised(installed, context, info)
    findings += _integrity(installed, promise, context, deep)
    conflicts = requirement_conflicts(installed, markers) if promise else []
    expected, more = sort_conflicts(conflicts, promise, installed)
    return VerifyReport(
        promise=promise.name if promise else None,
        findings=sorted_findings([*findings, *more]),
        expected_conflicts=expected,
    )


def _arch(promise: Promise | None) -> str:
    return (promise.target.get("arch") if promise else None) or os.uname().machine


def _absent(env: Path) -> Finding:
    return Finding(
        slug="env.absent",
        severity="fault",
        subject=str(env),
        expected="a Python environment",
        actual="no site-packages folder there",
        remedy="accel-install apply",
    )


def _promised(installed: Sequence[InstalledDist], promise: Promise, context: Context, info: EnvironmentInfo) -> list[Finding]:
    found = check_pins(
        installed,
        promise.pins,
        exclusive=promise.exclusive,
        step_of=promise.step_of,
        culprit_hint=context.step,
        last_good=context.last_good,
        now=context.now,
        markers=context.markers,
        leftovers=find_leftovers(info.site_dirs),
    )
    claimed = {n for f in found if f.slug == "ownership.family-conflict" for n in f.packages}
    return [*found, *_foreign(installed, promise, claimed), *_wrong_python(promise, info)]


def _unpromised(installed: Sequence[InstalledDist], context: Context, info: EnvironmentInfo) -> list[Finding]:
    damaged = check_pins(installed, {}, now=context.now, leftovers=find_leftovers(info.site_dirs))
    shared = check_ownership(installed, {}, [], context, any_package=True)
    return [*damaged, *shared, *check_known_families(installed, context)]


def _foreign(installed: Sequence[InstalledDist], promise: Promise, claimed: set[str]) -> list[Finding]:
    findings = []
    for dist in {d.name: d for d in installed}.values():
        reason = promise.why_forbidden(dist.name)
        if reason is not None and dist.name not in claimed:
            findings.append(
                Finding(
                    slug="pins.forbidden-present",
                    severity="warning",
                    subject=dist.name,
                    expected=f"not installed: {reason}",
                    actual=dist.version,
                    remedy=f"uninstall {dist.name}",
                    packages=[dist.name],
                )
            )
    return findings


def _wrong_python(promise: Promise, info: EnvironmentInfo) -> list[Finding]:
    wanted = (promise.target.get("python") or "").rstrip("t")
    have = ".".join((info.python_version or "").split(".")[:2])
    if not wanted or not have or wanted == have:
        return []
    return [
        Finding(
            slug="env.wrong-python",
            severity="fault",
            subject=str(info.path),
            expected=f"Python {wanted}",
            actual=f"Python {info.python_version}",
            remedy="accel-install apply",
        )
    ]


def _integrity(installed: Sequence[InstalledDist], promise: Promise | None, context: Context, deep: bool) -> list[Finding]:
    """Check contents; contested paths are told as such, except a fork's over its pinned upstream.

    They are the fork's.
    """
    pinned = set(promise.pins) if promise else None
    forks = {f.provider for f in promise.exclusive if f.provider in promise.pins} if promise else set()
    contested: set[tuple[str, str]] = set()
    for shared in shared_paths(installed):
        names = {shared.first.name, shared.second.name}
        overlay = pinned is not None and names <= pinned
        for name in names - forks if overlay else names:
            contested.update((name, mine.path) for mine, _ in shared.entries)
    return check_integrity(installed, pinned=pinned, context=context, deep=deep, skip=contested)
