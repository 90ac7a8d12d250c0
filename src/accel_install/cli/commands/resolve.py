"""`accel-install resolve`: wheels for any requirement, target and index, with reasons. No recipe needed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from accel_install.cli import options as opt

__all__ = ["command"]


def command(
    requirements: Annotated[list[str], typer.Argument(metavar="REQ...", help="Requirements, such as 'torch==2.10.0'.")],
    machine: opt.MachineFile = None,
    arch: opt.Arch = None,
    python: opt.Python = None,
    glibc: opt.Glibc = None,
    musl: opt.Musl = None,
    os: opt.OsName = None,
    accelerator: opt.Accelerator = None,
    root: opt.Root = Path("/"),
    index: opt.Index = None,
    find_links: opt.FindLinks = None,
    package_index: Annotated[
        list[str] | None,
        typer.Option("--package-index", metavar="NAME=PKG[,PKG]", help="The index that a package must come from."),
    ] = None,
    variant: Annotated[
        list[str] | None, typer.Option("--variant", metavar="PKG=LABEL", help="The variant label a wheel must carry.")
    ] = None,
    deps: Annotated[bool, typer.Option("--deps", help="Add the closure of the chosen files.")] = False,
    offline: opt.Offline = False,
    refresh: opt.Refresh = False,
    json: opt.Json = False,
    all_files: opt.AllFiles = False,
) -> int:
    """Pick wheels and say why."""
    from accel_install.cli.asking import Request, ask
    from accel_install.cli.show_answer import finish_answer

    given = opt.RunOptions.of({**locals(), "requirements": None, "scope": "python"})
    request = Request(tuple(requirements), tuple(package_index or ()), tuple(variant or ()), deps, all_files)
    return finish_answer(ask(given, request), as_json=json, all_files=all_files)
