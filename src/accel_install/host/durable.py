"""Files that survive a cut of power: written whole or not at all, and flushed together with their directory.

What the files mean (journal, lock, state) is none of this module's business.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

__all__ = ["append_durable", "fsync_dir", "replace_symlink", "sweep_temporaries", "write_atomic"]


def write_atomic(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Replace a file by new content so that a reader sees the old or the new bytes, never a part.

    Missing parent directories are created. `mode` is set exactly, whatever the umask.

    Raises:
        OSError: the directory cannot be written or is full; the old file is then untouched.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fd, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    temporary = Path(name)
    try:
        try:
            _write_all(fd, data)
            os.fchmod(fd, mode)
            os.fsync(fd)
        finally:
            os.close(fd)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    fsync_dir(path.parent)


def append_durable(path: Path, data: bytes) -> None:
    """Append bytes to a file and flush them to the disk; a file that is new is flushed with its directory.

    When the disk is full, the part that was written is cut off again as far as possible. One writer at a time
    is assumed (the machine lock sees to it).

    Raises:
        OSError: the file cannot be opened, written or flushed.
    """
    is_new = not path.exists()
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        size_bytes = os.fstat(fd).st_size
        try:
            _write_all(fd, data)
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(fd, size_bytes)
            raise
        os.fsync(fd)
    finally:
        os.close(fd)
    if is_new:
        fsync_dir(path.parent)


def replace_symlink(link: Path, target: str) -> None:
    """Point a symlink to another target in one step: a new name is made, then renamed over the old one.

    Raises:
        OSError: the directory cannot be written, or `link` is a directory.
    """
    temporary = link.with_name(f".{link.name}.{os.getpid()}.tmp")
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(target)
    try:
        temporary.replace(link)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    fsync_dir(link.parent)


def sweep_temporaries(folder: Path) -> None:
    """Remove new names that a killed writer left in a folder. Only for folders whose one writer is the caller."""
    with contextlib.suppress(OSError):
        for path in folder.glob(".*.tmp"):
            path.unlink(missing_ok=True)


def fsync_dir(path: Path) -> None:
    """Flush the entries of a directory, so that a rename or a new file in it survives a cut of power.

    Raises:
        OSError: the directory cannot be opened or flushed.
    """
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
