"""What the command line calls: apply, resume, probe, status. The machine lock is held for every run that may act."""

from __future__ import annotations

import contextlib
import secrets
from datetime import datetime
from pathlib import Path

from accel_install.errors import AccelError, JournalUnreadableError, StepFailedError
from accel_install.execute.context import ApplyOptions, EngineDeps, RunContext
from accel_install.execute.engine import run_steps
from accel_install.execute.failures import as_failure
from accel_install.execute.journal import Journal, read_journal
from accel_install.execute.kinds import kind_of
from accel_install.execute.result import RunResult
from accel_install.execute.settle import settle
from accel_install.execute.state import StateDir
from accel_install.execute.status import StatusReport, read_status
from accel_install.host.base import Host
from accel_install.host.durable import sweep_temporaries
from accel_install.host.lock import MachineLock
from accel_install.plan.models import Plan, Probe

__all__ = [
    "ApplyOptions",
    "EngineDeps",
    "RunResult",
    "StatusReport",
    "apply_plan",
    "last_clean_check",
    "probe_steps",
    "read_status",
    "resume_run",
]


def apply_plan(host: Host, plan: Plan, options: ApplyOptions, deps: EngineDeps, *, purpose: str = "apply") -> RunResult:
    """Run a plan on a machine. Safe to repeat.

    Args:
        host: the machine.
        plan: complete; its steps are decided again right before they act.
        options, deps: see their classes.
        purpose: `apply` or `repair`; a repair writes no lock.

    Raises:
        AccelError: with the exit code of what happened.
    """
    state = StateDir(options.state_dir)
    state.create()
    with MachineLock(state.lock, f"{purpose} {plan.recipe}"):
        journal = Journal(state.journal, deps.clock, host.boot_id())
        run_id = _run_id(deps)
        state.save_plan(run_id, plan.model_dump_json(by_alias=True, indent=1).encode())
        ctx = RunContext(host, plan, options, deps, state, run_id, journal)
        return _run(ctx, journal, purpose)


def _run(ctx: RunContext, journal: Journal, purpose: str) -> RunResult:
    """Run, with the ends of the run journaled and told."""
    plan = ctx.plan
    with ctx.interrupts:
        for folder in (ctx.state.path, ctx.generations.folder, *ctx.generations.all()):
            sweep_temporaries(folder)
        settled = settle(ctx, journal)
        journal.write("run-started", ctx.run_id, plan_digest=plan.digest(), stack=plan.stack, purpose=purpose)
        ctx.events.emit("run-started", recipe=plan.recipe, row=plan.row, purpose=purpose)
        try:
            result = run_steps(ctx, settled, write_lock=purpose == "apply")
        except (AccelError, OSError) as caught:
            error = as_failure(caught, "the end of the run")
            with contextlib.suppress(StepFailedError):  # where the disk is full, the first failure is the one to tell
                journal.write("run-failed", ctx.run_id, slug=error.slug, message=error.message, exit_code=int(error.exit_code))
            ctx.events.emit("run-finished", result="failed", slug=error.slug, message=error.message)
            raise error from caught.__cause__
        finally:
            ctx.deps.downloader.close()
        journal.write("run-finished", ctx.run_id, result="ok", acted=list(result.acted))
        ctx.events.emit("run-finished", result="nothing-to-do" if result.nothing_to_do else "done", acted=list(result.acted))
    return result


def _run_id(deps: EngineDeps) -> str:
    stamp = deps.clock().replace("-", "").replace(":", "").partition(".")[0].rstrip("Z")
    return f"{stamp}-{secrets.token_hex(3)}"


def resume_run(host: Host, options: ApplyOptions, deps: EngineDeps) -> RunResult:
    """Go on with the newest run when it did not end; otherwise say that there is nothing to resume."""
    state = StateDir(options.state_dir)
    if not state.journal.exists():
        return RunResult(message="nothing to resume: nothing was run here")
    state.create()
    with MachineLock(state.lock, "resume"):
        journal = Journal(state.journal, deps.clock, host.boot_id())
        run_id = journal.content.last_run
        ended = run_id is None or any(r.type == "run-finished" for r in journal.content.of_run(run_id))
        if run_id is None or ended:
            what = "nothing was run here" if run_id is None else "the last run ended"
            return RunResult(message=f"nothing to resume: {what}")
        plan = _saved_plan(state, run_id)
        purpose = next((str(r.data.get("purpose")) for r in journal.content.of_run(run_id) if r.type == "run-started"), "apply")
        ctx = RunContext(host, _without_forced(plan, journal, run_id), options, deps, state, run_id, journal)
        return _run(ctx, journal, purpose)


def _saved_plan(state: StateDir, run_id: str) -> Plan:
    path = state.plan(run_id)
    try:
        return Plan.model_validate_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise JournalUnreadableError(
            "journal.plan-unreadable",
            "the plan of the interrupted run cannot be read",
            value=str(path),
            expected="the plan that the run was started with",
            hint="accel-install apply RECIPE decides by probing alone",
        ) from error


def _without_forced(plan: Plan, journal: Journal, run_id: str) -> Plan:
    """Drop forced reinstalls of steps that ended well in this run: they are done."""
    done = {r.step for r in journal.content.of_run(run_id) if r.type == "outcome" and r.data.get("ok")}
    steps = [
        s.model_copy(update={"params": {k: v for k, v in s.params.items() if k not in ("reinstall", "remove")}})
        if s.id in done
        else s
        for s in plan.steps
    ]
    return plan.model_copy(update={"steps": steps})


def probe_steps(host: Host, plan: Plan, options: ApplyOptions, deps: EngineDeps) -> dict[str, Probe]:
    """Look at every step's state without changing anything or needing a lock."""
    ctx = RunContext(host, plan, options, deps, StateDir(options.state_dir))
    return {step.id: kind_of(step.kind).probe(ctx, step) for step in plan.steps}


def last_clean_check(state_dir: Path) -> float | None:
    """Return when the environment was last checked and clean (seconds since the epoch), as far as the journal tells."""
    try:
        records = read_journal(StateDir(state_dir).journal).records
    except JournalUnreadableError:
        return None
    times = [r.time for r in records if (r.type == "check" and r.data.get("clean")) or r.type == "run-finished"]
    if not times:
        return None
    return datetime.fromisoformat(times[-1].replace("Z", "+00:00")).timestamp()
