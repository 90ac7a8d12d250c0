"""`accel-install repair`: re-pin and heal what verify found."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from accel_install.cli import options as opt
from accel_install.cli.output import print_json, say
from accel_install.errors import ExitCode, PreflightError, UsageError

__all__ = ["command"]


def command(
    subject: Annotated[str | None, typer.Argument(help="A recipe, lockfile or plan; else the stack last applied.")] = None,
    root: opt.Root = Path("/"),
    env: opt.EnvPath = None,
    state_dir: opt.StateDirOption = None,
    deep: Annotated[bool, typer.Option("--deep", help="Hash every file before repairing.")] = False,
    index: opt.Index = None,
    find_links: opt.FindLinks = None,
    offline: opt.Offline = False,
    yes: opt.Yes = False,
    unattended: opt.Unattended = False,
    json: opt.Json = False,
) -> int:
    """Find what moved or broke, put it back from digest-checked wheels, and check again."""
    from accel_install.cli.finish import finish_run
    from accel_install.cli.promises import find_subject
    from accel_install.cli.running import check, run_plan
    from accel_install.cli.session import Session
    from accel_install.verify.repair import repair_plan

    given = opt.RunOptions.of(locals())
    session = Session(given)
    found = find_subject(session, subject, given)
    if found.promised is None or found.env is None:
        raise UsageError(
            "usage.nothing-applied",
            "nothing says what the environment should be",
            value=str(session.state_dir),
            expected="a stack applied here, or a recipe or lockfile as argument",
            hint="accel-install repair LOCK --env PATH",
        )
    report = check(session, found, deep)
    if report.clean:
        return _nothing(json)
    plan = repair_plan(found.promised, report.findings)
    if not json:
        from accel_install.cli.commands.verify import say_findings

        say_findings(report.findings)
    acting = [s for s in plan.steps if s.decision in ("do", "repair", "replace")]
    if not json and not _confirmed([f"{s.id}: {s.decision}: {s.reason}" for s in acting], given):
        raise PreflightError("preflight.not-confirmed", "not confirmed, nothing was changed", hint="repeat with --yes")
    return finish_run(run_plan(session, plan, json, "repair"), as_json=json)


def _nothing(json: bool) -> int:
    if json:
        print_json({"findings": [], "nothing_to_do": True})
    else:
        say("nothing to repair: everything is as promised")
    return int(ExitCode.OK)


def _confirmed(lines: list[str], given: opt.RunOptions) -> bool:
    for line in lines:
        say(line)
    if given.yes or given.unattended or not sys.stdin.isatty():
        return True
    return typer.confirm("Repair this?")
