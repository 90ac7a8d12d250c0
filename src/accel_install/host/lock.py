"""The machine lock: one run changes a machine at a time; a second one is told who works, since when, on what.

The kernel frees the lock when its holder dies, however it dies; the note beside it only describes the holder.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from accel_install.errors import BusyError, PreflightError
from accel_install.host.clock import now_utc
from accel_install.host.durable import write_atomic

if TYPE_CHECKING:
    from filelock import BaseFileLock

__all__ = ["MachineLock"]


class MachineLock:
    """Context manager that holds the lock file of a state directory; it never waits.

    Args:
        path: lock file; its directory is created. The note about the holder is `<path>.info` (JSON).
        doing: what the holder does, for the person who runs into it, such as `apply ascend-910b`.

    Raises:
        BusyError: `lock.busy`, another process (or another lock object of this one) holds it.
        PreflightError: `preflight.state-dir-not-writable`, the directory cannot be made or written.
    """

    def __init__(self, path: Path, doing: str) -> None:
        self.path = path
        self.info_path = path.with_name(path.name + ".info")
        self._doing = doing
        self._lock: BaseFileLock | None = None

    def __enter__(self) -> MachineLock:
        self.acquire()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()

    def acquire(self) -> None:
        """Take the lock and write the note; see the class for what is raised."""
        import filelock  # takes a tenth of a second to import, and most commands never lock

        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock = filelock.FileLock(str(self.path), timeout=0)
            lock.acquire()
            self._lock = lock
            self._write_info()
        except filelock.Timeout:
            raise self._busy() from None
        except (OSError, NotImplementedError) as error:
            self.release()
            raise _not_writable(self.path.parent, error) from error

    def release(self) -> None:
        """Remove the note and free the lock; harmless when it is not held."""
        if self._lock is None:
            return
        with contextlib.suppress(OSError):
            self.info_path.unlink(missing_ok=True)
        self._lock.release()
        self._lock = None

    def _write_info(self) -> None:
        info = {"pid": os.getpid(), "since": now_utc(), "doing": self._doing, "host": socket.gethostname()}
        write_atomic(self.info_path, json.dumps(info).encode())

    def _busy(self) -> BusyError:
        holder = _read_info(self.info_path)
        return BusyError(
            "lock.busy",
            "another run of accel-install is changing this machine",
            value=_describe(holder),
            expected="no other run",
            hint="accel-install status",
            details={"holder": holder} if holder else None,
        )


def _read_info(path: Path) -> dict[str, object]:
    try:
        info = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return info if isinstance(info, dict) else {}


def _describe(holder: dict[str, object]) -> str:
    if not holder:
        return "a holder that left no note"
    pid, since, doing, host = (holder.get(key, "?") for key in ("pid", "since", "doing", "host"))
    text = f"pid {pid}, since {since}, doing `{doing}`"
    return text if host in ("?", socket.gethostname()) else f"{text}, on {host}"


def _not_writable(directory: Path, error: Exception) -> PreflightError:
    reason = getattr(error, "strerror", None) or str(error)
    return PreflightError(
        "preflight.state-dir-not-writable",
        f"the state directory `{directory}` cannot be used: {reason}",
        value=str(directory),
        expected="a directory this user may write, on a file system with locks",
        hint="--state-dir DIR",
    )
