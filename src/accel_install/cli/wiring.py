"""The only place where the stages meet: facts, recipe, resolve, plan. Effects on the machine are wired in `running`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from accel_install.cli.options import RunOptions
from accel_install.cli.session import Session, this_machine
from accel_install.errors import PreflightError, UsageError
from accel_install.facts.describe import TargetOptions, describe_target
from accel_install.facts.machine_file import load_machine
from accel_install.facts.models import MachineFacts
from accel_install.facts.target import Target
from accel_install.plan.build import PlanInputs, build_plan, stale_reasons
from accel_install.plan.fit import check_fit
from accel_install.plan.layers import FoundArtifact
from accel_install.plan.models import Plan, Probe
from accel_install.recipe.dag import warm_up
from accel_install.recipe.load import LoadedRecipe, load_recipe
from accel_install.recipe.rows import load_rows

__all__ = ["Situation", "fresh_plan_of", "plan_recipe", "plan_with", "situation"]

_SCOPES = ("host", "container", "python")


class Situation:
    """The machine a call is about: its facts, the target made of them, whether it was described, notes."""

    def __init__(self, facts: MachineFacts, target: Target, described: bool, notes: list[str]) -> None:
        self.facts, self.target, self.described, self.notes = facts, target, described, notes


def situation(session: Session) -> Situation:
    """Learn what machine the call is about, from options, a machine file, or this machine.

    Raises:
        MachineError: a needed fact is unknown. UsageError: an option is malformed.
    """
    given = session.given
    if given.scope not in _SCOPES:
        raise UsageError("usage.scope", "unknown scope", value=given.scope, expected=", ".join(_SCOPES))
    machine = load_machine(given.machine) if given.machine is not None else None
    own = session.host.arch()
    foreign = None not in (given.arch, own) and given.arch != own  # then nothing of this machine counts
    local = None if machine is not None or foreign else this_machine(session.host, given.python)
    facts, target, described, notes = describe_target(
        local,
        TargetOptions(
            machine=machine,
            machine_name=given.machine.stem if given.machine else None,
            arch=given.arch,
            python=given.python,
            glibc=given.glibc,
            musl=given.musl,
            os=given.os,
            accelerator=given.accelerator,
            scope=given.scope,
        ),
    )
    return Situation(facts, target, described, list(notes))


def plan_recipe(name: str, given: RunOptions) -> Plan:
    """Plan a recipe for the machine of the call, with what is already there when it is this machine."""
    return plan_with(Session(given), load_recipe(name))


def plan_with(session: Session, loaded: LoadedRecipe) -> Plan:
    """Plan a loaded recipe. On this machine the steps are probed, so that the plan says what is done already."""
    about = situation(session)
    plan = _plan(session, loaded, about, {})
    if about.described or plan.unresolved:
        return plan
    from accel_install.cli.running import probes_for

    probes = probes_for(session, plan, about.facts)
    return _plan(session, loaded, about, probes) if probes else plan


def _plan(session: Session, loaded: LoadedRecipe, about: Situation, probes: Mapping[str, Probe]) -> Plan:
    from accel_install.resolve.choose import choose_row

    recipe, given = loaded.recipe, session.given
    warm_up()
    notes = check_fit(recipe, about.facts, about.target, about.described)
    choice = choose_row(
        recipe,
        about.target,
        given.row,
        client=session.index_client(recipe.indexes),
        http=session.http,
        cache_dir=session.cache_dir,
        compare=given.compare,
        offline=given.offline,
        refresh=given.refresh,
        user_requirements=_user_requirements(given.requirements),
    )
    return build_plan(
        PlanInputs(
            recipe=recipe,
            recipe_digest=loaded.digest,
            recipe_source=str(loaded.path),
            row=choice.row,
            all_rows=load_rows(recipe.platform),
            resolution=choice.resolution,
            target=about.target,
            facts=about.facts,
            described=about.described,
            warnings=[*about.notes, *notes, *choice.warnings],
            artifacts=_artifacts(given.artifacts),
            probes=probes,
            inputs=_inputs(given, loaded),
        )
    )


def _inputs(given: RunOptions, loaded: LoadedRecipe) -> dict[str, Any]:
    """Keep what planned this, without addresses: they are configuration and may hold credentials."""
    return {
        "recipe": str(loaded.path),
        "row": given.row,
        "scope": given.scope,
        "python": given.python,
        "requirements": str(given.requirements) if given.requirements else None,
        "find_links": bool(given.find_links),
    }


def _user_requirements(path: Path | None) -> tuple[str, ...]:
    """Read the user's requirement lines: PEP 508 only, no options, no includes."""
    if path is None:
        return ()
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError("usage.requirements", f"cannot read the requirements: {error}", value=str(path)) from error
    lines = [line.split(" #")[0].strip() for line in text.splitlines()]
    wanted = tuple(line for line in lines if line and not line.startswith("#"))
    _check_requirements(wanted, path)
    return wanted


def _check_requirements(lines: tuple[str, ...], path: Path) -> None:
    from packaging.requirements import InvalidRequirement, Requirement

    bad = []
    for line in lines:
        try:
            Requirement(line)
        except InvalidRequirement:
            bad.append(line)
    if bad:
        raise UsageError(
            "usage.requirements",
            f"{len(bad)} lines of {path} are not plain requirements",
            value="; ".join(bad[:5]),
            expected="NAME with version specifiers and markers (no options, no paths)",
            hint="give local wheels with --find-links DIR",
        )


def _artifacts(folder: Path | None) -> tuple[FoundArtifact, ...]:
    """List the vendor packages of `--artifacts` with their digests."""
    if folder is None:
        return ()
    from accel_install.digests import sha256_file

    if not folder.is_dir():
        raise PreflightError(
            "preflight.artifacts", "--artifacts is not a folder", value=str(folder), expected="a folder with vendor packages"
        )
    files = sorted(p for p in folder.iterdir() if p.is_file() and p.suffix in (".run", ".deb", ".rpm", ".zip"))
    try:
        return tuple(FoundArtifact(p.name, str(p.absolute()), sha256_file(p), p.stat().st_size) for p in files)
    except OSError as error:
        raise PreflightError("preflight.artifacts", f"a vendor package cannot be read: {error}", value=str(folder)) from error


def fresh_plan_of(saved: Plan, given: RunOptions) -> tuple[Plan, list[str]]:
    """Plan again what a saved plan was made of, and say in which respects the saved one is stale."""
    inputs = saved.inputs
    again = replace(
        given,
        row=saved.row,
        scope=str(saved.target.get("scope") or inputs.get("scope") or "host"),
        python=given.python or inputs.get("python"),
        requirements=given.requirements or (Path(inputs["requirements"]) if inputs.get("requirements") else None),
    )
    fresh = plan_recipe(str(saved.recipe_source or saved.recipe), again)
    return fresh, stale_reasons(saved, fresh)
