"""Smoke test: imports in the new environment and the owners of contested modules. Passing is earned, then marked.

It proves that the environment loads, nothing about a device: that is the verification ladder's.
"""

from __future__ import annotations

import sys
from pathlib import Path

from accel_install.errors import StepFailedError
from accel_install.execute.context import RunContext
from accel_install.execute.generations import marker_state, write_marker
from accel_install.execute.kinds.base import StepKind
from accel_install.execute.uv_tool import CLEARED
from accel_install.plan.models import Decision, PlanStep, Probe
from accel_install.verify.environment import read_environment, site_dirs_of

__all__ = ["KIND"]

_CODE = "import importlib, sys\nfor name in sys.argv[1:]:\n    importlib.import_module(name)\n    print('imported', name)\n"
_DEFAULT_TIMEOUT_S = 300


class SmokeTest(StepKind):
    """Import the modules that the recipe names, each environment once."""

    name = "smoke_test"

    def probe(self, ctx: RunContext, step: PlanStep) -> Probe:
        env = ctx.env()
        if env is None:
            return Probe(state="absent", detail="no environment yet")
        wrong = _wrong_owners(ctx, step, env)
        if wrong:
            return Probe(state="absent", detail="; ".join(wrong), problems=wrong)
        if marker_state(env, ctx.digest) != "ready":
            return Probe(state="absent", detail="not tried yet for this set of wheels")
        return Probe(state="present", detail="passed for exactly this set of wheels")

    def act(self, ctx: RunContext, step: PlanStep, decision: Decision) -> None:
        env = ctx.require_env()
        wrong = _wrong_owners(ctx, step, env)
        if wrong:
            raise StepFailedError("step.wrong-owner", wrong[0], value="; ".join(wrong), hint="accel-install repair")
        imports = step.params.get("imports", [])
        if imports:
            limit_s = str(int(step.params.get("timeout_s", _DEFAULT_TIMEOUT_S)))
            argv = [sys.executable, "-I", str(_limiter()), limit_s, str(env / "bin/python"), "-I", "-c", _CODE, *imports]
            ctx.run_child(step.id, argv, env=step.params.get("env", {}), unset=CLEARED)
        write_marker(env, ctx.digest, "ready")

    def verify(self, ctx: RunContext, step: PlanStep) -> list[str]:
        env = ctx.require_env()
        return _wrong_owners(ctx, step, env)


KIND = SmokeTest()


def _limiter() -> Path:
    return Path(__file__).parents[1] / "time_limit.py"


def _wrong_owners(ctx: RunContext, step: PlanStep, env: Path) -> list[str]:
    planned = {w.name for w in ctx.plan.wheels}
    wanted = {m: o for m, o in step.params.get("module_owners", {}).items() if o in planned}
    if not wanted:
        return []
    problems = []
    dists = read_environment(site_dirs_of(env))
    for module, owner in wanted.items():
        paths = (f"{module}/__init__.py", f"{module}.py")
        owners = sorted(d.name for d in dists if any(e.path in paths for e in d.record or []))
        if owners != [owner] and owner not in owners:
            problems.append(f"module {module} belongs to {', '.join(owners) or 'nobody'}, not to {owner}")
    return problems
