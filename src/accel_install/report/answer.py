"""The answer of `resolve` on the screen: wheels, what could not be had, and why files were not picked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from accel_install.report.console import table
from accel_install.report.units import human_bytes

__all__ = ["print_answer"]

_SHOWN = 12


def print_answer(document: Mapping[str, Any], console: Console, *, all_files: bool = False) -> None:
    """Print the JSON document of `resolve` for people."""
    target = document["target"]
    libc = f"glibc {target['glibc']}" if target["glibc"] else f"musl {target['musl']}"
    console.print(Text(f"{target['arch']}, Python {target['python']}, {libc}", style="bold"))
    if document["wheels"]:
        shown = table("Wheels", "package", "version", "index", "size", "file")
        for wheel in document["wheels"]:
            size = human_bytes(wheel["size_bytes"])
            shown.add_row(wheel["name"], wheel["version"], wheel["index"], size, Text(wheel["filename"]))
        console.print(shown)
    for hole in document["unresolved"]:
        console.print(Text(f"{hole['name']}{hole['version']}: {hole['reason']}: {hole['detail']}", style="bold"))
        if hole["alternatives"]:
            console.print(Text(f"  would fit, never taken silently: {', '.join(hole['alternatives'])}"))
    _print_rejected(document["rejected"], console, all_files)
    for warning in document["warnings"]:
        console.print(Text(f"warning: {warning}"))


def _print_rejected(rejected: list[dict[str, str]], console: Console, all_files: bool) -> None:
    if not rejected:
        return
    shown = table("Files that were not picked", "file", "reason", "detail")
    for item in rejected if all_files else rejected[:_SHOWN]:
        shown.add_row(Text(item["filename"]), item["reason"], Text(item["detail"]))
    console.print(shown)
    if len(rejected) > _SHOWN and not all_files:
        console.print(Text(f"and {len(rejected) - _SHOWN} more (--all-files lists all)"))
