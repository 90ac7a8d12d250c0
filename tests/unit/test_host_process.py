"""Children: time limits, records, zombies, wrappers that leave children behind. All processes are real."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from accel_install.errors import StepFailedError
from accel_install.host.base import ChildRecord
from accel_install.host.local import LocalHost
from accel_install.host.process import Child
from accel_install.host.procfs import ProcStat, parse_stat, read_stat

HOST = LocalHost()


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "the condition never came true"
        time.sleep(0.01)


@pytest.fixture
def spawn(tmp_path: Path) -> Iterator[Callable[[str], Child]]:
    children: list[Child] = []

    def start(script: str) -> Child:
        child = HOST.spawn(["/bin/sh", "-c", script], log_path=tmp_path / "log")
        assert isinstance(child, Child)
        children.append(child)
        return child

    yield start
    for child in children:
        child.kill_group(signal.SIGKILL)
        child.wait()


def test_run_captures_in_the_c_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_MESSAGES", "zh_CN.UTF-8")
    monkeypatch.setenv("LANGUAGE", "zh_CN")
    script = 'echo "$LC_ALL $LANG ${LC_MESSAGES-none} ${LANGUAGE-none} $EXTRA"; cat; echo err >&2; exit 3'
    result = HOST.run(["sh", "-c", script], timeout_s=20, env={"EXTRA": "x"}, input_text="typed\n")
    assert (result.returncode, result.timed_out) == (3, False)
    assert result.stdout == "C C none none x\ntyped\n"
    assert result.stderr == "err\n"


def test_run_without_input_sees_an_empty_stdin() -> None:
    assert HOST.run(["cat"], timeout_s=20).returncode == 0


def test_run_of_what_cannot_run(tmp_path: Path) -> None:
    assert HOST.run(["no-such-tool-here"], timeout_s=5).returncode == 127
    (tmp_path / "data").write_text("no program")
    assert HOST.run([str(tmp_path / "data")], timeout_s=5).returncode == 126
    assert HOST.run(["echo", "nul\0byte"], timeout_s=5).returncode == 126


def test_a_time_limit_kills_the_whole_group(tmp_path: Path) -> None:
    script = f"sleep 600 & echo $! > {tmp_path}/pid; echo begun; wait"
    result = HOST.run(["sh", "-c", script], timeout_s=1)
    assert result.timed_out and result.returncode == -signal.SIGKILL
    assert result.stdout == "begun\n"
    grandchild = int((tmp_path / "pid").read_text())

    def is_dead() -> bool:
        stat = read_stat(grandchild)
        return stat is None or not stat.alive

    _until(is_dead)


def test_a_background_process_on_the_output_does_not_fail_the_command(tmp_path: Path) -> None:
    script = f"sleep 600 & echo $! > {tmp_path}/pid; echo done; exit 5"
    result = HOST.run(["sh", "-c", script], timeout_s=1)
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
    assert (result.returncode, result.stdout, result.timed_out) == (5, "done\n", False)


def test_spawn_records_the_child_before_it_is_waited_for(spawn: Callable[[str], Child], tmp_path: Path) -> None:
    child = spawn("echo out; echo err >&2; exit 7")
    record = child.record
    assert record.pid == record.pgid and record.start_ticks > 0
    assert record.boot_id == HOST.boot_id() != ""
    assert record.pid_namespace == str(Path("/proc/self/ns/pid").readlink())
    assert record.argv0 == "/bin/sh"
    assert child.wait() == 7
    assert sorted((tmp_path / "log").read_text().split()) == ["err", "out"]
    assert ChildRecord(**record.to_dict()) == record  # type: ignore[arg-type]


def test_spawn_appends_and_unsets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DROP_ME", "1")
    for _ in range(2):
        child = HOST.spawn(
            ["sh", "-c", 'echo "${DROP_ME-gone} $ADDED"; pwd'],
            log_path=tmp_path / "logs/step.log",
            env={"ADDED": "a"},
            unset=["DROP_ME"],
            cwd=tmp_path,
        )
        assert child.wait() == 0
    assert (tmp_path / "logs/step.log").read_text() == f"gone a\n{tmp_path}\n" * 2


def test_spawn_of_a_missing_program_is_an_error_with_a_slug(tmp_path: Path) -> None:
    with pytest.raises(StepFailedError) as caught:
        HOST.spawn(["/no/such/installer.run"], log_path=tmp_path / "log")
    assert caught.value.slug == "process.cannot-start"
    assert caught.value.value == "/no/such/installer.run"


def test_a_running_child_then_a_zombie_then_nothing(spawn: Callable[[str], Child]) -> None:
    child = spawn("sleep 600")
    assert HOST.child_state(child.record) == "running" and HOST.group_alive(child.record)
    child.kill_group(signal.SIGKILL)

    def is_zombie() -> bool:
        stat = read_stat(child.record.pid)
        return stat is not None and stat.state == "Z"

    _until(is_zombie)
    assert HOST.child_state(child.record) == "gone"
    assert not HOST.group_alive(child.record)
    child.wait()
    assert read_stat(child.record.pid) is None
    assert HOST.child_state(child.record) == "gone"


def test_a_wrapper_shell_that_died_leaves_its_group_alive(spawn: Callable[[str], Child]) -> None:
    child = spawn("sleep 600 & exit 0")
    assert child.wait() == 0
    assert HOST.child_state(child.record) == "gone"
    assert HOST.group_alive(child.record)
    child.kill_group(signal.SIGKILL)
    _until(lambda: not HOST.group_alive(child.record))


def test_a_child_in_a_group_of_its_own_is_found_by_the_session(spawn: Callable[[str], Child]) -> None:
    own_group = f"{sys.executable} -c 'import os,time; os.setpgid(0,0); print(1,flush=True); time.sleep(600)'"
    child = spawn(f"({own_group}) & exit 0")
    child.wait()
    _until(lambda: not any(s.pgid == child.record.pgid for s in _members(child.record)))
    members = _members(child.record)
    assert members and HOST.group_alive(child.record)
    for stat in members:
        os.kill(stat.pid, signal.SIGKILL)
    _until(lambda: not HOST.group_alive(child.record))


def _members(record: ChildRecord) -> list[ProcStat]:
    stats = (read_stat(int(entry.name)) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [s for s in stats if s is not None and s.session == record.pgid and s.alive]


def test_other_boots_namespaces_and_reused_pids(spawn: Callable[[str], Child]) -> None:
    record = spawn("sleep 600").record
    rebooted = replace(record, boot_id="00000000-0000-0000-0000-000000000000")
    assert HOST.child_state(rebooted) == "gone" and not HOST.group_alive(rebooted)
    elsewhere = replace(record, pid_namespace="pid:[1]")
    assert HOST.child_state(elsewhere) == "unknown"
    assert HOST.child_state(replace(elsewhere, pid=2**22 + 1)) == "unknown"
    assert HOST.child_state(replace(record, boot_id="")) == "unknown"
    earlier = replace(record, start_ticks=record.start_ticks - 1)
    assert HOST.child_state(earlier) == "gone"
    assert not HOST.group_alive(earlier), "a later process leads this group: the old one is gone"


def test_parse_stat_counts_after_the_last_bracket() -> None:
    fields = " ".join(str(number) for number in range(4, 53))
    stat = parse_stat(f"77 (a) S (x) Z 1 {fields}")
    assert stat is not None
    assert (stat.pid, stat.state, stat.pgid, stat.session, stat.start_ticks) == (77, "Z", 4, 5, 21)
    assert not stat.alive
    assert parse_stat("") is None and parse_stat("1 (x) S 1 2") is None and parse_stat(f"x (y) S 1 {fields}") is None
