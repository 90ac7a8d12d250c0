"""What is checked of a download besides its digest: room on the disk, size, and the kind of file."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from accel_install.errors import AccelError, PreflightError, StepFailedError

__all__ = ["check_kind", "check_room", "check_size", "write_failure"]

_MAGIC = {  # by suffix: the first bytes of every file of that kind
    ".whl": b"PK",
    ".zip": b"PK",
    ".run": b"#!",
    ".gz": b"\x1f\x8b",
    ".tgz": b"\x1f\x8b",
    ".deb": b"!<arch>",
    ".rpm": b"\xed\xab\xee\xdb",
}
_PAGE_STARTS = (b"<html", b"<!doctype", b"<?xml", b"<head")
_HEAD_BYTES = 512


def check_kind(path: Path, filename: str) -> None:
    """Refuse a landing or login page, or anything else that does not begin as a file of this suffix does.

    Raises:
        StepFailedError: `download.not-a-wheel`.
    """
    with path.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    magic = _MAGIC.get(Path(filename).suffix.lower(), b"")
    is_page = start.startswith(_PAGE_STARTS)
    if head.startswith(magic) and not is_page:
        return
    raise StepFailedError(
        "download.not-a-wheel",
        f"what came for `{filename}` is {'a web page' if is_page else 'not a file of this kind'}",
        value=repr(head[:24].decode("latin-1")),
        expected=f"a file that begins with {magic.decode('latin-1')!r}" if magic else "a file, not a page",
        hint="a login or landing page may answer there: log in, download the file by hand and give its "
        "folder by --artifacts DIR or --find-links DIR",
    )


def check_size(path: Path, filename: str, size_bytes: int | None) -> None:
    """Refuse a file of another size than promised; None promises nothing.

    Raises:
        StepFailedError: `download.size-mismatch`.
    """
    found = path.stat().st_size
    if size_bytes is not None and found != size_bytes:
        raise StepFailedError(
            "download.size-mismatch",
            f"`{filename}` has another size than promised",
            value=f"more than {size_bytes} bytes" if found > size_bytes else f"{found} bytes",
            expected=f"{size_bytes} bytes",
            hint="accel-install plan RECIPE --refresh, or another mirror by --index NAME=URL",
        )


def check_room(directory: Path, filename: str, needed_bytes: int) -> None:
    """Refuse a download that the file system of an existing directory has no room for.

    Raises:
        PreflightError: `preflight.disk-full`.
    """
    answer = os.statvfs(directory)
    free_bytes = answer.f_bavail * answer.f_frsize
    if free_bytes < needed_bytes:
        raise PreflightError(
            "preflight.disk-full",
            f"no room for `{filename}` on the file system mounted at `{_mount_of(directory)}`",
            value=f"{free_bytes} bytes free at {directory}",
            expected=f"{needed_bytes} bytes free",
            hint="ACCEL_INSTALL_CACHE_DIR=DIR on a larger file system",
            details={"needed_bytes": needed_bytes, "free_bytes": free_bytes},
        )


def write_failure(error: OSError, directory: Path, filename: str) -> AccelError:
    """Return the error for a failed write: a disk that filled up, or a directory that cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StepFailedError(
            "download.disk-full",
            f"the file system mounted at `{_mount_of(directory)}` is full; what came of `{filename}` is kept",
            value=str(directory),
            expected="room for the rest of the file",
            hint="make room, then: accel-install resume",
        )
    return PreflightError(
        "preflight.cache-not-writable",
        f"the download folder cannot be used: {error.strerror or error}",
        value=str(directory),
        expected="a directory this user may write",
        hint="ACCEL_INSTALL_CACHE_DIR=DIR",
    )


def _mount_of(path: Path) -> Path:
    here = path.absolute()
    while not here.exists():
        here = here.parent
    while not here.is_mount() and here != here.parent:
        here = here.parent
    return here
