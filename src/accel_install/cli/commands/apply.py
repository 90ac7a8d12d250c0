"""`accel-install apply`: execute a recipe, a saved plan, or a lockfile. Safe to repeat."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from accel_install.cli import options as opt
from accel_install.cli.options import RunOptions
from accel_install.cli.session import Session
from accel_install.errors import MachineError, PreflightError, StalePlanError, UsageError
from accel_install.plan.models import Plan

__all__ = ["command"]


def command(
    subject: Annotated[str | None, typer.Argument(help="A recipe or a saved plan (.json).")] = None,
    locked: Annotated[Path | None, typer.Option("--locked", metavar="LOCK", help="Install exactly this lockfile.")] = None,
    python: opt.Python = None,
    row: opt.Row = None,
    scope: opt.Scope = "host",
    root: opt.Root = Path("/"),
    env: opt.EnvPath = None,
    in_place: opt.InPlace = False,
    index: opt.Index = None,
    find_links: opt.FindLinks = None,
    artifacts: opt.Artifacts = None,
    requirements: opt.Requirements = None,
    offline: opt.Offline = False,
    refresh: opt.Refresh = False,
    state_dir: opt.StateDirOption = None,
    licences: opt.Licences = None,
    yes: opt.Yes = False,
    unattended: opt.Unattended = False,
    json: opt.Json = False,
) -> int:
    """Execute the plan step by step; what is already as wanted is left alone."""
    given = RunOptions.of(locals())
    if (subject is None) == (locked is None):
        raise UsageError(
            "usage.apply", "`apply` takes a recipe, a saved plan, or --locked LOCK", hint="accel-install apply --help"
        )
    from accel_install.cli.finish import finish_run
    from accel_install.cli.running import run_plan

    session = Session(given)
    plan = _locked_plan(session, locked) if locked is not None else _plan(session, str(subject), given)
    _check_applicable(plan)
    if not json and not _confirmed(plan, given):
        raise PreflightError("preflight.not-confirmed", "not confirmed, nothing was changed", hint="repeat with --yes")
    return finish_run(run_plan(session, plan, json), as_json=json)


def _plan(session: Session, subject: str, given: RunOptions) -> Plan:
    from accel_install.cli.promises import is_lock_argument, is_plan_argument, load_plan
    from accel_install.cli.wiring import fresh_plan_of, plan_with
    from accel_install.recipe.load import load_recipe

    if is_lock_argument(subject):
        raise UsageError(
            "usage.apply", "a lockfile is applied with --locked", value=subject, hint=f"accel-install apply --locked {subject}"
        )
    if not is_plan_argument(subject):
        return plan_with(session, load_recipe(subject))
    saved = load_plan(Path(subject))
    _check_applicable(saved)
    fresh, stale = fresh_plan_of(saved, given)
    if stale:
        raise StalePlanError(
            "plan.stale",
            f"the saved plan no longer fits: {'; '.join(stale)}",
            value=subject,
            expected="recipe, facts and index as they were when it was made",
            hint=f"accel-install plan {saved.recipe} -o {subject}",
        )
    return fresh


def _locked_plan(session: Session, path: Path | None) -> Plan:
    from accel_install.cli.locked import plan_of_lock

    assert path is not None  # noqa: S101 - checked by the caller
    return plan_of_lock(session, path)


def _check_applicable(plan: Plan) -> None:
    from accel_install.cli.show import plan_refusal

    if plan.described:
        raise MachineError(
            "machine.described",
            "a plan for a described machine cannot be applied here",
            value=f"{plan.target.get('arch')} {plan.target.get('accelerator') or ''}".strip(),
            expected="a plan made on the machine it is for",
            hint=f"accel-install apply {plan.recipe} on that machine, or --locked with its lockfile",
        )
    refusal = plan_refusal(plan)
    if refusal is not None:
        raise refusal


def _confirmed(plan: Plan, given: RunOptions) -> bool:
    """Ask a person at a terminal; a script that calls `apply` has decided already."""
    acting = [s for s in plan.steps if s.decision in ("do", "repair", "replace") and s.kind not in ("host_check", "smoke_test")]
    if given.yes or given.unattended or not acting or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return True
    from accel_install.report.console import make_console, print_plan

    print_plan(plan, make_console())
    return typer.confirm("Apply this plan?")
