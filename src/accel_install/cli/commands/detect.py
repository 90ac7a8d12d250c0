"""`accel-install detect`: what this machine is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from accel_install.cli.options import Json, Python, Root
from accel_install.cli.output import print_json, say

__all__ = ["command"]


def command(
    root: Root = Path("/"),
    python: Python = None,
    save: Annotated[Path | None, typer.Option("--save", metavar="FILE", help="Write a machine file.")] = None,
    json: Json = False,
) -> None:
    """Print what this machine is; what could not be learnt is unknown, with its reason."""
    from accel_install.cli.session import make_host, this_machine
    from accel_install.facts.machine_file import save_machine
    from accel_install.facts.render import facts_rows

    facts = this_machine(make_host(root), python)
    if save is not None:
        save_machine(facts, save)
    if json:
        print_json(facts.model_dump(mode="json"))
        return
    rows = facts_rows(facts)
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        say(f"{name:<{width}}  {value}")
    if save is not None:
        say(f"saved to {save}")
