"""A plan as a person reads it in a minute: steps, wheels, what is missing, what loses, what is left out, how much.

Meaning is never carried by colour alone; the words say it. Widths follow the terminal, lines are not cut when piped.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from accel_install.plan.models import Plan, PlanLeftOut, PlanOverride, PlanWheel
from accel_install.report.units import human_bytes

__all__ = ["make_console", "print_plan", "table"]

_PIPED_WIDTH = 160


def make_console() -> Console:
    """Return a console on stdout: the terminal's width, or a wide fixed one when piped."""
    width = None if sys.stdout.isatty() else _PIPED_WIDTH
    return Console(width=width, highlight=False, soft_wrap=False)


def print_plan(plan: Plan, console: Console, *, all_files: bool = False) -> None:
    """Print the whole plan."""
    _print_head(plan, console)
    _print_steps(plan, console)
    _print_wheels(plan, console, all_files)
    _print_unresolved(plan, console)
    _print_overrides(plan.predicted_overrides, console)
    _print_left_out(plan.left_out, console)
    if all_files:
        _print_rejected(plan, console)
    _print_sums(plan, console)
    for warning in plan.warnings:
        console.print(Text(f"warning: {warning}"))


def table(title: str, *columns: str) -> Table:
    """Return an empty table of this tool's looks."""
    made = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold", title_style="bold")
    for column in columns:
        made.add_column(column, overflow="fold", justify="right" if column == "size" else "left")
    return made


def _print_head(plan: Plan, console: Console) -> None:
    target = plan.target
    libc = f"glibc {target['glibc']}" if target.get("glibc") else f"musl {target.get('musl')}"
    family = f"family {target['family']}" if target.get("family") else "accelerator not stated"
    chip = target.get("accelerator") or family
    console.print(Text(f"{plan.recipe}: {target['arch']}, Python {target['python']}, {libc}, {chip}", style="bold"))
    console.print(Text(f"row {plan.row} ({plan.row_status}, {plan.row_date}; {plan.row_source})"))
    console.print()


def _print_steps(plan: Plan, console: Console) -> None:
    shown = table("Steps", "#", "step", "decision", "why")
    for number, step in enumerate(plan.steps, 1):
        why = Text(step.reason)
        for artifact in step.artifacts:
            state = "found" if artifact.path else "to be supplied with --artifacts DIR"
            why.append(f"\n{artifact.name} ({state})")
        shown.add_row(str(number), Text(step.title), step.decision, why)
    console.print(shown)
    console.print()


def _print_wheels(plan: Plan, console: Console, all_files: bool) -> None:
    listed = [w for w in plan.wheels if w.bound or all_files]
    rest = [w for w in plan.wheels if not (w.bound or all_files)]
    shown = table("Wheels", "package", "version", "index", "size", "file")
    for wheel in listed:
        shown.add_row(wheel.name, wheel.version, wheel.index, human_bytes(wheel.size_bytes), Text(wheel.filename))
    if rest:
        largest = ", ".join(f"{w.name} {w.version}" for w in _largest(rest, 3))
        shown.add_row(
            f"and {len(rest)} more", "", "", human_bytes(_total(rest)), Text(f"largest: {largest} (--all-files lists all)")
        )
    console.print(shown)
    console.print()


def _largest(wheels: Iterable[PlanWheel], count: int) -> list[PlanWheel]:
    return sorted(wheels, key=lambda w: (-(w.size_bytes or 0), w.name))[:count]


def _total(wheels: Iterable[PlanWheel]) -> int:
    return sum(w.size_bytes or 0 for w in wheels)


def _print_unresolved(plan: Plan, console: Console) -> None:
    if not plan.unresolved:
        return
    shown = table("Unresolved: the plan is incomplete", "package", "version", "index", "why")
    for item in plan.unresolved:
        why = Text(f"{item.reason}: {item.detail}")
        if item.alternatives:
            why.append(f"\nalternative, never taken silently: {', '.join(item.alternatives)}")
        shown.add_row(item.name, item.version, item.index, why)
    console.print(shown)
    console.print()


def _print_overrides(overrides: list[PlanOverride], console: Console) -> None:
    pinned = [o for o in overrides if o.pinned is not None]
    if not pinned:
        return
    console.print(Text("Predicted overrides: a plain install would move these pins", style="bold"))
    for item in pinned:
        by = f" by {item.pinned_by}" if item.pinned_by else ""
        console.print(Text(f"  {item.by} wants {item.package} {item.wanted}, pinned {item.pinned}{by}"))
    console.print()


def _print_left_out(left_out: list[PlanLeftOut], console: Console) -> None:
    if not left_out:
        return
    console.print(Text("Left out", style="bold"))
    by_reason: dict[str, list[PlanLeftOut]] = defaultdict(list)
    for item in left_out:
        by_reason[item.reason].append(item)
    for reason, items in by_reason.items():
        names = ", ".join(_named(i) for i in items)
        console.print(Text(f"  {names}: {reason}"))
    console.print()


def _named(item: PlanLeftOut) -> str:
    return item.name if item.size_bytes is None else f"{item.name} ({human_bytes(item.size_bytes)})"


def _print_rejected(plan: Plan, console: Console) -> None:
    shown = table("Files of the wanted versions that were not picked", "file", "reason", "detail")
    for item in plan.rejected:
        shown.add_row(Text(item.filename), item.reason, Text(item.detail))
    console.print(shown)
    console.print()


def _print_sums(plan: Plan, console: Console) -> None:
    text = f"{len(plan.wheels)} packages, {human_bytes(plan.download_bytes)} to download"
    if plan.plain_install_bytes is not None:
        text += f"; a plain install would download {human_bytes(plan.plain_install_bytes)}"
    if plan.unresolved:
        text += f"; without {', '.join(f'{u.name} {u.version}'.strip() for u in plan.unresolved)}"
    console.print(Text(text, style="bold"))
