"""`accel-install status`: where the stack stands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from accel_install.cli import options as opt
from accel_install.cli.output import print_json, say

__all__ = ["command"]


def command(
    root: opt.Root = Path("/"),
    state_dir: opt.StateDirOption = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait until the running run has ended.")] = False,
    json: opt.Json = False,
) -> int:
    """Say what was run last here, how it ended, and what helps now. Reads only."""
    from accel_install.cli.session import Session
    from accel_install.execute.api import read_status

    session = Session(opt.RunOptions(root=root, state_dir=state_dir))
    report = read_status(session.host, session.state_dir, wait=wait)
    if json:
        print_json(report.to_dict())
    else:
        for line in report.lines():
            say(line)
    return 0
