"""`accel-install verify`: whether what was pinned still holds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from accel_install.cli import options as opt
from accel_install.cli.output import print_json, say
from accel_install.errors import ExitCode, UsageError
from accel_install.verify.check import VerifyReport
from accel_install.verify.findings import Finding

__all__ = ["command", "say_findings"]


def command(
    subject: Annotated[str | None, typer.Argument(help="A recipe, lockfile or plan; else the stack last applied.")] = None,
    root: opt.Root = Path("/"),
    env: opt.EnvPath = None,
    state_dir: opt.StateDirOption = None,
    deep: Annotated[bool, typer.Option("--deep", help="Hash every file instead of looking at sizes.")] = False,
    index: opt.Index = None,
    find_links: opt.FindLinks = None,
    offline: opt.Offline = False,
    json: opt.Json = False,
) -> int:
    """Compare the environment with its promise: pins, ownership, files."""
    from accel_install.cli.promises import find_subject
    from accel_install.cli.running import check
    from accel_install.cli.session import Session

    given = opt.RunOptions.of(locals())
    session = Session(given)
    found = find_subject(session, subject, given)
    if found.env is None:
        raise UsageError(
            "usage.nothing-applied",
            "no stack was applied here, so there is nothing to verify",
            value=str(session.state_dir),
            expected="a recipe, a lockfile, or --env PATH",
            hint="accel-install verify --env PATH",
        )
    report = check(session, found, deep)
    if json:
        print_json(report.model_dump(mode="json"))
    else:
        _say(report, found.env)
    return int(ExitCode.OK if report.clean else ExitCode.DRIFT)


def _say(report: VerifyReport, env: Path) -> None:
    say(f"environment {env}")
    say(f"promise: {report.promise or 'none (ownership, integrity and family rules only)'}")
    say_findings(report.findings)
    for conflict in report.expected_conflicts:
        say(f"expected: {conflict['text']} ({conflict['reason']})")
    faults = sum(f.severity == "fault" for f in report.findings)
    say(f"{faults} faults; on the device: not proven" if faults else "no fault; on the device: not proven")


def say_findings(findings: list[Finding]) -> None:
    """Print findings, worst first, each with culprit and remedy."""
    for item in findings:
        say(f"{item.severity}[{item.slug}]: {item.subject}: expected {item.expected}, found {item.actual}")
        if item.culprit:
            say(f"  culprit: {item.culprit}")
        if item.remedy:
            say(f"  remedy: {item.remedy}")
