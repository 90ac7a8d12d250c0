"""The unfinished file of a download, the note beside it, and the lock that keeps two runs off it."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from accel_install.host.durable import write_atomic

__all__ = ["PartFile", "part_key"]


def part_key(url: str, filename: str, sha256: str | None) -> str:
    """Return the stem of a part's name: the digest if known, else one made of address and name."""
    return sha256 or "url-" + hashlib.sha256(f"{url}\n{filename}".encode()).hexdigest()


class PartFile:
    """`<key>.part` with `<key>.part.json` (the validator it was served under) beside it."""

    def __init__(self, directory: Path, key: str) -> None:
        self.path = directory / f"{key}.part"
        self._note = directory / f"{key}.part.json"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the part alone; waits for a thread or another process that fills it.

        The lock is on the file itself and goes with it when it is renamed into the store: look there first.

        Raises:
            OSError: the directory cannot be written.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fd = self._lock()
        try:
            yield
        finally:
            if self._is_at_place(fd) and self.size_bytes == 0:
                self.path.unlink()
                self.forget()
            os.close(fd)

    @property
    def size_bytes(self) -> int:
        """Size of what came so far."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    @property
    def validator(self) -> str | None:
        """What the server called this version of the file, or None."""
        try:
            note = json.loads(self._note.read_bytes())
        except (OSError, ValueError):
            return None
        value = note.get("validator") if isinstance(note, dict) else None
        return value if isinstance(value, str) else None

    def remember(self, validator: str | None) -> None:
        """Note what the server calls this version of the file."""
        write_atomic(self._note, json.dumps({"validator": validator}).encode())

    def clear(self) -> None:
        """Empty the part but keep it (and its lock)."""
        if self.path.exists():
            os.truncate(self.path, 0)
        self.forget()

    def forget(self) -> None:
        """Remove the note."""
        self._note.unlink(missing_ok=True)

    def _lock(self) -> int:
        while True:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            fcntl.flock(fd, fcntl.LOCK_EX)
            if self._is_at_place(fd):
                return fd
            os.close(fd)  # the holder moved it away meanwhile: what we locked is no longer the part

    def _is_at_place(self, fd: int) -> bool:
        try:
            return os.path.samestat(os.fstat(fd), self.path.stat())
        except FileNotFoundError:
            return False
