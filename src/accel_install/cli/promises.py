"""What to compare an environment with, and which environment: the argument, else the stack last applied here, else none."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from accel_install.cli.options import RunOptions
from accel_install.cli.session import Session
from accel_install.errors import StalePlanError, UsageError
from accel_install.execute.generations import marker_state, wheels_digest
from accel_install.lock.model import LockFile
from accel_install.lock.read import load_lock
from accel_install.lock.to_plan import plan_of
from accel_install.plan.models import Plan

__all__ = ["Subject", "find_subject", "is_lock_argument", "is_plan_argument", "load_plan", "newest_lock"]


def is_lock_argument(argument: str) -> bool:
    """Say whether an argument is a lockfile (ends in .toml)."""
    return argument.endswith(".toml")


def is_plan_argument(argument: str) -> bool:
    """Say whether an argument is a saved plan (ends in .json)."""
    return argument.endswith(".json")


def load_plan(path: Path) -> Plan:
    """Read a saved plan.

    Raises:
        UsageError: the file cannot be read. StalePlanError: it is not a plan of this version.
    """
    from pydantic import ValidationError

    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError("usage.plan-file", f"the plan cannot be read: {error}", value=str(path)) from error
    try:
        return Plan.model_validate(json.loads(text))
    except (ValueError, ValidationError) as error:
        first = str(error).splitlines()[0]
        raise StalePlanError(
            "plan.unreadable",
            f"not a saved plan of this version of the tool: {first}",
            value=str(path),
            expected="a file written by `accel-install plan -o FILE`",
            hint="accel-install plan RECIPE -o plan.json",
        ) from error


@dataclass(frozen=True)
class Subject:
    """What is verified or repaired: the promise (a plan or a lock, or None), the environment, the stack's name."""

    promised: Plan | LockFile | None
    env: Path | None
    stack: str | None


def find_subject(session: Session, argument: str | None, given: RunOptions) -> Subject:
    """Find promise and environment for `verify` and `repair`."""
    promised = _promise_of(session, argument, given)
    stack = _stack_of(promised)
    if given.env is not None:
        return Subject(promised, given.env.absolute(), stack)
    if stack is not None:
        return Subject(promised, session.state_dir / "envs" / stack, stack)
    return Subject(promised, None, None)


def _promise_of(session: Session, argument: str | None, given: RunOptions) -> Plan | LockFile | None:
    if argument is None:
        if given.env is not None and not _is_own_env(session, given.env):
            return None
        return newest_lock(session.state_dir)
    if is_lock_argument(argument):
        return load_lock(Path(argument))
    if is_plan_argument(argument):
        return load_plan(Path(argument))
    return _promise_of_recipe(session, argument, given)


def _promise_of_recipe(session: Session, argument: str, given: RunOptions) -> Plan | LockFile:
    """Prefer the lock that applying this recipe here wrote: the promise that was given, not today's forecast."""
    from accel_install.cli.wiring import plan_with
    from accel_install.recipe.load import load_recipe

    loaded = load_recipe(argument)
    lock = newest_lock(session.state_dir, loaded.recipe.name)
    return lock if lock is not None else plan_with(session, loaded)


def _is_own_env(session: Session, env: Path) -> bool:
    """Say whether an environment is the applied stack's: one of its generations, or an adopted one that carries its mark."""
    lock = newest_lock(session.state_dir)
    if lock is None:
        return False
    if marker_state(env, wheels_digest(plan_of(lock))) is not None:
        return True
    own = (session.state_dir / "envs" / lock.recipe.stack).resolve()
    real = env.resolve()
    return real == own or own in real.parents


def newest_lock(state_dir: Path, recipe: str | None = None) -> LockFile | None:
    """Return the lock that the last successful apply wrote, or None."""
    folder = state_dir / "lockfiles"
    try:
        files = sorted(folder.glob("*.lock.toml"), key=lambda p: p.stat().st_mtime, reverse=True)
    except OSError:
        return None
    for path in files:
        lock = load_lock(path)
        if recipe is None or lock.recipe.name == recipe:
            return lock
    return None


def _stack_of(promised: Plan | LockFile | None) -> str | None:
    if promised is None:
        return None
    return promised.stack if isinstance(promised, Plan) else promised.recipe.stack
