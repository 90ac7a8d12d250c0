"""Errors of the system as failures of a step: what a full or read-only disk means to the person who sees it. Pure."""

from __future__ import annotations

import errno

from accel_install.errors import AccelError, StepFailedError

__all__ = ["as_failure"]


def as_failure(error: AccelError | OSError, doing: str) -> AccelError:
    """Return the error to raise; an `AccelError` stays what it is.

    Args:
        error: what came up.
        doing: the step or the part of the run, for the message.
    """
    if isinstance(error, AccelError):
        return error
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StepFailedError(
            "step.disk-full",
            f"no room left in {doing}",
            value=str(error.filename or ""),
            hint="free some, then accel-install resume",
        )
    return StepFailedError(
        "step.system-error", f"{doing}: {error.strerror}", value=str(error.filename or ""), hint="accel-install resume"
    )
