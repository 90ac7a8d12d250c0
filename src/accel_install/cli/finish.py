"""The end of a run that acted: what is said and which code it ends with."""

from __future__ import annotations

from accel_install.cli.output import say
from accel_install.errors import ExitCode
from accel_install.execute.api import RunResult

__all__ = ["finish_run"]


def finish_run(result: RunResult, *, as_json: bool) -> int:
    """Say how the run ended. With JSON the last event has said it already."""
    if not as_json:
        say(result.summary())
    return int(ExitCode.OK)
