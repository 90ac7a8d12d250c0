"""The Python environment: a generation at its final path for exactly one set of wheels, or an adopted one."""

from __future__ import annotations

from pathlib import Path

from accel_install.errors import AccelError, PreflightError, StepFailedError
from accel_install.execute.context import RunContext
from accel_install.execute.generations import marker_state, write_marker
from accel_install.execute.kinds.base import StepKind
from accel_install.execute.uv_tool import CLEARED, uv_bin
from accel_install.facts.python_probe import find_python
from accel_install.plan.models import Decision, PlanStep, Probe

__all__ = ["KIND"]


class PythonEnv(StepKind):
    """Make `envs/<stack>/gen-N`. It is never renamed: console scripts hold their path."""

    name = "python_env"

    def probe(self, ctx: RunContext, step: PlanStep) -> Probe:
        env = ctx.env()
        if env is None:
            live = None if ctx.options.in_place else ctx.generations.current()
            if live is None:
                return Probe(state="absent", detail="no environment yet")
            return Probe(state="differs", detail=f"{live.name} holds another set of wheels")
        if step.id in ctx.doubted:
            return Probe(state="damaged", detail=f"the making of {env.name} was cut off")
        if not _works(env):
            return Probe(state="damaged", detail=f"{env.name} has no working interpreter")
        state = "adopted" if ctx.options.in_place else marker_state(env, ctx.digest)
        return Probe(state="present", detail=f"{env.name} is for this set of wheels ({state})")

    def preflight(self, ctx: RunContext, step: PlanStep, decision: Decision) -> list[AccelError]:
        return [*_place_problems(ctx), *(_interpreter_problems(ctx) if decision.acts else [])]

    def act(self, ctx: RunContext, step: PlanStep, decision: Decision) -> None:
        env = ctx.env() or ctx.generations.next()
        env.mkdir(parents=True, exist_ok=True)
        if not ctx.options.in_place:
            write_marker(env, ctx.digest, "building")
        argv = [uv_bin(), "venv", "--no-config", "--no-project", "--allow-existing", "--offline"]
        ctx.run_child(step.id, [*argv, "--python", _interpreter(ctx), str(env)], unset=CLEARED)
        ctx.doubted.discard(step.id)


KIND = PythonEnv()


def _works(env: Path) -> bool:
    settings = env / "pyvenv.cfg"
    return settings.is_file() and "home" in settings.read_text("utf-8", "replace") and (env / "bin/python").exists()


def _place_problems(ctx: RunContext) -> list[AccelError]:
    given = ctx.options.env
    if given is None or given.is_symlink():
        return []
    if ctx.options.in_place:
        return [] if (given / "pyvenv.cfg").is_file() else [_not_an_env(given)]
    return [_is_a_folder(given)] if given.exists() else []


def _interpreter_problems(ctx: RunContext) -> list[AccelError]:
    """Say before any layer is installed that there is no Python to build the environment with."""
    try:
        _interpreter(ctx)
    except StepFailedError as error:
        return [PreflightError("preflight.no-python", error.message, value=error.value, hint=error.hint)]
    return []


def _interpreter(ctx: RunContext) -> str:
    known = ctx.plan.python_executable
    if known is not None and Path(known).is_file():
        return known
    try:
        return find_python(ctx.host, ctx.plan.target.get("python")).executable
    except AccelError as error:
        raise StepFailedError("step.no-interpreter", error.message, value=error.value, hint=error.hint) from error


def _not_an_env(path: Path) -> PreflightError:
    return PreflightError(
        "preflight.not-an-environment",
        "--in-place needs an existing environment",
        value=str(path),
        expected="a folder with pyvenv.cfg",
    )


def _is_a_folder(path: Path) -> PreflightError:
    return PreflightError(
        "preflight.env-exists",
        "--env names an existing folder that this tool did not make",
        value=str(path),
        expected="a new path, or the symlink of an earlier run",
        hint="--in-place adopts it (weaker: no rollback)",
    )
