"""The engine with kinds made for the test: order, skips, failures, optional steps, drift, interruptions, a second run."""

from __future__ import annotations

import errno
import json
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from accel_install.errors import (
    DegradedError,
    DriftFoundError,
    InterruptedRunError,
    PreflightError,
    ResolutionError,
    StepFailedError,
)
from accel_install.events import Event
from accel_install.execute.api import ApplyOptions, EngineDeps, apply_plan, probe_steps, read_status, resume_run
from accel_install.execute.children import child_of
from accel_install.execute.context import RunContext
from accel_install.execute.journal import read_journal
from accel_install.execute.kinds import known_kinds
from accel_install.execute.kinds.base import StepKind
from accel_install.facts.models import MachineFacts
from accel_install.host.clock import now_utc
from accel_install.host.local import LocalHost
from accel_install.plan.models import Decision, Plan, PlanStep, PlanUnresolved, PlanWheel, Probe


class FakeKind(StepKind):
    """A step is done when its file exists; `hooks` act in its place."""

    name = "fake"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.acted: list[str] = []
        self.hooks: dict[str, Callable[[RunContext], None]] = {}

    def probe(self, ctx: RunContext, step: PlanStep) -> Probe:
        return Probe(state="present" if (self.folder / step.id).exists() else "absent", detail=step.id)

    def decide(self, step: PlanStep, probe: Probe) -> Decision:
        word = step.params.get("word") or ("skip" if probe.state == "present" else "do")
        return Decision(word=word, reason=probe.detail)

    def act(self, ctx: RunContext, step: PlanStep, decision: Decision) -> None:
        self.acted.append(step.id)
        if step.id in self.hooks:
            self.hooks[step.id](ctx)
        if not step.params.get("lazy"):
            (self.folder / step.id).touch()


class NoDownloads:
    def fetch(self, url: str, filename: str, sha256: str | None, size_bytes: int | None) -> Path:
        raise AssertionError("nothing is downloaded here")

    def prefetch(self, items: object) -> None:
        pass

    def close(self) -> None:
        pass


@dataclass
class Bench:
    """A scratch machine: the fake kind, the state folder, what was told."""

    kind: FakeKind
    state: Path
    options: ApplyOptions
    events: list[Event] = field(default_factory=list)
    locks: list[str] = field(default_factory=list)

    def deps(self) -> EngineDeps:
        def on_success(plan: Plan) -> Path:
            self.locks.append(plan.recipe)
            return self.state / "x.lock.toml"

        return EngineDeps(NoDownloads(), MachineFacts, now_utc, (self.events.append,), on_success)

    def apply(self, plan: Plan):
        return apply_plan(LocalHost(), plan, self.options, self.deps())

    def resume(self):
        return resume_run(LocalHost(), self.options, self.deps())

    def types(self) -> list[tuple[str, str | None]]:
        return [(r.type, r.step) for r in read_journal(self.state / "journal.jsonl").records]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    kind = FakeKind(tmp_path / "done")
    kind.folder.mkdir()
    monkeypatch.setitem(known_kinds(), "fake", kind)
    return Bench(kind, tmp_path / "state", ApplyOptions(tmp_path / "state"))


def plan_of(*ids: str, **changes: object) -> Plan:
    steps = [PlanStep(id=name, kind="fake", title=name.title()) for name in ids]
    return Plan(recipe="t", stack="t", row="r", target={"scope": "host"}, complete=True, steps=steps, **changes)


def test_steps_run_in_plan_order_each_between_intent_and_outcome(bench: Bench) -> None:
    result = bench.apply(plan_of("c", "a", "b"))
    assert bench.kind.acted == ["c", "a", "b"] and result.acted == ("c", "a", "b")
    around = [(kind, step) for step in ("c", "a", "b") for kind in ("intent", "outcome")]
    assert bench.types() == [("header", None), ("run-started", None), *around, ("run-finished", None)]
    assert bench.locks == ["t"] and result.lock is not None
    assert bench.events[0].type == "run-started" and bench.events[-1].type == "run-finished"


def test_what_is_there_is_kept_and_a_second_run_says_nothing_to_do(bench: Bench) -> None:
    (bench.kind.folder / "a").touch()
    assert bench.apply(plan_of("a", "b")).kept == ("a",)
    before = len(bench.types())
    again = bench.apply(plan_of("a", "b"))
    assert again.nothing_to_do and bench.kind.acted == ["b"]
    assert bench.types()[before:] == [("run-started", None), ("run-finished", None)]


def test_a_step_is_decided_again_right_before_it_acts(bench: Bench) -> None:
    bench.kind.hooks["a"] = lambda ctx: (bench.kind.folder / "b").touch()
    assert bench.apply(plan_of("a", "b")).kept == ("b",)


def test_a_failing_step_stops_the_run_and_resume_goes_on_from_there(bench: Bench) -> None:
    def fail(ctx: RunContext) -> None:
        raise StepFailedError("step.command-failed", "it broke", hint="read the log")

    bench.kind.hooks["b"] = fail
    with pytest.raises(StepFailedError, match="it broke"):
        bench.apply(plan_of("a", "b", "c"))
    assert bench.kind.acted == ["a", "b"] and bench.locks == []
    status = read_status(LocalHost(), bench.state)
    assert status.state == "failed" and status.steps == {"a": "done", "b": "failed: it broke"}
    del bench.kind.hooks["b"]
    assert bench.resume().acted == ("b", "c")
    assert bench.kind.acted == ["a", "b", "b", "c"]
    assert bench.resume().message == "nothing to resume: the last run ended"


def test_an_act_without_effect_is_not_believed(bench: Bench) -> None:
    plan = plan_of("a")
    plan.steps[0].params["lazy"] = True
    with pytest.raises(StepFailedError) as caught:
        bench.apply(plan)
    assert caught.value.slug == "step.not-verified"


def test_an_optional_step_that_fails_degrades_and_is_named(bench: Bench) -> None:
    def fail(ctx: RunContext) -> None:
        raise StepFailedError("step.command-failed", "no such extra")

    bench.kind.hooks["extra"] = fail
    plan = plan_of("a", "extra", "z")
    plan.steps[1].optional = True
    with pytest.raises(DegradedError) as caught:
        bench.apply(plan)
    assert caught.value.value == "extra" and int(caught.value.exit_code) == 23
    assert bench.kind.acted == ["a", "extra", "z"]


@pytest.mark.parametrize(("number", "slug"), [(errno.ENOSPC, "step.disk-full"), (errno.EROFS, "step.system-error")])
def test_an_error_of_the_system_is_told_as_such(bench: Bench, number: int, slug: str) -> None:
    def fail(ctx: RunContext) -> None:
        raise OSError(number, os.strerror(number), "/somewhere")

    bench.kind.hooks["a"] = fail
    with pytest.raises(StepFailedError) as caught:
        bench.apply(plan_of("a"))
    assert caught.value.slug == slug and "resume" in (caught.value.hint or "")


@pytest.mark.parametrize("failing", ["intent", "outcome", "run-finished"])
def test_a_journal_that_cannot_be_written_ends_the_run_with_a_word(bench: Bench, monkeypatch, failing: str) -> None:
    from accel_install.execute import journal

    real = journal.append_durable

    def full(path: Path, data: bytes) -> None:
        if json.loads(data)["type"] in (failing, "run-failed"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        real(path, data)

    monkeypatch.setattr(journal, "append_durable", full)
    with pytest.raises(StepFailedError) as caught:
        bench.apply(plan_of("a"))
    assert caught.value.slug == "journal.not-writable" and "journal.jsonl" in (caught.value.value or "")
    assert ("a" in bench.kind.acted) == (failing != "intent")
    monkeypatch.setattr(journal, "append_durable", real)
    bench.resume()
    assert bench.types()[-1] == ("run-finished", None) and (bench.kind.folder / "a").exists()


def test_refusals_of_all_steps_come_before_any_act(bench: Bench) -> None:
    plan = plan_of("a", "b")
    plan.steps[1].params["word"] = "refuse"
    with pytest.raises(PreflightError, match="B: b"):
        bench.apply(plan)
    assert bench.kind.acted == []


def test_unresolved_wheels_are_refused(bench: Bench) -> None:
    gap = PlanUnresolved(name="fork", version="3.2.2", index="vendor", reason="index-unreachable", detail="")
    with pytest.raises(ResolutionError, match="incomplete"):
        bench.apply(plan_of("a", unresolved=[gap]))
    assert bench.kind.acted == []


def test_probing_changes_nothing_and_needs_no_lock(bench: Bench) -> None:
    probes = probe_steps(LocalHost(), plan_of("a"), bench.options, bench.deps())
    assert probes["a"].state == "absent" and not bench.state.exists()
    assert read_status(LocalHost(), bench.state).state == "never-run"


def install(env: Path, name: str, version: str) -> None:
    site = env / "lib/python3.11/site-packages"
    for old in site.glob(f"{name}-*.dist-info"):
        for path in old.iterdir():
            path.unlink()
        old.rmdir()
    info = site / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "RECORD").write_text(f"{info.name}/METADATA,,\n{info.name}/RECORD,,\n")


def test_a_step_that_moves_an_earlier_pin_is_named_as_the_culprit(bench: Bench, tmp_path: Path) -> None:
    env = tmp_path / "env"
    env.mkdir()
    (env / "pyvenv.cfg").write_text("version = 3.11.7\n")
    bench.options = ApplyOptions(bench.state, env=env, in_place=True)
    wheel = PlanWheel(
        name="base", version="1.0", filename="base-1.0-py3-none-any.whl", url=None, index="default", sha256="0" * 64,
        size_bytes=1, step="pins",
    )  # fmt: skip
    plan = plan_of("pins", "mover", "late", wheels=[wheel])
    plan.steps[0].protects = ["*"]
    bench.kind.hooks["pins"] = lambda ctx: install(env, "base", "1.0")
    bench.kind.hooks["mover"] = lambda ctx: install(env, "base", "2.0")
    with pytest.raises(DriftFoundError) as caught:
        bench.apply(plan)
    assert int(caught.value.exit_code) == 21
    assert all(word in caught.value.message for word in ("base", "1.0", "2.0", "mover"))
    assert bench.kind.acted == ["pins", "mover"] and bench.locks == []
    checks = [r.data["clean"] for r in read_journal(bench.state / "journal.jsonl").records if r.type == "check"]
    assert checks == [True, False]


def send(number: int) -> Callable[[RunContext], None]:
    return lambda ctx: os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_resumably(bench: Bench, number: int) -> None:
    bench.kind.hooks["a"] = send(number)
    with pytest.raises(InterruptedRunError) as caught:
        bench.apply(plan_of("a", "b"))
    assert int(caught.value.exit_code) == 130 and caught.value.hint == "accel-install resume"
    assert bench.kind.acted == ["a"]
    del bench.kind.hooks["a"]
    assert bench.resume().acted == ("a", "b")


def test_a_second_signal_while_the_first_is_told_changes_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.kind.hooks["a"] = send(signal.SIGINT)
    plan = plan_of("a")
    reader = lambda event: os.kill(os.getpid(), signal.SIGINT) if event.type == "step-failed" else None  # noqa: E731
    deps = EngineDeps(NoDownloads(), MachineFacts, now_utc, (reader,))
    with pytest.raises(InterruptedRunError):
        apply_plan(LocalHost(), plan, bench.options, deps)
    assert bench.types()[-2:] == [("outcome", "a"), ("run-failed", None)]


def waited_for(ctx: RunContext) -> None:
    ctx.run_child("a", ["/bin/sh", "-c", f"kill -TERM {os.getpid()}; sleep 0.3; : > done-by-child"], protected=True)


def test_a_protected_child_is_waited_for_its_end_journaled_and_then_the_run_stops(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    bench.kind.hooks["a"] = waited_for
    with pytest.raises(InterruptedRunError):
        bench.apply(plan_of("a", "b"))
    assert (tmp_path / "done-by-child").exists() and bench.kind.acted == ["a"]
    outcomes = [r.data["ok"] for r in read_journal(bench.state / "journal.jsonl").records if r.type == "outcome"]
    assert outcomes == [True]


def test_an_unprotected_child_is_stopped_with_its_group(bench: Bench) -> None:
    def act(ctx: RunContext) -> None:
        ctx.run_child("a", ["/bin/sh", "-c", f"kill -TERM {os.getpid()}; sleep 600"])

    bench.kind.hooks["a"] = act
    with pytest.raises(InterruptedRunError):
        bench.apply(plan_of("a"))
    child = next(r for r in read_journal(bench.state / "journal.jsonl").records if r.type == "child")
    record = child_of(child.data)
    assert record is not None and not LocalHost().group_alive(record)


def test_a_signal_in_the_last_protected_step_stops_before_the_lock(bench: Bench, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    bench.kind.hooks["a"] = waited_for
    with pytest.raises(InterruptedRunError):
        bench.apply(plan_of("a"))
    assert bench.locks == []
    del bench.kind.hooks["a"]
    assert bench.resume().kept == ("a",) and bench.locks == ["t"]


def test_a_failed_command_is_told_with_the_end_of_its_log(bench: Bench) -> None:
    bench.kind.hooks["a"] = lambda ctx: ctx.run_child("a", ["/bin/sh", "-c", "echo first; echo the reason; exit 7"]) and None
    with pytest.raises(StepFailedError) as caught:
        bench.apply(plan_of("a"))
    assert "ended with 7" in caught.value.message and "the reason" in (caught.value.value or "")
    log = next(Path(bench.state).glob("runs/*/logs/a.log"))
    assert str(log) in (caught.value.hint or "")
