"""When to ask again and how long to wait: few tries, short waits with jitter, Retry-After obeyed, a total bound.

Which exceptions are worth another try is said by the caller.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from tenacity import RetryCallState

__all__ = ["RetryPolicy", "TryAgain", "retry_after_s"]

T = TypeVar("T")


class TryAgain(Exception):
    """Raised by an attempt that a later one may mend; `wait_s` is what the server asked for, if it did."""

    def __init__(self, reason: str, wait_s: float | None = None) -> None:
        super().__init__(reason)
        self.wait_s = wait_s


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how patiently; `sleep` is injected by tests.

    Attributes:
        attempts: tries in all.
        first_wait_s: before the second try; it doubles from then on, and up to as much again is added by chance, so that
            many machines do not come back at the same moment.
        wait_cap_s: longest wait of our own choosing; what Retry-After asks for is obeyed beyond it.
        total_wait_s: all waits together; a server that asks for more is given up at once.
    """

    attempts: int = 3
    first_wait_s: float = 0.3
    wait_cap_s: float = 10.0
    total_wait_s: float = 60.0
    sleep: Callable[[float], None] = time.sleep

    def call(self, attempt: Callable[[], T], is_transient: Callable[[BaseException], bool]) -> T:
        """Call `attempt` until it returns, fails for good, or the policy's bounds are reached.

        Raises:
            Exception: the last one that `attempt` raised.
        """
        import tenacity  # only a machine that talks to the network pays for the import

        grown = tenacity.wait_exponential(multiplier=self.first_wait_s, max=self.wait_cap_s)
        jittered = grown + tenacity.wait_random(0, self.first_wait_s)

        def wait_s(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            asked_s = error.wait_s if isinstance(error, TryAgain) else None
            return jittered(state) if asked_s is None else asked_s

        def over(state: RetryCallState) -> bool:
            return state.attempt_number >= self.attempts or state.idle_for + state.upcoming_sleep > self.total_wait_s

        retrying = tenacity.Retrying(
            stop=over,
            wait=wait_s,
            retry=tenacity.retry_if_exception(lambda e: isinstance(e, TryAgain) or is_transient(e)),
            sleep=self.sleep,
            reraise=True,
        )
        return retrying(attempt)


def retry_after_s(value: str | None) -> float | None:
    """Return the seconds of a Retry-After header, a number or a date (RFC 9110, 10.2.3), or None."""
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - datetime.now(timezone.utc)).total_seconds())
