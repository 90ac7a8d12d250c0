"""The error taxonomy: every expected failure carries a slug, a value, an expectation and a way out.

An `AccelError` is an *expected* refusal or failure and is shown without a traceback. Anything else that reaches the
command line is a bug in the tool (exit code 1). The codes are fixed by the interface: other people's scripts read them.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

__all__ = [
    "AccelError",
    "BundleOrLockError",
    "BusyError",
    "DegradedError",
    "DriftFoundError",
    "ExitCode",
    "InDoubtError",
    "IndexUnavailableError",
    "InterruptedRunError",
    "JournalUnreadableError",
    "MachineError",
    "PreflightError",
    "RebootNeededError",
    "RecipeError",
    "ResolutionError",
    "StalePlanError",
    "StepFailedError",
    "UsageError",
    "worst_refusal",
]


class ExitCode(IntEnum):
    """Exit codes of the program; the numbers never change."""

    OK = 0
    BUG = 1
    USAGE = 2
    RECIPE = 10
    MACHINE = 11
    NO_RESOLUTION = 12
    INDEX_UNAVAILABLE = 13
    STALE_PLAN = 14
    PREFLIGHT = 15
    BAD_LOCK = 16
    STEP_FAILED = 20
    DRIFT = 21
    IN_DOUBT = 22
    DEGRADED = 23
    REBOOT = 30
    BUSY = 31
    JOURNAL = 32
    CHANGES = 50
    INTERRUPTED = 130


class AccelError(Exception):
    """An expected failure.

    Args:
        slug: stable dotted identifier such as `resolve.no-wheel-for-abi`.
        message: one sentence that says what failed.
        value: the offending value, as text.
        expected: what would have been accepted.
        hint: a command or action that helps, paste-ready where one exists.
        details: further machine-readable context, merged into JSON output (for example all problems of a recipe).
    """

    exit_code: ExitCode = ExitCode.BUG

    def __init__(
        self,
        slug: str,
        message: str,
        *,
        value: str | None = None,
        expected: str | None = None,
        hint: str | None = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.slug = slug
        self.message = message
        self.value = value
        self.expected = expected
        self.hint = hint
        self.details = details or {}

    def to_dict(self) -> dict[str, Any]:
        """Return the `error` object of the JSON interface."""
        return {
            "slug": self.slug,
            "message": self.message,
            "value": self.value,
            "expected": self.expected,
            "hint": self.hint,
            "exit_code": int(self.exit_code),
            **self.details,
        }

    def render(self) -> str:
        """Return the plain text shown on stderr: what failed, the value, what was expected, the hint."""
        lines = [f"error[{self.slug}]: {self.message}"]
        if self.value is not None:
            lines.append(f"  value: {self.value}")
        if self.expected is not None:
            lines.append(f"  expected: {self.expected}")
        if self.hint is not None:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)


class UsageError(AccelError):
    """Wrong options or arguments (exit 2)."""

    exit_code = ExitCode.USAGE


class RecipeError(AccelError):
    """A recipe is malformed or unknown (exit 10)."""

    exit_code = ExitCode.RECIPE


class MachineError(AccelError):
    """The machine is unsupported or a needed fact is unknown (exit 11)."""

    exit_code = ExitCode.MACHINE


class ResolutionError(AccelError):
    """No set of files satisfies the row for the target (exit 12)."""

    exit_code = ExitCode.NO_RESOLUTION


class IndexUnavailableError(AccelError):
    """The network or an index does not answer (exit 13)."""

    exit_code = ExitCode.INDEX_UNAVAILABLE


class StalePlanError(AccelError):
    """A saved plan no longer fits recipe, facts or index (exit 14)."""

    exit_code = ExitCode.STALE_PLAN


class PreflightError(AccelError):
    """The machine refuses before anything is touched: disk, permission, licence, device, tool (exit 15)."""

    exit_code = ExitCode.PREFLIGHT


class BundleOrLockError(AccelError):
    """A bundle, lockfile or signature is bad (exit 16)."""

    exit_code = ExitCode.BAD_LOCK


class StepFailedError(AccelError):
    """A step failed while it was acting (exit 20)."""

    exit_code = ExitCode.STEP_FAILED


class DriftFoundError(AccelError):
    """An override, drift or damage was found (exit 21)."""

    exit_code = ExitCode.DRIFT


class InDoubtError(AccelError):
    """After an interruption it cannot be told whether an act happened (exit 22)."""

    exit_code = ExitCode.IN_DOUBT


class DegradedError(AccelError):
    """Done, but an optional step failed (exit 23)."""

    exit_code = ExitCode.DEGRADED


class RebootNeededError(AccelError):
    """The run goes on after a reboot (exit 30)."""

    exit_code = ExitCode.REBOOT


class BusyError(AccelError):
    """The machine lock is held, or a child of an earlier run still works (exit 31)."""

    exit_code = ExitCode.BUSY


class JournalUnreadableError(AccelError):
    """The journal is damaged beyond its torn tail (exit 32)."""

    exit_code = ExitCode.JOURNAL


class InterruptedRunError(AccelError):
    """The run was interrupted by a signal and can be resumed (exit 130)."""

    exit_code = ExitCode.INTERRUPTED


_REFUSAL_ORDER = (ExitCode.RECIPE, ExitCode.MACHINE, ExitCode.INDEX_UNAVAILABLE, ExitCode.NO_RESOLUTION)


def worst_refusal(codes: list[ExitCode]) -> ExitCode:
    """Return the code that wins when several refusals hold at once (10, 11, 13, 12 in this order)."""
    for code in _REFUSAL_ORDER:
        if code in codes:
            return code
    return codes[0] if codes else ExitCode.OK
