"""Starting programs: short ones that are waited for with a time limit, and long ones that outlive us.

Each gets its own session and process group, so that a whole tree can be ended or found again. Argument lists
only.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from accel_install.errors import StepFailedError
from accel_install.host.base import ChildRecord, CommandResult
from accel_install.host.procfs import boot_id, pid_namespace, read_stat

__all__ = ["NOT_EXECUTABLE", "NOT_FOUND", "Child", "child_environment", "run_command", "spawn_child"]

NOT_FOUND = 127  # what a POSIX shell answers for a missing command
NOT_EXECUTABLE = 126
_DROPPED = frozenset({"LANGUAGE", "PYTHONHOME"})
_DRAIN_S = 1.0


def child_environment(
    extra: Mapping[str, str] | None = None, unset: Sequence[str] = (), root: Path = Path("/")
) -> dict[str, str]:
    """Return the environment of a child: ours in the C locale, plus `extra`, less `unset`.

    `ACCEL_INSTALL_ROOT` names the directory that stands for `/`, unless it is `/` itself.
    """
    env = {name: value for name, value in os.environ.items() if not _is_dropped(name)}
    env.update(LC_ALL="C", LANG="C")
    if root != Path("/"):
        env["ACCEL_INSTALL_ROOT"] = str(root)
    env.update(extra or {})
    for name in unset:
        env.pop(name, None)
    return env


def run_command(
    argv: Sequence[str],
    *,
    timeout_s: float,
    env: Mapping[str, str],
    input_text: str | None = None,
    cwd: Path | None = None,
) -> CommandResult:
    """Run a command to its end; after `timeout_s` its whole process group is killed.

    Never raises for the command's failure: a missing one gives return code 127, one that cannot start 126.
    A command that ended but left a background process on its output keeps its own return code, and nothing is
    killed.
    """
    try:
        process = subprocess.Popen(
            list(argv),
            stdin=subprocess.DEVNULL if input_text is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
        )
    except (OSError, ValueError, IndexError) as error:
        code = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
        return CommandResult(tuple(argv), code, "", str(error))
    with process:
        try:
            out, err = process.communicate(None if input_text is None else input_text.encode(), timeout_s)
            timed_out = False
        except subprocess.TimeoutExpired:
            timed_out = process.poll() is None
            if timed_out:
                _kill_group(process.pid, signal.SIGKILL)
            out, err = _drain(process)
        except BaseException:
            _kill_group(process.pid, signal.SIGKILL)
            raise
    return CommandResult(tuple(argv), process.returncode, _text(out), _text(err), timed_out)


class Child:
    """A spawned child; `record` is complete before anybody waits, so that it can be journaled first."""

    def __init__(self, process: subprocess.Popen[bytes], record: ChildRecord) -> None:
        self._process = process
        self.record = record

    def wait(self) -> int:
        """Wait for the end and return the exit code, negative for a signal."""
        return self._process.wait()

    def kill_group(self, number: int = signal.SIGTERM) -> None:
        """Send a signal to the whole process group; harmless when it is gone."""
        _kill_group(self.record.pgid, number)


def spawn_child(argv: Sequence[str], *, log_path: Path, env: Mapping[str, str], cwd: Path | None = None) -> Child:
    """Start a long command in its own session, stdout and stderr appended to `log_path`, stdin empty.

    Raises:
        StepFailedError: `process.cannot-start`, the program is missing or not executable, or there is no log.
    """
    try:
        log_path.parent.mkdir(parents=True, exist_ok=True)
        with log_path.open("ab") as log:
            process = subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=dict(env),
                cwd=cwd,
                start_new_session=True,
            )
    except (OSError, ValueError, IndexError) as error:
        raise _cannot_start(argv, error) from error
    return Child(process, _record(process.pid, argv[0]))


def _record(pid: int, argv0: str) -> ChildRecord:
    """Describe a child that nobody has waited for yet: at worst it is a zombie, so /proc still knows it."""
    stat = read_stat(pid)
    ticks = stat.start_ticks if stat else 0
    return ChildRecord(pid, pid, ticks, boot_id(), pid_namespace(), argv0)


def _drain(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Return what was read so far; a grandchild that left the group may still hold the pipes."""
    try:
        return process.communicate(timeout=_DRAIN_S)
    except subprocess.TimeoutExpired as late:
        return late.stdout or b"", late.stderr or b""


def _kill_group(pgid: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(pgid, number)


def _is_dropped(name: str) -> bool:
    return name in _DROPPED or name.startswith("LC_")


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", errors="replace")


def _cannot_start(argv: Sequence[str], error: Exception) -> StepFailedError:
    return StepFailedError(
        "process.cannot-start",
        f"a program could not be started: {error}",
        value=argv[0] if argv else "",
        expected="an executable program and a writable log directory",
    )
