"""The compiler fork: last, alone, after every other claimant of its module is gone."""

from __future__ import annotations

from pathlib import Path

from accel_install.execute.context import RunContext
from accel_install.execute.kinds.wheels import Wheels
from accel_install.execute.uv_tool import CLEARED, uv_bin
from accel_install.plan.models import PlanStep, Probe
from accel_install.verify.environment import read_environment, site_dirs_of

__all__ = ["KIND"]


class WheelsNoDeps(Wheels):
    """Install the fork; two owners of one folder damage each other, so all claimants go first and exactly one comes."""

    name = "wheels_nodeps"

    def probe(self, ctx: RunContext, step: PlanStep) -> Probe:
        probe = super().probe(ctx, step)
        env = ctx.env()
        rivals = _rivals(ctx, step, env) if env is not None else []
        if not rivals or probe.state == "absent":
            return probe
        return Probe(state="damaged", detail=f"{', '.join(rivals)} own the same module", problems=_own(ctx, step))

    def clear(self, ctx: RunContext, step: PlanStep, env: Path) -> None:
        super().clear(ctx, step, env)
        rivals = _rivals(ctx, step, env)
        if not rivals:
            return
        present = {d.name for d in read_environment(site_dirs_of(env))}
        gone = sorted({*rivals, *(n for n in _own(ctx, step) if n in present)})
        argv = [uv_bin(), "pip", "uninstall", "--no-config", "--python", str(env / "bin/python"), *gone]
        ctx.run_child(step.id, argv, unset=CLEARED)


KIND = WheelsNoDeps()


def _own(ctx: RunContext, step: PlanStep) -> list[str]:
    return [w.name for w in ctx.plan.wheels_of(step.id)]


def _rivals(ctx: RunContext, step: PlanStep, env: Path) -> list[str]:
    """Return installed members of the families that this step provides, other than planned packages."""
    own = set(_own(ctx, step))
    planned = {w.name for w in ctx.plan.wheels}
    families = [f for f in ctx.plan.exclusive if f.get("provider") in own]
    members = {m for f in families for m in f.get("members", [])} - planned
    return sorted(members & {d.name for d in read_environment(site_dirs_of(env))}) if members else []
