"""The machine lock, held by another real process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from accel_install.errors import BusyError, PreflightError
from accel_install.host.lock import MachineLock

_HOLDER = """
import sys, time
from pathlib import Path
from accel_install.host.lock import MachineLock
with MachineLock(Path(sys.argv[1]), "apply ascend-910b"):
    print("held", flush=True)
    time.sleep(600)
"""


def _hold(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", _HOLDER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    return process


def test_a_second_run_is_told_who_holds_the_lock_and_a_killed_holder_frees_it(tmp_path: Path) -> None:
    path = tmp_path / "state/lock"
    with _hold(path) as holder:
        try:
            with pytest.raises(BusyError) as caught, MachineLock(path, "apply other"):
                pass
            error = caught.value
            assert (error.slug, error.expected, error.hint) == (
                "lock.busy",
                "no other run",
                "accel-install status",
            )
            assert f"pid {holder.pid}" in (error.value or "")
            assert "apply ascend-910b" in (error.value or "")
            assert error.to_dict()["exit_code"] == 31
        finally:
            holder.send_signal(signal.SIGKILL)
    with MachineLock(path, "resume"):
        assert json.loads((tmp_path / "state/lock.info").read_text())["pid"] == os.getpid()
    assert not (tmp_path / "state/lock.info").exists()


def test_the_lock_is_free_again_after_use_and_not_shared_within_a_process(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with MachineLock(path, "first"):
        with pytest.raises(BusyError) as caught:
            MachineLock(path, "second").acquire()
        assert "first" in (caught.value.value or "")
    with MachineLock(path, "third"):
        pass


def test_a_damaged_note_does_not_hide_the_holder(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with MachineLock(path, "first"):
        (tmp_path / "lock.info").write_text("{torn")
        with pytest.raises(BusyError) as caught:
            MachineLock(path, "second").acquire()
    assert caught.value.value == "a holder that left no note"


def test_a_state_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PreflightError) as caught:
        MachineLock(tmp_path / "file/state/lock", "apply").acquire()
    assert caught.value.slug == "preflight.state-dir-not-writable"
    assert caught.value.value == str(tmp_path / "file/state")
    assert caught.value.hint == "--state-dir DIR"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_state_directory_without_permission(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    with pytest.raises(PreflightError, match="Permission denied"):
        MachineLock(closed / "lock", "apply").acquire()
