"""From a lockfile to a plan for this machine: exactly the locked files, refused where they cannot run."""

from __future__ import annotations

from pathlib import Path

from accel_install.cli.session import Session
from accel_install.cli.wiring import Situation, situation
from accel_install.errors import BundleOrLockError, MachineError
from accel_install.lock.compare import lock_fits
from accel_install.lock.model import LockFile
from accel_install.lock.read import load_lock
from accel_install.lock.to_plan import plan_of
from accel_install.plan.build import facts_digest
from accel_install.plan.models import Plan

__all__ = ["plan_of_lock"]


def plan_of_lock(session: Session, path: Path) -> Plan:
    """Return the plan that replays a lockfile here.

    Raises:
        BundleOrLockError: the lock is damaged or incomplete. MachineError: it is for another kind of machine.
    """
    lock = load_lock(path)
    if lock.unresolved:
        names = ", ".join(f"{u.name} {u.version}" for u in lock.unresolved)
        raise BundleOrLockError(
            "lock.incomplete",
            "the lockfile lacks packages that could not be had when it was made",
            value=names,
            expected="a lock of a complete plan",
            hint=f"accel-install lock {lock.recipe.name} with --index or --find-links for the rest",
        )
    about = situation(session)
    _check_fit(lock, path, about)
    plan = plan_of(lock, facts_digest(about.facts))
    return plan.model_copy(update={"python_executable": about.facts.python.executable, "described": False})


def _check_fit(lock: LockFile, path: Path, about: Situation) -> None:
    problems = lock_fits(lock, about.facts, about.target)
    if problems:
        raise MachineError(
            problems[0].slug,
            f"the lockfile is for another machine: {'; '.join(p.detail for p in problems)}",
            value=problems[0].actual,
            expected=problems[0].expected,
            hint=f"accel-install lock check {path}",
        )
