"""Children of a run: found again after the parent died, waited for, or stopped with their whole group."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Mapping
from typing import Any

from accel_install.host.base import ChildRecord, Host

__all__ = ["child_of", "stop_group", "wait_for_group"]

_POLL_S = 0.2
_GRACE_S = 10.0


def child_of(data: Mapping[str, Any] | None) -> ChildRecord | None:
    """Return the child that a journal record describes, or None."""
    if not data:
        return None
    try:
        return ChildRecord(
            pid=int(data["pid"]),
            pgid=int(data["pgid"]),
            start_ticks=int(data["start_ticks"]),
            boot_id=str(data["boot_id"]),
            pid_namespace=str(data["pid_namespace"]),
            argv0=str(data["argv0"]),
        )
    except (KeyError, ValueError, TypeError):
        return None


def wait_for_group(host: Host, record: ChildRecord, limit_s: float) -> bool:
    """Wait until neither the child nor its group runs. Return False when the limit came first."""
    deadline = time.monotonic() + limit_s
    while host.child_state(record) == "running" or host.group_alive(record):
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_S)
    return True


def stop_group(host: Host, record: ChildRecord) -> None:
    """End a child and its group: politely first, then for good. Only for acts that may be repeated."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(record.pgid, number)
        if wait_for_group(host, record, _GRACE_S):
            return
