"""Who runs: identities of processes as /proc shows them (proc(5), section /proc/pid/stat).

Always the real /proc of the running kernel, also when a host stands for a directory: children are real.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from accel_install.host.base import ChildRecord, ChildState

__all__ = ["ProcStat", "boot_id", "child_state", "group_alive", "parse_stat", "pid_namespace", "read_stat"]

_PROC = Path("/proc")
_DEAD_STATES = frozenset("ZXx")


@dataclass(frozen=True)
class ProcStat:
    """Five fields of /proc/pid/stat; `start_ticks` is field 22, in clock ticks since boot."""

    pid: int
    state: str
    pgid: int
    session: int
    start_ticks: int

    @property
    def alive(self) -> bool:
        """False for a zombie, which only waits for its parent to read its exit code."""
        return self.state not in _DEAD_STATES


def parse_stat(text: str) -> ProcStat | None:
    """Parse the line of /proc/pid/stat; the command name may hold blanks and `)`: count after the last."""
    head, bracket, tail = text.rpartition(")")
    fields = tail.split()
    if not bracket or len(fields) < 20:
        return None
    try:
        pid = int(head.split("(", 1)[0])
        return ProcStat(pid, fields[0], int(fields[2]), int(fields[3]), int(fields[19]))
    except ValueError:
        return None


def read_stat(pid: int) -> ProcStat | None:
    """Return the state of a process of this pid namespace, or None when there is none."""
    try:
        return parse_stat((_PROC / str(pid) / "stat").read_text(errors="replace"))
    except OSError:
        return None


def boot_id() -> str:
    """Return the kernel's boot id, or an empty string when it cannot be read."""
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def pid_namespace() -> str:
    """Return the pid namespace of this process, such as `pid:[4026531836]`, or an empty string."""
    try:
        return str((_PROC / "self/ns/pid").readlink())
    except OSError:
        return ""


def child_state(record: ChildRecord) -> ChildState:
    """Say whether a recorded child still runs.

    After a reboot it is gone. Seen from another pid namespace, or where boot or namespace cannot be told, it
    is unknown. A zombie is gone, and so is a pid that another process got since (its start ticks differ).
    """
    sight = _sight(record)
    if sight is not None:
        return sight
    stat = read_stat(record.pid)
    if stat is None or not stat.alive or stat.start_ticks != record.start_ticks:
        return "gone"
    return "running"


def group_alive(record: ChildRecord) -> bool:
    """Say whether any process of the child's group or session still runs.

    The kernel gives no pid away that is still in use as a group id; so when a later process leads a group of
    the same id, nobody of the old group is left. False also where the group cannot be seen (another boot or
    pid namespace): ask `child_state` first, which tells `unknown` from `gone`.
    """
    if _sight(record) is not None:
        return False
    leader = read_stat(record.pgid)
    if leader is not None and leader.start_ticks > record.start_ticks and record.pid == record.pgid:
        return False
    return any(_belongs(stat, record) for stat in _all_stats())


def _sight(record: ChildRecord) -> ChildState | None:
    """Return what can be said without looking at the pid, or None when the pid may be looked at."""
    boot, namespace = boot_id(), pid_namespace()
    if not boot or not record.boot_id:
        return "unknown"
    if boot != record.boot_id:
        return "gone"
    if not namespace or namespace != record.pid_namespace:
        return "unknown"
    return None


def _belongs(stat: ProcStat, record: ChildRecord) -> bool:
    in_group = record.pgid in (stat.pgid, stat.session)
    return in_group and stat.alive and stat.start_ticks >= record.start_ticks


def _all_stats() -> Iterator[ProcStat]:
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            stat = read_stat(int(entry.name))
            if stat is not None:
                yield stat
