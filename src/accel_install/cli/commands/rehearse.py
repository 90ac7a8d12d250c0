"""`accel-install rehearse`: the whole run on a scratch machine with stand-ins."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from accel_install.cli.options import Json
from accel_install.cli.output import print_json, say
from accel_install.errors import ExitCode

__all__ = ["command"]


def command(
    recipe: Annotated[str, typer.Argument(help="A recipe's name.")],
    keep: Annotated[Path | None, typer.Option("--keep-root", metavar="DIR", help="Keep the scratch machine in DIR.")] = None,
    json: Json = False,
) -> int:
    """Run plan, apply, a kill, resume, a forced override and repair on a scratch machine. Needs no network."""
    from accel_install.rehearse.scenario import rehearse

    report = rehearse(recipe, out=_quiet if json else say, keep=keep, tool=[sys.executable, "-m", "accel_install"])
    if json:
        print_json(report.to_dict())
    return int(ExitCode.OK if report.ok else ExitCode.STEP_FAILED)


def _quiet(text: str) -> None:
    """Drop the running commentary: the JSON document holds it."""
