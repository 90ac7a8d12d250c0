"""The whole cycle on a real environment with tiny real wheels: apply, no-op, drift by real pip and uv, repair, lock, replay."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_stack import Stack, local_stack, tree_of
from uv import find_uv_bin


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    with local_stack(tmp_path) as made:
        yield made


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def apply(tool, stack: Stack, state: Path, *more: object):
    return tool("apply", stack.recipe, *stack.options, "--state-dir", state, *more)


def uv_pip(env: Path, *arguments: object) -> None:
    argv = [find_uv_bin(), "pip", *map(str, arguments), "--no-config", "--python", str(env / "bin/python")]
    subprocess.run(argv, check=True, capture_output=True)


def live(state: Path) -> Path:
    return state / "envs/tiny/current"


def test_apply_then_apply_again_is_a_no_op_that_says_so(tool, stack: Stack, state: Path) -> None:
    first = apply(tool, stack, state)
    assert first.returncode == 0, first.stderr
    python = live(state) / "bin/python"
    said = subprocess.run([python, "-c", "import contested, base; print(contested.owner)"], capture_output=True, text=True)
    assert said.stdout == "fork\n"
    before = tree_of(state / "envs")
    again = apply(tool, stack, state)
    assert again.returncode == 0
    assert "nothing to do: all 6 steps are as planned" in again.stdout
    assert tree_of(state / "envs") == before
    assert not list((state / "envs").rglob("direct_url.json"))


def test_json_is_one_event_per_line(tool, stack: Stack, state: Path) -> None:
    ended = apply(tool, stack, state, "--json")
    events = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [e["seq"] for e in events] == list(range(1, len(events) + 1))
    assert {"seq", "time", "run_id", "step", "type"} <= set(events[0])
    assert events[0]["type"] == "run-started" and events[-1]["type"] == "run-finished"
    assert len({e["run_id"] for e in events}) == 1


def test_a_plan_on_this_machine_says_what_is_done(tool, stack: Stack, state: Path) -> None:
    apply(tool, stack, state)
    plan = json.loads(tool("plan", stack.recipe, *stack.options, "--state-dir", state, "--json").stdout)
    assert {s["id"]: s["decision"] for s in plan["steps"]} == dict.fromkeys(
        ["host-check", "python-env", "base", "app", "fork", "verify"], "skip"
    )
    changes = tool("plan", stack.recipe, *stack.options, "--state-dir", state, "--detailed-exitcode")
    assert changes.returncode == 0


@pytest.mark.parametrize("installer", ["uv", "pip"])
def test_a_moved_pin_is_found_named_and_repaired(tool, stack: Stack, state: Path, installer: str) -> None:
    apply(tool, stack, state)
    python = live(state) / "bin/python"
    wheels = stack.folders["default"]
    if installer == "uv":
        uv_pip(live(state), "install", "--no-index", "--find-links", wheels, "mover")
    else:
        argv = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--find-links", wheels, "mover"]
        assert subprocess.run(argv, env={**os.environ, "PIP_CONFIG_FILE": os.devnull}).returncode == 0
    found = tool("verify", "--state-dir", state, "--json")
    assert found.returncode == 21
    finding = next(f for f in json.loads(found.stdout)["findings"] if f["slug"] == "pins.version-moved")
    assert (finding["subject"], finding["expected"], finding["actual"]) == ("base", "1.0", "2.0")
    assert "mover 1.0" in finding["culprit"] and "base==2.0" in finding["culprit"]
    repaired = tool("repair", "--state-dir", state, "--yes", *stack.options)
    assert repaired.returncode == 0, repaired.stderr
    assert tool("verify", "--state-dir", state).returncode == 0


def test_expected_conflicts_are_shown_as_such_and_nothing_else(tool, stack: Stack, state: Path) -> None:
    apply(tool, stack, state)
    report = json.loads(tool("verify", "--state-dir", state, "--json").stdout)
    assert report["findings"] == [] or {f["severity"] for f in report["findings"]} == {"info"}
    texts = " ".join(c["text"] for c in report["expected_conflicts"])
    assert "base" in texts and "upstream" in texts
    assert report["proven"] is False


def test_upstream_over_the_fork_is_healed(tool, stack: Stack, state: Path) -> None:
    apply(tool, stack, state)
    uv_pip(live(state), "install", "--no-index", "--no-deps", "--find-links", stack.folders["default"], "upstream")
    assert tool("verify", "--state-dir", state).returncode == 21
    assert tool("repair", "--state-dir", state, "--yes", *stack.options).returncode == 0
    assert tool("verify", "--state-dir", state).returncode == 0
    said = subprocess.run(
        [live(state) / "bin/python", "-c", "import contested; print(contested.owner)"], capture_output=True, text=True
    )
    assert said.stdout == "fork\n"


def test_a_damaged_file_is_found_and_not_brought_back_by_a_cache(tool, stack: Stack, state: Path) -> None:
    apply(tool, stack, state)
    victim = next(live(state).resolve().rglob("base/data.txt"))
    good = victim.read_text()
    victim.write_text("damaged")
    assert tool("verify", "--state-dir", state).returncode == 21
    assert tool("repair", "--state-dir", state, "--yes", *stack.options).returncode == 0
    assert victim.read_text() == good


def test_a_lock_replays_against_another_mirror_and_gives_the_same_lock(tool, stack: Stack, state: Path, tmp_path: Path) -> None:
    apply(tool, stack, state)
    lock = next((state / "lockfiles").glob("*.lock.toml"))
    body = lock.read_text().split("[run]")[0]
    assert "://" not in body and "127.0.0.1" not in lock.read_text()
    other = tmp_path / "other"
    with local_stack(tmp_path / "mirror") as mirror:
        ended = tool(
            "apply",
            "--locked",
            lock,
            *mirror.options,
            "--state-dir",
            other,
            env={"ACCEL_INSTALL_CACHE_DIR": str(tmp_path / "c2")},
        )
    assert ended.returncode == 0, ended.stderr
    replayed = next((other / "lockfiles").glob("*.lock.toml"))
    assert replayed.read_text().split("[run]")[0] == body
    assert tool("lock", "diff", lock, replayed).returncode == 0


def test_a_tampered_lock_is_refused(tool, stack: Stack, state: Path) -> None:
    apply(tool, stack, state)
    lock = next((state / "lockfiles").glob("*.lock.toml"))
    lock.write_text(lock.read_text().replace('version = "1.5"', 'version = "1.6"'))
    ended = tool("apply", "--locked", lock, *stack.options, "--state-dir", state)
    assert ended.returncode == 16 and "lock.digest-mismatch" in ended.stderr


def test_a_new_set_of_wheels_becomes_a_new_generation(tool, stack: Stack, state: Path) -> None:
    apply(tool, stack, state)
    first = live(state).resolve()
    stack.recipe.write_text(
        stack.recipe.read_text()
        .replace("requirements: [app]", "requirements: [app, mover]")
        .replace('components: {base: "1.0"', 'components: {base: "1.0"')
    )
    ended = apply(tool, stack, state)
    assert ended.returncode == 0, ended.stderr
    assert live(state).resolve() != first and first.is_dir()


def test_a_stale_plan_is_refused_with_14(tool, stack: Stack, state: Path, tmp_path: Path) -> None:
    saved = tmp_path / "plan.json"
    assert tool("plan", stack.recipe, *stack.options, "--state-dir", state, "-o", saved).returncode == 0
    stack.recipe.write_text(stack.recipe.read_text().replace("tiny stack for tests", "changed"))
    ended = tool("apply", saved, *stack.options, "--state-dir", state)
    assert ended.returncode == 14 and "the recipe changed" in ended.stderr
    assert not (state / "envs").exists()


def test_a_fresh_plan_file_is_applied(tool, stack: Stack, state: Path, tmp_path: Path) -> None:
    saved = tmp_path / "plan.json"
    tool("plan", stack.recipe, *stack.options, "--state-dir", state, "-o", saved)
    assert tool("apply", saved, *stack.options, "--state-dir", state).returncode == 0


def test_env_option_is_a_symlink_to_the_generation(tool, stack: Stack, state: Path, tmp_path: Path) -> None:
    place = tmp_path / "my-env"
    assert apply(tool, stack, state, "--env", place).returncode == 0
    assert place.is_symlink() and place.resolve().name == "gen-1"
    taken = tmp_path / "taken"
    taken.mkdir()
    refused = apply(tool, stack, state, "--env", taken)
    assert refused.returncode == 15 and "preflight.env-exists" in refused.stderr


def test_an_existing_environment_is_adopted_in_place_and_verified_against_its_promise(
    tool, stack: Stack, state: Path, tmp_path: Path
) -> None:
    env = tmp_path / "mine"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", env], check=True)
    assert apply(tool, stack, state, "--env", env, "--in-place").returncode == 0
    again = apply(tool, stack, state, "--env", env, "--in-place")
    assert "nothing to do" in again.stdout, again.stdout
    assert not env.is_symlink() and not list((state / "envs").glob("tiny/gen-*"))
    uv_pip(env, "install", "--no-index", "--find-links", stack.folders["default"], "mover")
    found = tool("verify", "--state-dir", state, "--env", env, "--json")
    assert found.returncode == 21 and json.loads(found.stdout)["promise"]
