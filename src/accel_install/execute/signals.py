"""Ctrl-C and SIGTERM during a run: acts that may be repeated are stopped, vendor installers are waited for."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from accel_install.errors import InterruptedRunError

__all__ = ["Interrupts"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Install handlers while the context is open. While `protected`, a signal is only remembered."""

    def __init__(self) -> None:
        self.protected = False
        self.requested = False
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._previous = {s: signal.signal(s, self._handle) for s in _SIGNALS}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Only remember signals until this context ends: an act must come to its end and be journaled."""
        before, self.protected = self.protected, True
        try:
            yield
        finally:
            self.protected = before

    def check(self) -> None:
        """Raise when a signal was remembered.

        Raises:
            InterruptedRunError: a signal came.
        """
        if self.requested:
            raise interrupted()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
        if not self.protected:
            raise interrupted()


def interrupted() -> InterruptedRunError:
    """Return the error of an interrupted run."""
    return InterruptedRunError(
        "run.interrupted", "the run was interrupted; what was done is journaled", hint="accel-install resume"
    )
