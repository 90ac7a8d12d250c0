"""Acts of an earlier run that were cut off: their children are waited for, then each is settled by the recovery table."""

from __future__ import annotations

from accel_install.errors import BusyError, InDoubtError
from accel_install.execute.activate import ACTIVATE, is_active
from accel_install.execute.children import child_of, wait_for_group
from accel_install.execute.context import RunContext
from accel_install.execute.journal import Journal
from accel_install.execute.kinds import kind_of
from accel_install.execute.recovery import ChildSeen, OpenAct, Policy, open_acts, recover
from accel_install.plan.models import PlanStep

__all__ = ["settle"]

_WAIT_S = 120.0
_WAIT_LONG_S = 6 * 3600.0


def settle(ctx: RunContext, journal: Journal) -> list[str]:
    """Settle every open act, and return the ids of those that were found done.

    Raises:
        BusyError: a child still runs. InDoubtError: it cannot be told whether an act happened.
    """
    done = []
    for act in open_acts(journal.content.records):
        step = next((s for s in ctx.plan.steps if s.id == act.step), None)
        if step is None and act.step != ACTIVATE:
            _wait(ctx, act)
            journal.write("outcome", act.run_id, act.step, ok=False, detail="not a step of the plan that goes on")
            continue
        if _settle_one(ctx, journal, act, step):
            done.append(act.step)
    return done


def _settle_one(ctx: RunContext, journal: Journal, act: OpenAct, step: PlanStep | None) -> bool:
    _wait(ctx, act)
    ctx.forget_facts()
    ctx.doubted.add(act.step)
    state, version, policy = _look(ctx, act, step)
    action = recover(True, _child(ctx, act), False, state, policy)
    if action == "in-doubt":
        raise _in_doubt(act, step, state)
    done = action == "record-done"
    if done:
        ctx.flush()
    journal.write("outcome", act.run_id, act.step, ok=done, version=version, detail=f"settled after an interruption: {action}")
    ctx.events.emit("message", act.step, text=f"{act.step}: cut off earlier; {'found done' if done else 'will be done again'}")
    return done


def _look(ctx: RunContext, act: OpenAct, step: PlanStep | None) -> tuple[str, str | None, Policy]:
    """Return (state of a probe made now, version seen, interrupt policy)."""
    if step is None:
        return ("present" if is_active(ctx) else "absent"), None, "repeat"
    kind = kind_of(step.kind)
    probe = kind.probe(ctx, step.model_copy(update={"decision": act.decision}))
    done = kind.decide(step, probe).word in ("skip", "adopt")
    return ("present" if done else probe.state if probe.state != "present" else "differs"), probe.version, kind.policy


def _child(ctx: RunContext, act: OpenAct) -> ChildSeen:
    record = child_of(act.child)
    if record is None:
        return "none"
    return ctx.host.child_state(record)


def _wait(ctx: RunContext, act: OpenAct) -> None:
    """Wait for a child of the interrupted run: it may still be installing."""
    record = child_of(act.child)
    if record is None or ctx.host.child_state(record) == "unknown":
        return
    running = ctx.host.child_state(record) == "running" or ctx.host.group_alive(record)
    if running:
        ctx.events.emit(
            "message", act.step, text=f"{act.step}: waiting for {record.argv0} (pid {record.pid}) of the interrupted run"
        )
    if not wait_for_group(ctx.host, record, _WAIT_LONG_S if ctx.options.wait else _WAIT_S):
        raise BusyError(
            "run.child-alive",
            f"a child of the interrupted run still works on step {act.step}",
            value=f"{record.argv0}, pid {record.pid}",
            expected="its end",
            hint="accel-install resume --wait",
        )


def _in_doubt(act: OpenAct, step: PlanStep | None, state: str) -> InDoubtError:
    by_hand = "accel-install detect, then install or remove that layer by hand, then accel-install resume"
    return InDoubtError(
        "run.in-doubt",
        f"step {act.step} was cut off, and what it left is {state}",
        value=act.step,
        expected="a layer that is wholly there, or wholly absent",
        hint="accel-install status" if step is None else str(step.params.get("settle") or by_hand),
    )
