"""What to do about an act that was cut off: a pure table. Nothing in doubt is repeated blindly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from accel_install.execute.journal import Record

__all__ = ["ChildSeen", "OpenAct", "Policy", "RecoveryAction", "open_acts", "recover"]

RecoveryAction = Literal["continue", "wait-child", "record-done", "repeat", "in-doubt"]
ChildSeen = Literal["none", "running", "gone", "unknown"]
Policy = Literal["repeat", "wait"]


@dataclass(frozen=True)
class OpenAct:
    """An intent without outcome: the step, its run, the decision it acted on, and its last recorded child."""

    step: str
    run_id: str
    decision: str
    child: dict[str, Any] | None


def open_acts(records: Sequence[Record]) -> list[OpenAct]:
    """Return the acts that were begun and neither ended nor settled, oldest first."""
    found: dict[str, OpenAct] = {}
    for record in records:
        if record.step is None:
            continue
        if record.type == "intent":
            found[record.step] = OpenAct(record.step, record.run_id or "", str(record.data.get("decision", "do")), None)
        elif record.type == "child" and record.step in found:
            act = found[record.step]
            found[record.step] = OpenAct(act.step, act.run_id, act.decision, record.data)
        elif record.type == "outcome":
            found.pop(record.step, None)
    return list(found.values())


def recover(open_act: bool, child: ChildSeen, group_alive: bool, probe: str, policy: Policy) -> RecoveryAction:
    """Return what to do about a step.

    Args:
        open_act: whether an intent without outcome stands in the journal.
        child: what became of the recorded child (`none`: no child was recorded yet).
        group_alive: whether any process of its group still runs (wrapper shells leave children behind).
        probe: state of the deep probe made now: absent, present, differs, damaged, unknown.
        policy: of the step kind; `repeat` acts may be done again, `wait` acts (vendor installers) not blindly.
    """
    if not open_act:
        return "continue"
    if child == "running" or group_alive:
        return "wait-child"
    if child == "unknown":
        return "in-doubt"
    if probe == "present":
        return "record-done"
    if policy == "repeat" or child == "none":
        return "repeat"
    return "repeat" if probe in ("absent", "differs") else "in-doubt"
