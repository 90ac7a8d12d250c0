"""The machine this process runs on, or a directory that stands for it.

Here is only the `Host` surface; how paths stay below a root, how children run and are found again is next
door.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from accel_install.errors import AccelError
from accel_install.host import process, procfs
from accel_install.host.base import ChildRecord, ChildState, CommandResult, RunningChild
from accel_install.host.cpu import ELF_WITNESSES, elf_arch
from accel_install.host.rooted import resolve_below

__all__ = ["LocalHost"]

_SLASH = Path("/")
_BIN_DIRS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


class LocalHost:
    """Implements `Host` for this machine or for a directory of it.

    Args:
        root: directory that stands for `/`.
        allow_unconfined: acts that cannot be confined to `root` are allowed, because the vendor packages are
            stand-ins.
    """

    def __init__(self, root: Path = _SLASH, allow_unconfined: bool = False) -> None:
        self.root = root.resolve()
        self.confined = self.root != _SLASH and not allow_unconfined

    def path(self, path: str | Path, *, follow_last: bool = True) -> Path:
        """Map an absolute path of the machine to the real path below `root`; `/` itself changes nothing.

        Below another root symlinks are followed as if it were `/`, the last one only with `follow_last`.

        Raises:
            MachineError: `machine.symlink-loop`.
        """
        if self.root == _SLASH:
            return _SLASH / path
        return resolve_below(self.root, str(path), follow_last=follow_last)

    def read_text(self, path: str | Path, limit_bytes: int = 300_000) -> str | None:
        """Return up to `limit_bytes` of a regular file as text, or None when it is absent or unreadable."""
        try:
            fd = os.open(self.path(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(fd, "rb") as stream:
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    return None
                return stream.read(limit_bytes).decode("utf-8", errors="replace")
        except (OSError, AccelError):
            return None

    def exists(self, path: str | Path) -> bool:
        """Say whether a path exists on the machine; a dangling symlink does not."""
        try:
            return self.path(path).exists()
        except (OSError, AccelError):
            return False

    def list_dir(self, path: str | Path) -> list[str]:
        """Return sorted entry names of a directory, empty when it is absent or unreadable."""
        try:
            return sorted(entry.name for entry in self.path(path).iterdir())
        except (OSError, AccelError):
            return []

    def read_link(self, path: str | Path) -> str | None:
        """Return the target text of a symlink as it is written, or None."""
        try:
            return str(self.path(path, follow_last=False).readlink())
        except (OSError, AccelError):
            return None

    def which(self, name: str, extra_dirs: Sequence[str] = ()) -> Path | None:
        """Find a tool on `PATH`, in `extra_dirs` and the usual bin folders; below a root only in its own.

        A name with a slash is taken as a path of the machine. The result keeps a last symlink where it can (a
        `python` in a venv and multi-call programs need their own name).
        """
        candidates = [name] if "/" in name else [f"{folder}/{name}" for folder in self._search(extra_dirs)]
        for candidate in candidates:
            found = self._program(candidate)
            if found is not None:
                return found
        return None

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float,
        env: Mapping[str, str] | None = None,
        input_text: str | None = None,
        cwd: Path | None = None,
    ) -> CommandResult:
        """Run a short command to its end with LC_ALL=C and a time limit; `env` is added to our own.

        A bare name is looked up by `which` below a root. 127 means missing, 126 that it cannot be started.
        """
        program = self._argv(argv)
        if program is None:
            reason = f"{argv[0]}: not found below {self.root}"
            return CommandResult(tuple(argv), process.NOT_FOUND, "", reason)
        environment = process.child_environment(env, root=self.root)
        return process.run_command(program, timeout_s=timeout_s, env=environment, input_text=input_text, cwd=cwd)

    def spawn(
        self,
        argv: Sequence[str],
        *,
        log_path: Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        unset: Sequence[str] = (),
    ) -> RunningChild:
        """Start a long command in its own session and process group, output appended to a log (a real path).

        Raises:
            StepFailedError: `process.cannot-start`.
        """
        environment = process.child_environment(env, unset, self.root)
        program = self._argv(argv) or [str(self.root / "bin" / argv[0]), *argv[1:]]
        return process.spawn_child(program, log_path=log_path, env=environment, cwd=cwd)

    def child_state(self, record: ChildRecord) -> ChildState:
        """Say whether a recorded child still runs; see `procfs.child_state`."""
        return procfs.child_state(record)

    def group_alive(self, record: ChildRecord) -> bool:
        """Say whether any process of the child's group still runs; see `procfs.group_alive`."""
        return procfs.group_alive(record)

    def boot_id(self) -> str:
        """Return the kernel's boot id, or an empty string when it cannot be read."""
        return procfs.boot_id()

    def kernel_release(self) -> str | None:
        """Return `uname -r`; below a root what its own /proc says, else None."""
        if self.root == _SLASH:
            return os.uname().release
        return self._word("/proc/sys/kernel/osrelease")

    def arch(self) -> str | None:
        """Return `uname -m`; below a root what its own /proc or its own programs say, else None."""
        if self.root == _SLASH:
            return os.uname().machine
        word = self._word("/proc/sys/kernel/arch")
        answers = (elf_arch(self.path(witness)) for witness in ELF_WITNESSES)
        return word or next((answer for answer in answers if answer), None)

    def free_space(self, path: str | Path) -> tuple[int, int] | None:
        """Return (free bytes, free inodes) for this user where a path is or would be made.

        A file system without a fixed number of inodes (btrfs) reports none at all: then `sys.maxsize`.
        """
        try:
            here = self.path(path)
            while not here.exists() and here != here.parent:
                here = here.parent
            answer = os.statvfs(here)
        except (OSError, AccelError):
            return None
        inodes = answer.f_favail if answer.f_files else sys.maxsize
        return answer.f_bavail * answer.f_frsize, inodes

    def is_privileged(self) -> bool:
        """Say whether this process may change the system (effective uid 0)."""
        return os.geteuid() == 0

    def _search(self, extra_dirs: Sequence[str]) -> Iterator[str]:
        if self.root == _SLASH:
            yield from (entry for entry in os.environ.get("PATH", "").split(os.pathsep) if entry)
            yield from extra_dirs
            yield from _BIN_DIRS
        else:
            yield from _BIN_DIRS
            yield from extra_dirs

    def _program(self, candidate: str) -> Path | None:
        try:
            named, real = self.path(candidate, follow_last=False), self.path(candidate)
            if not (real.is_file() and os.access(real, os.X_OK)):
                return None
            return named if named.resolve() == real.resolve() else real
        except (OSError, RuntimeError, AccelError):
            return None

    def _argv(self, argv: Sequence[str]) -> list[str] | None:
        """Return the arguments with a bare program name looked up below a root; None when it may not run."""
        if self.root == _SLASH or not argv or "/" in argv[0]:
            return list(argv)
        found = self.which(argv[0])
        if found is not None:
            return [str(found), *argv[1:]]
        return None if self.confined else list(argv)

    def _word(self, path: str) -> str | None:
        return (self.read_text(path) or "").strip() or None
