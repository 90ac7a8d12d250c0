"""Everything that can be refused before anything is touched: nothing is half-done because a licence was missing."""

from __future__ import annotations

from collections.abc import Mapping

from accel_install.errors import AccelError, PreflightError, ResolutionError
from accel_install.execute.context import RunContext
from accel_install.execute.kinds import kind_of
from accel_install.plan.models import Decision

__all__ = ["preflight"]


def preflight(ctx: RunContext, decisions: Mapping[str, Decision]) -> None:
    """Check all steps.

    Raises:
        PreflightError: something stands against the run; all of it is listed. ResolutionError: wheels are missing.
    """
    if ctx.plan.unresolved:
        names = ", ".join(f"{u.name} {u.version}" for u in ctx.plan.unresolved)
        raise ResolutionError("resolve.unresolved", "the plan is incomplete", value=names, hint="--find-links DIR")
    found: list[AccelError] = []
    for step in ctx.plan.steps:
        decision = decisions[step.id]
        found += kind_of(step.kind).preflight(ctx, step, decision)
        if decision.word == "refuse" and not found:
            found.append(PreflightError("preflight.refused", f"{step.title}: {decision.reason}", value=step.id))
    if found:
        raise _joined(found)


def _joined(found: list[AccelError]) -> AccelError:
    first = found[0]
    others = [e for e in found[1:] if (e.slug, e.value) != (first.slug, first.value)]
    if others:
        first.details["also"] = [e.to_dict() for e in others]
        first.message += f" (and {len(others)} more: {'; '.join(e.message for e in others[:4])})"
    return first
