"""kill -9 at every journal record, and at random moments, by a process that did not agree on it; then resume.

The tree that results is compared with that of an undisturbed run by content, modes and links.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_stack import Stack, local_stack, tree_of

from accel_install.execute.journal import read_journal

KILLER = Path(__file__).with_name("killer.py")
RECORDS = 24  # an undisturbed run writes this many; checked below


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with local_stack(tmp_path_factory.mktemp("stack")) as made:
        yield made


def start(env: dict[str, str], stack: Stack, state: Path) -> subprocess.Popen[str]:
    argv = [sys.executable, "-m", "accel_install", "apply", str(stack.recipe), *stack.options, "--state-dir", str(state)]
    return subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def relative_tree(state: Path) -> dict[str, str]:
    """The environments with the state folder's own path taken out of file contents by installing at one place."""
    return tree_of(state / "envs")


@pytest.fixture
def state() -> Iterator[Path]:
    """One fixed place: scripts and pyvenv.cfg hold their path, and trees are compared byte by byte."""
    import shutil
    import tempfile

    place = Path(tempfile.mkdtemp(prefix="accel-install-crash-"))
    yield place / "state"
    shutil.rmtree(place, ignore_errors=True)


def undisturbed(tool, stack: Stack, state: Path) -> dict[str, str]:
    ended = tool("apply", stack.recipe, *stack.options, "--state-dir", state)
    assert ended.returncode == 0, ended.stderr
    return relative_tree(state)


def wipe(state: Path) -> None:
    import shutil

    shutil.rmtree(state)


def check_healed(tool, stack: Stack, state: Path, wanted: dict[str, str]) -> None:
    resumed = tool("resume", *stack.options, "--state-dir", state)
    assert resumed.returncode == 0, resumed.stderr
    if "nothing to resume: nothing was run here" in resumed.stdout or not (state / "envs").exists():
        assert tool("apply", stack.recipe, *stack.options, "--state-dir", state).returncode == 0
    assert relative_tree(state) == wanted
    again = tool("apply", stack.recipe, *stack.options, "--state-dir", state)
    assert again.returncode == 0 and "nothing to do" in again.stdout, again.stdout + again.stderr


def test_the_number_of_records_is_what_the_kill_test_covers(tool, stack: Stack, state: Path) -> None:
    undisturbed(tool, stack, state)
    assert len(read_journal(state / "journal.jsonl").records) == RECORDS


@pytest.mark.parametrize("count", range(1, RECORDS + 1))
def test_kill_at_every_record_then_resume(tool, tool_env: dict[str, str], stack: Stack, state: Path, count: int) -> None:
    wanted = undisturbed(tool, stack, state)
    wipe(state)
    process = start(tool_env, stack, state)
    subprocess.run([sys.executable, str(KILLER), str(process.pid), str(state / "journal.jsonl"), str(count)], check=True)
    process.wait(timeout=60)
    assert process.returncode in (-9, 0)
    check_healed(tool, stack, state, wanted)


@pytest.mark.parametrize("seed", range(6))
def test_kill_at_a_random_moment_then_resume(tool, tool_env: dict[str, str], stack: Stack, state: Path, seed: int) -> None:
    wanted = undisturbed(tool, stack, state)
    wipe(state)
    process = start(tool_env, stack, state)
    while process.poll() is None and not (state / "journal.jsonl").exists():
        time.sleep(0.001)
    time.sleep(random.Random(seed).uniform(0, 1.2))
    process.kill()
    process.wait(timeout=60)
    check_healed(tool, stack, state, wanted)


def test_without_the_journal_probing_alone_tells_the_truth(tool, stack: Stack, state: Path) -> None:
    undisturbed(tool, stack, state)
    (state / "journal.jsonl").unlink()
    again = tool("apply", stack.recipe, *stack.options, "--state-dir", state)
    assert "nothing to do" in again.stdout


def test_the_journal_is_not_believed_against_the_tree(tool, stack: Stack, state: Path) -> None:
    wanted = undisturbed(tool, stack, state)
    journal = state / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(line for line in lines if b'"run-finished"' not in line))
    victim = next((state / "envs").rglob("leaf/m7.py"))
    victim.unlink()
    resumed = tool("resume", *stack.options, "--state-dir", state)
    assert resumed.returncode == 0, resumed.stderr
    assert relative_tree(state) == wanted


def test_a_torn_last_record_is_cut_off(tool, stack: Stack, state: Path) -> None:
    wanted = undisturbed(tool, stack, state)
    journal = state / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-25])
    assert tool("resume", *stack.options, "--state-dir", state).returncode == 0
    assert relative_tree(state) == wanted
    assert read_journal(journal).torn_bytes == 0
