"""`accel-install resume`: go on after a crash, a reboot or an interruption."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from accel_install.cli import options as opt

__all__ = ["command"]


def command(
    root: opt.Root = Path("/"),
    env: opt.EnvPath = None,
    state_dir: opt.StateDirOption = None,
    index: opt.Index = None,
    find_links: opt.FindLinks = None,
    artifacts: opt.Artifacts = None,
    licences: opt.Licences = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for a child of the interrupted run instead of ending 31.")] = False,
    yes: opt.Yes = False,
    unattended: opt.Unattended = False,
    json: opt.Json = False,
) -> int:
    """Look at what was cut off, settle it, and go on."""
    from accel_install.cli.finish import finish_run
    from accel_install.cli.running import resume
    from accel_install.cli.session import Session

    given = opt.RunOptions.of(locals())
    return finish_run(resume(Session(given), json), as_json=json)
