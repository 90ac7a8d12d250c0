"""The one door to the machine. Everything that reads or changes it goes through a `Host`.

`LocalHost(root)` treats a directory as `/`: paths map below it, tools are run only from its bin folders, and acts that
cannot be confined are refused. A host made for a rehearsal may allow such acts because the vendor packages are stand-ins;
the engine does not know the difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

__all__ = ["ChildRecord", "ChildState", "CommandResult", "Host"]

ChildState = Literal["running", "gone", "unknown"]


@dataclass(frozen=True)
class CommandResult:
    """What a finished command said. `returncode` is negative for a signal; `timed_out` when the limit ended it."""

    argv: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str
    timed_out: bool = False


@dataclass(frozen=True)
class ChildRecord:
    """Identity of a spawned child that survives this process: enough to tell it from a later process of the same pid."""

    pid: int
    pgid: int
    start_ticks: int
    boot_id: str
    pid_namespace: str
    argv0: str

    def to_dict(self) -> dict[str, int | str]:
        """Return the JSON object the journal stores."""
        return {
            "pid": self.pid,
            "pgid": self.pgid,
            "start_ticks": self.start_ticks,
            "boot_id": self.boot_id,
            "pid_namespace": self.pid_namespace,
            "argv0": self.argv0,
        }


class RunningChild(Protocol):
    """A child that was spawned and is not yet waited for."""

    record: ChildRecord

    def wait(self) -> int:
        """Wait for the end and return the exit code."""
        ...


class Host(Protocol):
    """The machine, or a directory that stands for it."""

    root: Path
    confined: bool

    def path(self, path: str | Path) -> Path:
        """Map an absolute path of the machine to the real path below `root`."""
        ...

    def read_text(self, path: str | Path, limit_bytes: int = 300_000) -> str | None:
        """Return the text of a file (replacement characters for bad bytes), or None when it is absent or unreadable."""
        ...

    def exists(self, path: str | Path) -> bool:
        """Say whether a path exists on the machine."""
        ...

    def list_dir(self, path: str | Path) -> list[str]:
        """Return sorted entry names of a directory, empty when absent."""
        ...

    def read_link(self, path: str | Path) -> str | None:
        """Return the target text of a symlink, or None."""
        ...

    def which(self, name: str, extra_dirs: Sequence[str] = ()) -> Path | None:
        """Find a tool; below a root only in the root's own bin folders."""
        ...

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float,
        env: Mapping[str, str] | None = None,
        input_text: str | None = None,
        cwd: Path | None = None,
    ) -> CommandResult:
        """Run a short command to its end with LC_ALL=C and a time limit, capturing output; never raises for its failure."""
        ...

    def spawn(
        self,
        argv: Sequence[str],
        *,
        log_path: Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        unset: Sequence[str] = (),
    ) -> RunningChild:
        """Start a long command in its own process group, output appended to a log file."""
        ...

    def child_state(self, record: ChildRecord) -> ChildState:
        """Say whether a recorded child still runs. A zombie is gone; from another pid namespace it is unknown."""
        ...

    def group_alive(self, record: ChildRecord) -> bool:
        """Say whether any process of the child's group still runs (wrapper shells leave children behind)."""
        ...

    def boot_id(self) -> str:
        """Return the kernel's boot id, or an empty string when it cannot be read."""
        ...

    def kernel_release(self) -> str | None:
        """Return `uname -r`, or None below a root that does not say."""
        ...

    def arch(self) -> str | None:
        """Return `uname -m`, or None below a root that does not say."""
        ...

    def free_space(self, path: str | Path) -> tuple[int, int] | None:
        """Return (free bytes, free inodes) of the file system that holds the nearest existing parent of a path."""
        ...

    def is_privileged(self) -> bool:
        """Say whether this process may change the system (effective uid 0)."""
        ...
