"""A step that moves a pinned package is caught right after it and named as the culprit, in a real environment."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from no_downloads import NoDownloads
from real_envs import make_env, uv_install
from tiny_wheels import make_wheel

from accel_install.errors import DriftFoundError, RecipeError, StepFailedError
from accel_install.execute import engine, kinds, preflight, settle
from accel_install.execute.api import ApplyOptions, EngineDeps, apply_plan, resume_run
from accel_install.execute.context import RunContext
from accel_install.execute.kinds import kind_of
from accel_install.execute.kinds.base import StepKind
from accel_install.facts.models import MachineFacts
from accel_install.host.clock import now_utc
from accel_install.host.local import LocalHost
from accel_install.plan.decide import decide_wheels
from accel_install.plan.models import Decision, Plan, PlanStep, PlanWheel, Probe


class Mark(StepKind):
    """Writes a file named like the step; `fail` and `lie` are params."""

    name = "mark"

    def path(self, ctx: RunContext, step: PlanStep) -> Path:
        return ctx.state.path / f"mark-{step.id}"

    def probe(self, ctx: RunContext, step: PlanStep) -> Probe:
        return Probe(state="present" if self.path(ctx, step).exists() else "absent")

    def decide(self, step: PlanStep, probe: Probe) -> Decision:
        return decide_wheels(step, probe)

    def act(self, ctx: RunContext, step: PlanStep, decision: Decision) -> None:
        if step.params.get("fail"):
            raise StepFailedError("step.test", "it fails on purpose")
        if not step.params.get("lie"):
            self.path(ctx, step).write_text("")


class Mover(Mark):
    """Does its work and, as vendor scripts do, replaces a pinned package on the way."""

    name = "mover"

    def act(self, ctx: RunContext, step: PlanStep, decision: Decision) -> None:
        super().act(ctx, step, decision)
        uv_install(ctx.require_env(), Path(str(step.params["links"])), "base==2.0")


@pytest.fixture(autouse=True)
def own_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {k.name: k for k in (Mark(), Mover())}

    def find(name: str) -> StepKind:
        return made.get(name) or kind_of(name)

    for module in (engine, preflight, settle):
        monkeypatch.setattr(module, "kind_of", find)
    monkeypatch.setattr("accel_install.execute.api.kind_of", find)
    assert kinds.known_kinds()


def step(step_id: str, kind: str = "mark", **more: object) -> PlanStep:
    return PlanStep(id=step_id, kind=kind, title=step_id, **more)


def plan(*steps: PlanStep, wheels: tuple[PlanWheel, ...] = ()) -> Plan:
    return Plan(recipe="t", stack="t", row="r", target={"python": None}, complete=True, steps=list(steps), wheels=list(wheels))


def run(state: Path, made: Plan | None, env: Path | None = None):
    options = ApplyOptions(state, env=env, in_place=env is not None)
    deps = EngineDeps(NoDownloads(), MachineFacts, now_utc)
    host = LocalHost()
    return resume_run(host, options, deps) if made is None else apply_plan(host, made, options, deps)


def test_an_unknown_kind_is_a_recipe_error(tmp_path: Path) -> None:
    with pytest.raises(RecipeError) as caught:
        run(tmp_path, plan(step("a", kind="no-such-kind")))
    assert "runfile" in (caught.value.expected or "")


def test_a_step_that_moves_a_pin_is_named_as_the_culprit(tmp_path: Path) -> None:
    links = tmp_path / "links"
    first = make_wheel(links, "base", "1.0")
    make_wheel(links, "base", "2.0")
    env = make_env(tmp_path / "env")
    uv_install(env, links, "base==1.0")
    wheel = PlanWheel(
        name="base",
        version="1.0",
        filename=first.name,
        url=first.as_uri(),
        index="default",
        sha256=None,
        size_bytes=None,
        step="base",
        bound=True,
    )
    made = plan(
        step("base", kind="wheels", protects=["*"]),
        step("vendor-script", kind="mover", params={"links": str(links)}),
        wheels=(wheel,),
    )
    with pytest.raises(DriftFoundError) as caught:
        run(tmp_path / "state", made, env)
    error = caught.value
    assert int(error.exit_code) == 21 and "vendor-script" in error.message
    assert "base" in error.message and "1.0" in error.message and "2.0" in error.message
    assert error.hint == "accel-install repair"
    shutil.rmtree(env)
