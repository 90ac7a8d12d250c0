"""Where a stack stands: read from the journal and the lock, without changing anything."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from accel_install.errors import BusyError, PreflightError
from accel_install.execute.generations import Generations
from accel_install.execute.journal import JournalContent, Record, read_journal
from accel_install.execute.recovery import open_acts
from accel_install.execute.state import StateDir
from accel_install.host.base import Host
from accel_install.host.lock import MachineLock

__all__ = ["StatusReport", "read_status"]

_POLL_S = 0.5


@dataclass(frozen=True)
class StatusReport:
    """The newest run and the live environment. `state` is never-run, running, done, failed or interrupted."""

    state: str
    run_id: str | None = None
    purpose: str | None = None
    stack: str | None = None
    started: str | None = None
    ended: str | None = None
    holder: str | None = None
    error: dict[str, Any] | None = None
    steps: dict[str, str] = field(default_factory=dict)
    environment: str | None = None
    torn_bytes: int = 0

    @property
    def hint(self) -> str | None:
        """The command that helps now."""
        if self.state in ("interrupted", "failed"):
            return "accel-install resume"
        return "accel-install apply RECIPE" if self.state == "never-run" else None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document."""
        return {**self.__dict__, "hint": self.hint}

    def lines(self) -> Sequence[str]:
        """Return the lines for people."""
        if self.state == "never-run":
            return ["nothing was applied here", f"hint: {self.hint}"]
        lines = [
            f"{self.stack}: {self.purpose} {self.state}, started {self.started}{f', ended {self.ended}' if self.ended else ''}"
        ]
        if self.holder:
            lines.append(f"held by {self.holder}")
        lines += [f"  {step}: {state}" for step, state in self.steps.items()]
        if self.error:
            lines.append(f"error[{self.error.get('slug')}]: {self.error.get('message')}")
        if self.environment:
            lines.append(f"environment {self.environment}")
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return lines


def read_status(host: Host, state_dir: Path, wait: bool = False) -> StatusReport:
    """Return where things stand; with `wait`, after the running run has ended.

    Raises:
        JournalUnreadableError: the journal is damaged.
    """
    state = StateDir(state_dir)
    holder = _holder(state)
    while wait and holder is not None:
        time.sleep(_POLL_S)
        holder = _holder(state)
    content = read_journal(state.journal)
    run_id = content.last_run
    if run_id is None:
        return StatusReport("running" if holder else "never-run", holder=holder)
    return _of_run(state, content, run_id, holder)


def _of_run(state: StateDir, content: JournalContent, run_id: str, holder: str | None) -> StatusReport:
    records = content.of_run(run_id)
    start = next(r for r in records if r.type == "run-started")
    last_start = max(n for n, r in enumerate(records) if r.type == "run-started")
    end = next((r for r in records[last_start:] if r.type in ("run-finished", "run-failed")), None)
    stack = str(start.data.get("stack", ""))
    live = Generations(state.envs(stack)).current()
    return StatusReport(
        state=_state(end, holder),
        run_id=run_id,
        purpose=str(start.data.get("purpose", "apply")),
        stack=stack,
        started=start.time,
        ended=end.time if end else None,
        holder=holder,
        error=end.data if end is not None and end.type == "run-failed" else None,
        steps=_steps(records),
        environment=str(live) if live else None,
        torn_bytes=content.torn_bytes,
    )


def _state(end: Record | None, holder: str | None) -> str:
    if end is None:
        return "running" if holder else "interrupted"
    return "done" if end.type == "run-finished" else "failed"


def _steps(records: Sequence[Record]) -> dict[str, str]:
    found: dict[str, str] = {}
    for record in records:
        if record.step is not None and record.type == "outcome":
            found[record.step] = "done" if record.data.get("ok") else f"failed: {record.data.get('detail', '')}"
    for act in open_acts(records):
        found[act.step] = "cut off"
    return found


def _holder(state: StateDir) -> str | None:
    """Say who holds the machine lock, None when it is free or cannot be looked at."""
    if not state.lock.exists():
        return None
    lock = MachineLock(state.lock, "status")
    try:
        lock.acquire()
    except BusyError as error:
        return error.value
    except PreflightError:
        return None
    lock.release()
    return None
