"""The check after every step: everything that earlier steps pinned still stands, or the culprit is named."""

from __future__ import annotations

from collections.abc import Sequence

from accel_install.errors import DriftFoundError
from accel_install.execute.context import RunContext
from accel_install.plan.models import PlanStep
from accel_install.verify.check import verify_environment
from accel_install.verify.findings import Finding
from accel_install.verify.promise import promise_of_plan

__all__ = ["check_after"]

_SLUGS = ("pins.", "ownership.", "integrity.", "env.half-installed")


def check_after(ctx: RunContext, step: PlanStep, done: Sequence[str]) -> None:
    """Compare the environment with what the done steps protect.

    Raises:
        DriftFoundError: something moved or broke; message, value and culprit name it.
    """
    env = ctx.env()
    protecting = [s.id for s in ctx.plan.steps if s.id in done and s.protects]
    if env is None or not protecting:
        return
    promise = promise_of_plan(ctx.plan, steps=protecting)
    report = verify_environment(env, promise, culprit_hint=step.id)
    named = _named(ctx, protecting)
    pending = _pending(ctx, done)
    faults = [f for f in report.findings if f.severity == "fault" and f.slug.startswith(_SLUGS)]
    found = [f for f in faults if _concerns(f, named) and not _about(f) <= pending]
    if ctx.journal is not None:
        ctx.journal.write("check", ctx.run_id, step.id, clean=not found, findings=[f.slug for f in found])
    for finding in found:
        ctx.events.emit("finding", step.id, **finding.model_dump(mode="json"), text=_text(finding))
    if found:
        raise _drift(found, step)


def _named(ctx: RunContext, protecting: Sequence[str]) -> set[str] | None:
    """Return the protected names, None for all that those steps install."""
    names: set[str] = set()
    for step_id in protecting:
        protects = ctx.plan.step(step_id).protects
        if "*" in protects:
            return None
        names |= set(protects)
    return names


def _concerns(finding: Finding, names: set[str] | None) -> bool:
    return names is None or bool(names & _about(finding))


def _about(finding: Finding) -> set[str]:
    return {finding.subject, *finding.packages}


def _pending(ctx: RunContext, done: Sequence[str]) -> set[str]:
    """Return what later steps will put right themselves: their packages, and the rivals that a later fork removes."""
    names = {w.name for w in ctx.plan.wheels if w.step not in done}
    return names.union(*(f.get("members", []) for f in ctx.plan.exclusive if f.get("provider") in names))


def _text(finding: Finding) -> str:
    return f"{finding.subject}: {finding.expected} -> {finding.actual}; culprit: {finding.culprit or 'unknown'}"


def _drift(found: Sequence[Finding], step: PlanStep) -> DriftFoundError:
    first = found[0]
    return DriftFoundError(
        "pins.override",
        f"after step {step.id}: {_text(first)}",
        value="; ".join(_text(f) for f in found),
        expected=f"{first.subject} {first.expected}",
        hint="accel-install repair",
        details={"findings": [f.model_dump(mode="json") for f in found]},
    )
