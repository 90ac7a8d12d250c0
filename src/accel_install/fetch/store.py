"""Files kept by content: `<dir>/sha256/<first two>/<digest>/<name>`. They were verified on their way in.

Nothing here fetches; unfinished downloads lie beside it in `<dir>/parts`.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

from accel_install.digests import sha256_file
from accel_install.errors import StepFailedError
from accel_install.host.durable import fsync_dir

__all__ = ["ArtifactStore"]

_HEX = re.compile(r"[0-9a-f]{64}")


class ArtifactStore:
    """A content-addressed folder.

    Args:
        dir: its place; made when the first file is added.
    """

    def __init__(self, dir: Path) -> None:
        self.dir = dir
        self.parts_dir = dir / "parts"

    def path_for(self, sha256: str, filename: str) -> Path:
        """Return where a file is or would be kept.

        Raises:
            StepFailedError: `download.bad-name`, the digest is not 64 hex digits or the name is not plain.
        """
        digest = sha256.removeprefix("sha256:").lower()
        if not _HEX.fullmatch(digest) or filename in ("", ".", "..") or {"/", "\0"} & set(filename):
            raise StepFailedError(
                "download.bad-name",
                "a file cannot be kept under this digest and name",
                value=f"{sha256} {filename!r}",
                expected="64 hex digits and a file name without directories",
            )
        return self.dir / "sha256" / digest[:2] / digest / filename

    def has(self, sha256: str, filename: str) -> bool:
        """Say whether a file is kept; it was verified when it came in (`verify` looks again)."""
        return self.path_for(sha256, filename).is_file()

    def verify(self, sha256: str, filename: str) -> bool:
        """Read a kept file again and say whether it is there and still has its digest."""
        path = self.path_for(sha256, filename)
        try:
            return sha256_file(path) == path.parent.name
        except OSError:
            return False

    def add_file(self, path: Path, sha256: str, filename: str | None = None, *, move: bool = False) -> Path:
        """Verify a file and keep it under `filename` (default: its own name); return its new place.

        With `move` the file itself is taken (from the same file system, as `parts_dir`), else a copy. A file
        already kept is replaced, which heals a damaged one.

        Raises:
            StepFailedError: `download.digest-mismatch`, the content is another; nothing was kept.
            OSError: the store cannot be written.
        """
        target = self.path_for(sha256, filename or path.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        source = path if move else self._copy(path)
        try:
            self._check(source, target.parent.name, target.name)
            _fsync_file(source)
            source.replace(target)
        finally:
            if not move:
                source.unlink(missing_ok=True)
        fsync_dir(target.parent)
        return target

    def _copy(self, path: Path) -> Path:
        self.parts_dir.mkdir(parents=True, exist_ok=True)
        fd, name = tempfile.mkstemp(prefix="copy-", dir=self.parts_dir)
        copy = Path(name)
        try:
            with os.fdopen(fd, "wb") as stream, path.open("rb") as source:
                shutil.copyfileobj(source, stream, 1 << 20)
            copy.chmod(0o644)
        except BaseException:
            copy.unlink(missing_ok=True)
            raise
        return copy

    def _check(self, path: Path, wanted: str, filename: str) -> None:
        found = sha256_file(path)
        if found != wanted:
            raise StepFailedError(
                "download.digest-mismatch",
                f"`{filename}` is not the file that was promised",
                value=f"sha256 {found}",
                expected=f"sha256 {wanted}",
                hint="accel-install plan RECIPE --refresh, or another mirror by --index NAME=URL",
            )


def _fsync_file(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
