"""Paths below a directory that stands for `/`: symlinks are followed as the kernel would after a chroot.

An absolute link target starts again at the root, and `..` stops there, so no path leaves the directory.
Nothing here opens a file.
"""

from __future__ import annotations

from pathlib import Path

from accel_install.errors import MachineError

__all__ = ["resolve_below"]

_MAX_LINKS = 40  # as the kernel: MAXSYMLINKS in include/linux/namei.h


def resolve_below(root: Path, path: str, *, follow_last: bool = True) -> Path:
    """Return the real path of a machine path below `root`; what does not exist is joined as it is written.

    Args:
        root: directory that stands for `/`, itself free of symlinks.
        path: path on the machine; a relative one counts from `/`.
        follow_last: False leaves a symlink in the last component alone.

    Raises:
        MachineError: `machine.symlink-loop`, more than 40 links were followed.
    """
    pending = _parts(path)
    done: list[str] = []
    links = 0
    while pending:
        part = pending.pop()
        if part == "..":
            del done[-1:]
            continue
        done.append(part)
        target = _link_target(root.joinpath(*done)) if pending or follow_last else None
        if target is None:
            continue
        links += 1
        if links > _MAX_LINKS:
            raise _loop(path)
        done = [] if target.startswith("/") else done[:-1]
        pending += _parts(target)
    return root.joinpath(*done)


def _parts(path: str) -> list[str]:
    """Return the components of a path, last first."""
    return [part for part in reversed(path.split("/")) if part not in ("", ".")]


def _link_target(path: Path) -> str | None:
    try:
        return str(path.readlink())
    except OSError:
        return None


def _loop(path: str) -> MachineError:
    return MachineError(
        "machine.symlink-loop",
        "the symlinks of a path lead round in a circle",
        value=path,
        expected=f"at most {_MAX_LINKS} links",
        hint=f"namei -l {path}",
    )
