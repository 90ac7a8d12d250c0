"""The one stream of events. The screen, JSON lines and reports are readers of it.

Nothing here formats for people; readers subscribe and get plain `Event` values in order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Event", "EventStream", "Reader"]


@dataclass(frozen=True)
class Event:
    """One thing that happened during a run.

    Attributes:
        seq: position in the run, from 1.
        time: RFC 3339 UTC time stamp.
        run_id: identifier of the run.
        step: step id, or None for events of the run as a whole.
        type: one of `run-started`, `step-decided`, `step-started`, `step-finished`, `step-failed`, `download`,
            `finding`, `message`, `run-finished`.
        data: JSON-compatible payload, by type.
    """

    seq: int
    time: str
    run_id: str
    step: str | None
    type: str
    data: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of the line interface."""
        return {
            **self.data,
            "seq": self.seq,
            "time": self.time,
            "run_id": self.run_id,
            "step": self.step,
            "type": self.type,
        }


Reader = Callable[[Event], None]


class EventStream:
    """Numbers events and hands each to every reader.

    Args:
        run_id: identifier of the run.
        clock: returns the current time as RFC 3339 UTC text; injected so that the core stays free of clocks.
        readers: called in order with every event; they must not raise.
    """

    def __init__(self, run_id: str, clock: Callable[[], str], readers: tuple[Reader, ...] = ()) -> None:
        self.run_id = run_id
        self._clock = clock
        self._readers = readers
        self._seq = 0

    def emit(self, type: str, step: str | None = None, **data: Any) -> Event:
        """Emit one event and return it."""
        self._seq += 1
        event = Event(self._seq, self._clock(), self.run_id, step, type, data)
        for reader in self._readers:
            reader(event)
        return event
