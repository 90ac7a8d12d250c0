"""Wheels: exactly the planned files, by digest, without dependency resolution, from a page made for this step.

A path would leave direct_url.json and a folder with two builds fails; a generated simple page with `--require-hashes` does
neither (both tried with uv 0.13.9).
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from accel_install.execute.context import RunContext
from accel_install.execute.generations import marker_state, write_marker
from accel_install.execute.kinds.base import StepKind
from accel_install.execute.leftovers import sweep_uv_temporaries
from accel_install.execute.uv_tool import CLEARED, SAME_BYTES, uv_bin
from accel_install.execute.wheel_page import write_page
from accel_install.execute.wheel_probe import is_whole, probe_wheels
from accel_install.plan.models import Decision, PlanStep, PlanWheel, Probe
from accel_install.verify.environment import read_environment, site_dirs_of

__all__ = ["KIND", "Wheels"]


class Wheels(StepKind):
    """Install the wheels of a step into the environment of this plan."""

    name = "wheels"

    def probe(self, ctx: RunContext, step: PlanStep) -> Probe:
        env = ctx.env()
        wanted = ctx.plan.wheels_of(step.id)
        if not wanted:
            return Probe(state="present", detail="nothing to install for this row")
        if env is None:
            return Probe(state="absent", detail="no environment yet")
        return probe_wheels(env, wanted, ctx.plan, step, deep=step.id in ctx.doubted)

    def act(self, ctx: RunContext, step: PlanStep, decision: Decision) -> None:
        env = ctx.require_env()
        wanted = ctx.plan.wheels_of(step.id)
        if marker_state(env, ctx.digest) == "ready":
            write_marker(env, ctx.digest, "building")  # what was proven is not proven any more
        sweep_uv_temporaries(env)
        self.clear(ctx, step, env)
        seen = self.probe(ctx, step)
        again = sorted({*seen.problems, *step.params.get("reinstall", [])} & {w.name for w in wanted})
        _discard_broken(env, again)
        if step.id in ctx.doubted:
            shutil.rmtree(ctx.state.uv_cache, ignore_errors=True)  # what uv was unpacking may be empty files now
        self.install(ctx, step, env, wanted, again, fresh=decision.word == "repair")

    def clear(self, ctx: RunContext, step: PlanStep, env: Path) -> None:
        """Remove what must go before anything is installed."""
        names = step.params.get("remove", [])
        present = {d.name for d in read_environment(site_dirs_of(env))}
        gone = sorted(present & set(names))
        if gone:
            argv = [uv_bin(), "pip", "uninstall", "--no-config", "--python", str(env / "bin/python"), *gone]
            ctx.run_child(step.id, argv, unset=CLEARED)

    def install(
        self, ctx: RunContext, step: PlanStep, env: Path, wanted: Sequence[PlanWheel], again: Sequence[str], *, fresh: bool
    ) -> None:
        """Hand the files to uv. `fresh` trusts no unpacked cache: a repair unpacks from the checked wheel."""
        files = ctx.fetch(wanted)
        page, requirements = write_page(ctx.state.run(ctx.run_id) / "pages" / step.id, wanted, files)
        cache = ["--no-cache"] if fresh else ["--cache-dir", str(ctx.state.uv_cache)]
        argv = [
            *(uv_bin(), "pip", "install", "--no-config", *cache, "--python", str(env / "bin/python")),
            *("--default-index", page.as_uri(), "--require-hashes", "--no-deps", "--no-build", "--link-mode", "copy"),
            *(part for name in again for part in ("--reinstall-package", name)),
            *("--requirements", str(requirements)),
        ]
        ctx.run_child(step.id, argv, env=SAME_BYTES, unset=CLEARED)
        shutil.rmtree(page.parent, ignore_errors=True)

    def verify(self, ctx: RunContext, step: PlanStep) -> list[str]:
        plain = step.model_copy(update={"params": _without(step.params, ("reinstall", "remove"))})
        probe = self.probe(ctx, plain)
        return [] if probe.state == "present" else probe.problems or [probe.detail]


KIND = Wheels()


def _without(params: Mapping[str, object], names: Sequence[str]) -> dict[str, object]:
    return {k: v for k, v in params.items() if k not in names}


def _discard_broken(env: Path, names: Sequence[str]) -> None:
    """Delete dist-info folders that are not whole: no installer can remove those, and they shadow the new one."""
    for dist in read_environment(site_dirs_of(env)):
        if dist.name in names and not is_whole(dist) and dist.dist_info.is_dir():
            shutil.rmtree(dist.dist_info, ignore_errors=True)
