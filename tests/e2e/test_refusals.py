"""Bad input and bad machines: each its exit code, its slug, its hint, and nothing half-done."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_stack import Stack, local_stack


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    with local_stack(tmp_path) as made:
        yield made


HOLD_THE_LOCK = """import sys, time, pathlib
from accel_install.host.lock import MachineLock
with MachineLock(pathlib.Path(sys.argv[1]), 'apply other'):
    print('held', flush=True)
    time.sleep(60)
"""
TARGET = ("--arch", "aarch64", "--python", "3.11", "--glibc", "2.34")


@pytest.mark.parametrize(
    ("arguments", "code", "slug"),
    [
        (("plan", "no-such-recipe"), 10, "recipe.unknown"),
        (("plan", "ascend-910b", *TARGET, "--accelerator", "FOO9"), 11, "machine.unknown-accelerator"),
        (("plan", "ascend-910b", *TARGET, "--accelerator", "310P3"), 11, "machine.wrong-accelerator"),
        (("plan", "ascend-910b", "--arch", "riscv64", "--python", "3.11", "--glibc", "2.34"), 11, "machine.arch-unsupported"),
        (("plan", "ascend-910b", "--arch", "aarch64", "--python", "3.11"), 11, "machine.libc-unknown"),
        (("plan", "ascend-910b", "--arch", "aarch64", "--glibc", "2.34"), 11, "machine.python-unknown"),
        (("plan", "ascend-910b", "--arch", "aarch64", "--python", "three", "--glibc", "2.34"), 2, "usage.python"),
        (("plan", "ascend-910b", *TARGET, "--scope", "moon"), 2, "usage.scope"),
        (("plan", "ascend-910b", *TARGET, "--index", "nonsense"), 2, "usage.index"),
        (("plan", "ascend-910b", *TARGET, "--find-links", "/no/such/folder"), 2, "usage.find-links"),
        (("plan", "ascend-910b", *TARGET, "--row", "no-such-row"), 10, "recipe.unknown-row"),
        (("plan", "ascend-910b", *TARGET, "--format", "pdf"), 2, "usage.format"),
        (("plan", "ascend-910b", "--no-such-option"), 2, "usage.wrong"),
        (("apply",), 2, "usage.apply"),
        (("apply", "x.lock.toml"), 2, "usage.apply"),
        (("apply", "--locked", "/no/such.lock.toml"), 16, "lock.unreadable"),
        (("apply", "/no/such/plan.json"), 2, "usage.plan-file"),
        (("verify", "/no/such.lock.toml"), 16, "lock.unreadable"),
        (("lock", "diff", "a.toml"), 2, "usage.lock"),
        (("repair", "--state-dir", "/nonexistent-state"), 2, "usage.nothing-applied"),
        (("rehearse", "cpu"), 10, "recipe.no-stand-ins"),
    ],
)
def test_refusals_have_code_slug_and_no_traceback(tool, arguments: tuple[str, ...], code: int, slug: str) -> None:
    ended = tool(*arguments, "--json")
    assert ended.returncode == code, ended.stderr
    assert "Traceback" not in ended.stderr + ended.stdout
    document = json.loads(ended.stdout)
    assert document["error"]["slug"] == slug and document["error"]["exit_code"] == code
    assert {"message", "value", "expected", "hint"} <= set(document["error"])


def test_a_malformed_recipe_tells_all_problems_with_lines(tool, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(
        "schema: 1\nname: bad\ntitle: bad\nplatform: x\nrequirements: ['not a requirement!!']\npackages:\n"
        "  torch: {role: nonsense}\n  numpy: {role: torch-family, colour: red}\nrows: []\nsteps:\n"
        "  - {id: a, kind: wheels}\n"
    )
    ended = tool("recipes", "check", bad, "--json")
    assert ended.returncode == 10
    problems = json.loads(ended.stdout)["error"]["problems"]
    assert {(p["line"]) for p in problems} >= {7, 8, 11}
    assert all(p["file"] == str(bad) for p in problems) and len(problems) >= 3


def test_an_unreachable_index_is_13_and_still_shows_the_plan(tool, stack: Stack) -> None:
    ended = tool("plan", stack.recipe, "--index", "default=http://127.0.0.1:9/simple", "--json")
    assert ended.returncode == 13
    plan = json.loads(ended.stdout)
    assert plan["complete"] is False and plan["steps"] and {u["reason"] for u in plan["unresolved"]} == {"index-unreachable"}
    assert "--index" in plan["error"]["hint"]


def test_a_missing_vendor_wheel_is_unresolved_and_find_links_completes_it(tool, stack: Stack, tmp_path: Path) -> None:
    default = stack.options[:2]
    ended = tool("plan", stack.recipe, *default, "--json")
    plan = json.loads(ended.stdout)
    assert ended.returncode == 13 and [u["name"] for u in plan["unresolved"]] == ["fork"]
    assert {s["id"]: s["decision"] for s in plan["steps"]}["fork"] == "defer"
    refused = tool("apply", stack.recipe, *default, "--state-dir", tmp_path / "s")
    assert refused.returncode == 13 and not (tmp_path / "s/envs").exists()
    whole = tool("plan", stack.recipe, *default, "--find-links", stack.folders["vendor"], "--json")
    assert whole.returncode == 0
    fork = next(w for w in json.loads(whole.stdout)["wheels"] if w["name"] == "fork")
    assert fork["index"] == "find-links"


def test_no_fitting_wheel_is_12(tool, stack: Stack) -> None:
    for wheel in stack.folders["default"].glob("base-1.0-*"):
        wheel.rename(wheel.with_name("base-1.0-cp38-cp38-manylinux_2_17_s390x.whl"))
    ended = tool("plan", stack.recipe, *stack.options, "--json")
    assert ended.returncode == 12
    assert "base 1.0" in json.loads(ended.stdout)["error"]["value"]


def test_a_full_disk_is_refused_before_anything_is_touched(tool, tmp_path: Path) -> None:
    with local_stack(tmp_path, env_bytes=10**16) as stack:
        ended = tool("apply", stack.recipe, *stack.options, "--state-dir", tmp_path / "s")
    assert ended.returncode == 15 and "preflight.disk-full" in ended.stderr
    assert not (tmp_path / "s/envs").exists()


def test_a_state_folder_that_cannot_be_written_is_15(tool, stack: Stack, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = tool("apply", stack.recipe, *stack.options, "--state-dir", tmp_path / "file/state")
    assert ended.returncode == 15 and "preflight.state-dir-not-writable" in ended.stderr


def test_a_second_run_at_the_same_time_is_31(tool, tool_env: dict[str, str], stack: Stack, tmp_path: Path) -> None:
    state = tmp_path / "s"
    state.mkdir()
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD_THE_LOCK, state / "lock"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "held\n"
        ended = tool("apply", stack.recipe, *stack.options, "--state-dir", state, "--json")
        assert ended.returncode == 31
        assert str(holder.pid) in ended.stderr and "apply other" in ended.stderr
        assert not (state / "envs").exists()
    finally:
        holder.kill()
        holder.wait()


def test_ctrl_c_is_130_and_can_be_resumed(tool, tool_env: dict[str, str], stack: Stack, tmp_path: Path) -> None:
    state = tmp_path / "s"
    process = subprocess.Popen(
        [sys.executable, "-m", "accel_install", "apply", stack.recipe, *stack.options, "--state-dir", state],
        env=tool_env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (state / "journal.jsonl").exists():
        time.sleep(0.005)
    process.terminate()
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert "accel-install resume" in error and "Traceback" not in error
    resumed = tool("resume", *stack.options, "--state-dir", state)
    assert resumed.returncode == 0
    if "nothing was run here" in resumed.stdout or "nothing to resume" in resumed.stdout:  # it came before the first step
        assert tool("apply", stack.recipe, *stack.options, "--state-dir", state).returncode == 0
    assert tool("verify", "--state-dir", state).returncode == 0


def test_secrets_of_an_index_address_are_never_shown(tool, stack: Stack) -> None:
    ended = tool("plan", stack.recipe, "--index", "default=http://me:hunter2@127.0.0.1:9/simple", "--json")
    assert "hunter2" not in ended.stdout + ended.stderr


def test_a_damaged_journal_is_32(tool, stack: Stack, tmp_path: Path) -> None:
    state = tmp_path / "s"
    assert tool("apply", stack.recipe, *stack.options, "--state-dir", state).returncode == 0
    journal = state / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(lines[0] + lines[1].replace(b'"seq"', b'"sEq"') + b"".join(lines[2:]))
    ended = tool("apply", stack.recipe, *stack.options, "--state-dir", state)
    assert ended.returncode == 32 and "journal.unreadable" in ended.stderr
    assert journal.exists()
