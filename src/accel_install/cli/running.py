"""Wiring of what acts: the engine with its downloads, probes, pin checks and the lock it leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from accel_install.cli.promises import Subject
from accel_install.cli.session import Session, this_machine
from accel_install.errors import RecipeError
from accel_install.execute.api import (
    ApplyOptions,
    EngineDeps,
    RunResult,
    apply_plan,
    last_clean_check,
    probe_steps,
    resume_run,
)
from accel_install.facts.models import MachineFacts
from accel_install.host.clock import now_utc
from accel_install.host.durable import write_atomic
from accel_install.lock.from_plan import lock_of
from accel_install.lock.model import LockFile
from accel_install.lock.names import lock_filename, machine_name
from accel_install.lock.write import lock_bytes
from accel_install.plan.models import Plan, Probe
from accel_install.recipe.models import IndexSpec

if TYPE_CHECKING:
    from accel_install.verify.check import VerifyReport
    from accel_install.verify.promise import Promise

__all__ = ["apply_options", "check", "probes_for", "resume", "run_plan"]


def apply_options(session: Session) -> ApplyOptions:
    """Return the engine's options from those of the call."""
    given = session.given
    return ApplyOptions(
        state_dir=session.state_dir,
        env=given.env.absolute() if given.env else None,
        in_place=given.in_place,
        artifacts=given.artifacts,
        accepted_licences=frozenset(given.licences),
        unattended=given.unattended or given.yes,
        wait=given.wait,
        cache_dir=session.cache_dir,
    )


def engine_deps(session: Session, as_json: bool) -> EngineDeps:
    """Return what the engine needs besides the plan."""
    from accel_install.report.events import json_reader, text_reader

    return EngineDeps(
        downloader=session.downloader,
        collect_facts=lambda: this_machine(session.host, session.given.python),
        clock=now_utc,
        readers=(json_reader() if as_json else text_reader(),),
        on_success=lambda plan: write_machine_lock(session, plan),
    )


def write_machine_lock(session: Session, plan: Plan) -> Path:
    """Write the lock of what was applied to `<state-dir>/lockfiles/` and return its path."""
    facts = this_machine(session.host, session.given.python)
    host = session.host_name()
    name = machine_name(plan.recipe, plan.target, host=host)
    path = session.state_dir / "lockfiles" / lock_filename(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    run = {"applied_at": now_utc(), "host": host or "", "verified_level": "none"}
    lock = lock_of(plan, facts, run, tools=session.tools(), digests=_digests(session, plan))
    write_atomic(path, lock_bytes(lock))
    return path


def _digests(session: Session, plan: Plan) -> dict[str, str]:
    """Return digests of wheels whose page gave none: the store keeps each file under the digest it was found to have."""
    folder = session.cache_dir / "artifacts" / "sha256"
    found = {}
    for wheel in plan.wheels:
        paths = [] if wheel.sha256 else sorted(folder.glob(f"*/*/{wheel.filename}"), key=lambda p: p.stat().st_mtime)
        if paths:
            found[wheel.filename] = paths[-1].parent.name
    return found


def probes_for(session: Session, plan: Plan, facts: MachineFacts) -> Mapping[str, Probe]:
    """Look at this machine for the steps that are not system layers, without changing anything."""
    deps = engine_deps(session, as_json=False)
    probes = probe_steps(session.host, plan, apply_options(session), deps)
    layers = {s.id for s in plan.steps if s.layer is not None}
    return {step: probe for step, probe in probes.items() if step not in layers}


def run_plan(session: Session, plan: Plan, as_json: bool, purpose: str = "apply") -> RunResult:
    """Apply a plan on this machine, with the wheels' addresses filled in where a lock left them out."""
    located = _located(session, plan)
    return apply_plan(session.host, located, apply_options(session), engine_deps(session, as_json), purpose=purpose)


def _located(session: Session, plan: Plan) -> Plan:
    missing = [w for w in plan.wheels if w.url is None]
    if not missing:
        return plan
    from accel_install.resolve.locate import locate

    client = session.index_client(_indexes_of(plan))
    found = {w.filename: w for w in locate(missing, client, session.store)}
    return plan.model_copy(update={"wheels": [found.get(w.filename, w) for w in plan.wheels]})


def _indexes_of(plan: Plan) -> Mapping[str, IndexSpec]:
    """Return the indexes that the plan's recipe names; a lock replays without its recipe, by `--index` alone."""
    from accel_install.recipe.load import load_recipe

    try:
        return load_recipe(plan.recipe_source or plan.recipe).recipe.indexes
    except RecipeError:
        return {}


def resume(session: Session, as_json: bool) -> RunResult:
    """Go on with the run that was cut off here."""
    return resume_run(session.host, apply_options(session), engine_deps(session, as_json))


def check(session: Session, subject: Subject, deep: bool) -> VerifyReport:
    """Check the environment of a subject against its promise."""
    from accel_install.verify.check import verify_environment

    if subject.env is None:
        raise ValueError("a subject without environment cannot be checked")
    return verify_environment(subject.env, _promise(subject.promised), deep, last_good=last_clean_check(session.state_dir))


def _promise(promised: Plan | LockFile | None) -> Promise | None:
    from accel_install.verify.promise import promise_of_lock, promise_of_plan

    if isinstance(promised, Plan):
        return promise_of_plan(promised)
    return None if promised is None else promise_of_lock(promised)
