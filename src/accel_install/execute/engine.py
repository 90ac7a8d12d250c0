"""The engine: probe, decide, act, verify, check; one step after another, each journaled before and after.

It knows nothing of platforms, vendors or rehearsals: kinds act, the host confines, the journal remembers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from accel_install.errors import AccelError, DegradedError, StepFailedError
from accel_install.execute.activate import ACTIVATE, activate, is_active
from accel_install.execute.checks import check_after
from accel_install.execute.context import RunContext
from accel_install.execute.failures import as_failure
from accel_install.execute.kinds import kind_of
from accel_install.execute.preflight import preflight
from accel_install.execute.result import RunResult
from accel_install.plan.models import Decision, PlanStep

__all__ = ["run_steps"]


class _Progress:
    """Which steps acted, which were kept, which optional ones failed."""

    def __init__(self) -> None:
        self.acted: list[str] = []
        self.kept: list[str] = []
        self.failed: list[str] = []

    @property
    def done(self) -> list[str]:
        return [*self.acted, *self.kept]


def run_steps(ctx: RunContext, settled: list[str], write_lock: bool = True) -> RunResult:
    """Run all steps of the context's plan, in order.

    Raises:
        PreflightError: before anything was touched. StepFailedError, DriftFoundError, InterruptedRunError: during a step.
        DegradedError: all is done, but an optional step failed.
    """
    decisions = {step.id: _decide(ctx, step) for step in ctx.plan.steps}
    preflight(ctx, decisions)
    _prefetch(ctx, decisions)
    progress = _Progress()
    for step in ctx.plan.steps:
        ctx.interrupts.check()
        _run_step(ctx, step, progress)
    ctx.interrupts.check()
    _switch(ctx, progress)
    lock = ctx.deps.on_success(ctx.plan) if write_lock and ctx.deps.on_success is not None else None
    notes = _notes(ctx, progress)
    result = RunResult(ctx.run_id, tuple(progress.acted), tuple(progress.kept), ctx.env(), lock, tuple(settled), notes=notes)
    if progress.failed:
        raise DegradedError(
            "run.degraded", "done, but optional steps failed", value=", ".join(progress.failed), hint="accel-install status"
        )
    return result


def _notes(ctx: RunContext, progress: _Progress) -> tuple[str, ...]:
    """Say what is left for a person: kernel modules and firmware take effect with a reboot."""
    changed = [s.title for s in ctx.plan.steps if s.id in progress.acted and s.params.get("reboot")]
    return (f"reboot this machine before the devices are used: {', '.join(changed)} changed",) if changed else ()


def _decide(ctx: RunContext, step: PlanStep) -> Decision:
    kind = kind_of(step.kind)
    return kind.decide(step, kind.probe(ctx, step))


def _prefetch(ctx: RunContext, decisions: dict[str, Decision]) -> None:
    """Start all downloads now; acts wait for their own."""
    acting = {name for name, decision in decisions.items() if decision.acts}
    wheels = [w for w in ctx.plan.wheels if w.step in acting and w.url is not None]
    ctx.deps.downloader.prefetch([(str(w.url), w.filename, w.sha256, w.size_bytes) for w in wheels])


def _run_step(ctx: RunContext, step: PlanStep, progress: _Progress) -> None:
    decision = _decide(ctx, step)
    ctx.events.emit("step-decided", step.id, decision=decision.word, reason=decision.reason)
    if not decision.acts or step.kind == "host_check":
        progress.kept.append(step.id)
        return
    kind = kind_of(step.kind)
    held = ctx.interrupts.held() if kind.policy == "wait" else contextlib.nullcontext()
    try:
        with held:
            _act(ctx, step.id, decision, lambda: kind.act(ctx, step, decision), lambda: kind.verify(ctx, step))
    except StepFailedError:
        if not step.optional:
            raise
        progress.failed.append(step.id)
        return
    progress.acted.append(step.id)
    check_after(ctx, step, progress.done)


def _switch(ctx: RunContext, progress: _Progress) -> None:
    if not is_active(ctx):
        _act(ctx, ACTIVATE, Decision(word="do", reason="the new generation becomes current"), lambda: activate(ctx), list)
        progress.acted.append(ACTIVATE)


def _act(ctx: RunContext, step_id: str, decision: Decision, act: Callable[[], None], verify: Callable[[], list[str]]) -> None:
    """Act between two journal records. The version seen afterwards is kept: it tells later who installed it."""
    journal = ctx.journal
    assert journal is not None  # noqa: S101 - a run always has one
    journal.write("intent", ctx.run_id, step_id, decision=decision.word, reason=decision.reason)
    ctx.events.emit("step-started", step_id, decision=decision.word, reason=decision.reason)
    try:
        act()
        problems = verify()
        ctx.flush()
    except (AccelError, OSError) as error:
        failure = as_failure(error, f"step {step_id}")
        with contextlib.suppress(StepFailedError):  # a full disk takes the journal too; the first failure is the one to tell
            journal.write("outcome", ctx.run_id, step_id, ok=False, detail=failure.message, slug=failure.slug)
        ctx.events.emit("step-failed", step_id, message=failure.message, slug=failure.slug)
        raise failure from error
    if problems:
        journal.write("outcome", ctx.run_id, step_id, ok=False, detail="; ".join(problems))
        ctx.events.emit("step-failed", step_id, message="; ".join(problems))
        raise _not_verified(step_id, problems)
    version = _version(ctx, step_id)
    with ctx.interrupts.held():
        journal.write("outcome", ctx.run_id, step_id, ok=True, version=version)
    ctx.events.emit("step-finished", step_id)


def _version(ctx: RunContext, step_id: str) -> str | None:
    step = next((s for s in ctx.plan.steps if s.id == step_id), None)
    return None if step is None or step.layer is None else kind_of(step.kind).probe(ctx, step).version


def _not_verified(step_id: str, problems: list[str]) -> StepFailedError:
    return StepFailedError(
        "step.not-verified",
        f"step {step_id} ended without error, but its result is not as planned",
        value="; ".join(problems),
        expected="the planned state",
        hint="accel-install resume, or accel-install status",
    )
