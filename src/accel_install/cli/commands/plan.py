"""`accel-install plan`: the whole stack as steps, wheels and reasons. Changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from accel_install.cli import options as opt
from accel_install.errors import UsageError

__all__ = ["command"]

_FORMATS = ("table", "dot", "mermaid")


def command(
    recipe: Annotated[str, typer.Argument(help="A recipe's name or file.")],
    machine: opt.MachineFile = None,
    arch: opt.Arch = None,
    python: opt.Python = None,
    glibc: opt.Glibc = None,
    musl: opt.Musl = None,
    os: opt.OsName = None,
    accelerator: opt.Accelerator = None,
    row: opt.Row = None,
    scope: opt.Scope = "host",
    root: opt.Root = Path("/"),
    env: opt.EnvPath = None,
    in_place: opt.InPlace = False,
    index: opt.Index = None,
    find_links: opt.FindLinks = None,
    artifacts: opt.Artifacts = None,
    requirements: opt.Requirements = None,
    compare: opt.Compare = False,
    offline: opt.Offline = False,
    refresh: opt.Refresh = False,
    state_dir: opt.StateDirOption = None,
    json: opt.Json = False,
    format: Annotated[str, typer.Option("--format", help="table, dot or mermaid.")] = "table",
    output: opt.Output = None,
    all_files: opt.AllFiles = False,
    detailed_exitcode: Annotated[bool, typer.Option("--detailed-exitcode", help="Exit 50 when something would change.")] = False,
) -> int:
    """Plan the whole stack and say why."""
    if format not in _FORMATS:
        raise UsageError("usage.format", "unknown format of a plan", value=format, expected=", ".join(_FORMATS))
    from accel_install.cli.show import finish_plan
    from accel_install.cli.wiring import plan_recipe

    given = opt.RunOptions.of(locals())
    plan = plan_recipe(recipe, given)
    return finish_plan(plan, as_json=json, format=format, output=output, all_files=all_files, detailed=detailed_exitcode)
