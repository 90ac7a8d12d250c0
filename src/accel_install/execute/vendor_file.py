"""A vendor package before it runs: is it the planned file, and has its unpacking room. Everything here comes before any act."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from accel_install.digests import sha256_file
from accel_install.errors import AccelError, PreflightError
from accel_install.plan.models import Artifact

__all__ = ["file_problems"]


def file_problems(artifact: Artifact) -> list[AccelError]:
    """Return what stands against running a package that was found.

    A self-extracting package unpacks itself to TMPDIR (makeself: `${TMPDIR:=/tmp}`), which is often small; the size of the
    package itself is the least it needs there.
    """
    file = Path(str(artifact.path))
    found: list[AccelError] = []
    if artifact.sha256 is not None and (actual := sha256_file(file)) != artifact.sha256:
        found.append(_changed(file, actual, artifact.sha256))
    place = Path(os.environ.get("TMPDIR") or "/tmp")  # noqa: S108 - where makeself unpacks, too
    if not place.is_absolute() or not place.is_dir():
        return [*found, _bad_tmpdir(place)]
    free, needed = shutil.disk_usage(place).free, file.stat().st_size
    return [*found, _no_room(place, free, needed, file)] if free < needed else found


def _changed(file: Path, actual: str, expected: str) -> PreflightError:
    return PreflightError(
        "preflight.artifact-changed",
        f"{file.name} is not the file that was planned",
        value=f"sha256 {actual}",
        expected=f"sha256 {expected}",
        hint="plan again, or supply the right file with --artifacts DIR",
    )


def _bad_tmpdir(place: Path) -> PreflightError:
    return PreflightError(
        "preflight.bad-tmpdir",
        "TMPDIR does not name a folder, and vendor packages unpack themselves there",
        value=str(place),
        expected="an absolute path of an existing folder",
        hint="unset TMPDIR",
    )


def _no_room(place: Path, free: int, needed: int, file: Path) -> PreflightError:
    return PreflightError(
        "preflight.disk-full",
        f"there is not enough room in {place} to unpack {file.name}",
        value=f"{free / 1e9:.1f} GB free",
        expected=f"{needed / 1e9:.1f} GB",
        hint="TMPDIR=/another/folder accel-install apply ...",
    )
