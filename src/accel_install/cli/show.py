"""The end of `plan`: print it, save it, choose the exit code."""

from __future__ import annotations

import json
from pathlib import Path

from accel_install.cli.output import print_json, report_error, say, write_file
from accel_install.errors import AccelError, ExitCode, IndexUnavailableError, ResolutionError
from accel_install.plan.models import Plan
from accel_install.resolve.index_errors import OUT_OF_REACH

__all__ = ["finish_plan", "plan_refusal"]


def plan_refusal(plan: Plan) -> AccelError | None:
    """Return the error an incomplete plan ends with: 13 when an index was out of reach, else 12; None when complete."""
    if not plan.unresolved:
        return None
    unreachable = [u for u in plan.unresolved if u.reason in OUT_OF_REACH]
    names = ", ".join(f"{u.name} {u.version}".strip() for u in plan.unresolved)
    if unreachable:
        indexes = sorted({u.index for u in unreachable})
        return IndexUnavailableError(
            "resolve.index-unreachable",
            f"the plan is incomplete: {len(plan.unresolved)} packages could not be had",
            value=names,
            expected=f"an answer from index {', '.join(indexes)}",
            hint=f"--index {indexes[0]}=URL of a mirror, or --find-links DIR with the missing wheels",
        )
    return ResolutionError(
        "resolve.unresolved",
        f"the plan is incomplete: {len(plan.unresolved)} packages are not there",
        value=names,
        expected="a fitting wheel on the index of each package",
        hint="--find-links DIR with the missing wheels, or another --row",
    )


def finish_plan(plan: Plan, *, as_json: bool, format: str, output: Path | None, all_files: bool, detailed: bool) -> int:
    """Show a plan, write `-o`, and return the exit code."""
    refusal = plan_refusal(plan)
    if output is not None:
        write_file(output, (json.dumps(plan.to_document(), indent=2, ensure_ascii=False) + "\n").encode())
    if as_json:
        return _finish_json(plan, refusal, detailed)
    _show(plan, format, all_files)
    if output is not None and format == "table":
        say(f"saved to {output}")
    if refusal is not None:
        return report_error(refusal, as_json=False)
    return _code(plan, detailed)


def _finish_json(plan: Plan, refusal: AccelError | None, detailed: bool) -> int:
    if refusal is not None:
        return report_error(refusal, as_json=True, document=plan.to_document())
    print_json(plan.to_document())
    return _code(plan, detailed)


def _show(plan: Plan, format: str, all_files: bool) -> None:
    if format == "dot":
        from accel_install.report.graph import to_dot

        say(to_dot(plan).rstrip())
    elif format == "mermaid":
        from accel_install.report.graph import to_mermaid

        say(to_mermaid(plan).rstrip())
    else:
        from accel_install.report.console import make_console, print_plan

        print_plan(plan, make_console(), all_files=all_files)


def _code(plan: Plan, detailed: bool) -> int:
    changes = any(s.decision in ("do", "repair", "replace") for s in plan.steps)
    return int(ExitCode.CHANGES) if detailed and changes else int(ExitCode.OK)
