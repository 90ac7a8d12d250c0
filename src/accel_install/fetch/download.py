"""Getting files into the store: resumed, checked for size, kind and digest, several ahead of the run.

A file is at its final place only when it is whole and verified; until then it is a part that a later run goes
on with.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from accel_install.digests import sha256_file
from accel_install.errors import IndexUnavailableError, InterruptedRunError, StepFailedError
from accel_install.fetch.checks import check_kind, check_room, check_size, write_failure
from accel_install.fetch.failures import not_found
from accel_install.fetch.http import HttpClient
from accel_install.fetch.local_files import unreadable
from accel_install.fetch.part import PartFile, part_key
from accel_install.fetch.responses import StreamInfo
from accel_install.fetch.store import ArtifactStore
from accel_install.fetch.urls import local_path

__all__ = ["Downloader", "Progress"]

_ANY_DIGEST = "0" * 64
Progress = Callable[[str, int], None]
"""Called from any thread with a file name and the bytes of it that are there."""


@dataclass(frozen=True)
class _Wanted:
    url: str
    filename: str
    sha256: str | None
    size_bytes: int | None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return part_key(self.url, self.filename, self.sha256)


class Downloader:
    """Fetches files into a store.

    Args:
        store: where verified files are kept.
        client: how they are read.
        jobs: how many downloads `prefetch` runs at a time.
        on_progress: see `Progress`; must be thread-safe and must not raise.
    """

    def __init__(self, store: ArtifactStore, client: HttpClient, jobs: int = 8, on_progress: Progress | None = None) -> None:
        self.store = store
        self._client = client
        self._jobs = jobs
        self._on_progress = on_progress
        self._pool: ThreadPoolExecutor | None = None
        self._pending: dict[tuple[str, str], Future[Path]] = {}
        self._stopped = threading.Event()

    def fetch(
        self,
        url: str,
        filename: str,
        sha256: str | None = None,
        size_bytes: int | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Path:
        """Return the file in the store, waiting for its prefetch or fetching it now.

        Without `sha256` the file is kept under the digest it turns out to have.

        Raises:
            StepFailedError: `download.digest-mismatch`, `download.size-mismatch`, `download.not-a-wheel`,
                `download.disk-full` (the part is kept) or `download.bad-name`.
            PreflightError: `preflight.disk-full` or `preflight.cache-not-writable`.
            IndexUnavailableError: `network.*`.
            InterruptedRunError: `download.interrupted`, `close` was called meanwhile.
        """
        wanted = _Wanted(url, filename, _bare(sha256), size_bytes, headers or {})
        pending = self._pending.pop((wanted.key, filename), None)
        if pending is None:
            return self._obtain(wanted)
        try:
            return pending.result()
        except CancelledError:
            raise _interrupted() from None
        except IndexUnavailableError:
            return self._obtain(wanted)  # the network may have come back since

    def prefetch(self, items: Iterable[tuple[str, str, str | None, int | None]]) -> None:
        """Start fetching (url, filename, sha256, size in bytes) in the background, in this order.

        Failures are raised by the `fetch` that asks for the file.
        """
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._jobs, thread_name_prefix="download")
        for url, filename, sha256, size_bytes in items:
            wanted = _Wanted(url, filename, _bare(sha256), size_bytes)
            key = (wanted.key, filename)
            if key not in self._pending:
                self._pending[key] = self._pool.submit(self._obtain, wanted)

    def close(self) -> None:
        """Cancel what waits and stop what runs at its next piece; parts stay for the next run."""
        self._stopped.set()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def _obtain(self, wanted: _Wanted) -> Path:
        if wanted.sha256 is not None and self.store.has(wanted.sha256, wanted.filename):
            return self.store.path_for(wanted.sha256, wanted.filename)
        self.store.path_for(wanted.sha256 or _ANY_DIGEST, wanted.filename)  # refuses a bad name before any work
        source = local_path(wanted.url)
        try:
            return self._download(wanted) if source is None else self._copy(wanted, source)
        except OSError as error:
            raise write_failure(error, self.store.parts_dir, wanted.filename) from error

    def _copy(self, wanted: _Wanted, source: Path) -> Path:
        if not source.is_file():
            raise not_found(wanted.url)
        try:
            check_kind(source, wanted.filename)
        except OSError as error:
            raise unreadable(source, error) from error
        check_size(source, wanted.filename, wanted.size_bytes)
        self.store.parts_dir.mkdir(parents=True, exist_ok=True)
        check_room(self.store.parts_dir, wanted.filename, source.stat().st_size)
        return self.store.add_file(source, wanted.sha256 or sha256_file(source), wanted.filename)

    def _download(self, wanted: _Wanted) -> Path:
        part = PartFile(self.store.parts_dir, wanted.key)
        with part.locked():
            if wanted.sha256 is not None and self.store.has(wanted.sha256, wanted.filename):
                return self.store.path_for(wanted.sha256, wanted.filename)  # another run was faster
            may_be_stale = part.size_bytes > 0
            while True:
                self._fill(part, wanted)
                try:
                    return self._place(part, wanted)
                except StepFailedError:
                    part.clear()
                    if not may_be_stale:
                        raise
                may_be_stale = False  # the old part may have been to blame: once more from the start

    def _fill(self, part: PartFile, wanted: _Wanted) -> None:
        """Bring the part to its full length; see `Transfer` for when it is gone on with."""
        validator = part.validator
        may_resume = wanted.sha256 is not None or validator is not None
        if not may_resume or (wanted.size_bytes is not None and part.size_bytes > wanted.size_bytes):
            part.clear()
        if wanted.size_bytes is not None and wanted.size_bytes == part.size_bytes:
            return
        if wanted.size_bytes is not None:
            check_room(part.path.parent, wanted.filename, wanted.size_bytes - part.size_bytes)
        self._client.stream_to(
            wanted.url,
            part.path,
            resume=may_resume,
            validator=validator,
            limit_bytes=wanted.size_bytes,
            headers=wanted.headers,
            on_start=partial(_started, part, wanted),
            on_chunk=partial(self._moved_on, wanted),
        )

    def _moved_on(self, wanted: _Wanted, size_bytes: int) -> None:
        if self._stopped.is_set():
            raise _interrupted()
        if self._on_progress is not None:
            self._on_progress(wanted.filename, size_bytes)

    def _place(self, part: PartFile, wanted: _Wanted) -> Path:
        check_kind(part.path, wanted.filename)
        check_size(part.path, wanted.filename, wanted.size_bytes)
        digest = wanted.sha256 or sha256_file(part.path)
        placed = self.store.add_file(part.path, digest, wanted.filename, move=True)
        part.forget()
        return placed


def _started(part: PartFile, wanted: _Wanted, info: StreamInfo) -> None:
    if info.total_bytes is not None and wanted.size_bytes is None:
        check_room(part.path.parent, wanted.filename, info.total_bytes - info.offset)
    part.remember(info.validator)


def _bare(sha256: str | None) -> str | None:
    """Return the hex digits of a digest that may be written `sha256:<hex>`."""
    return sha256.removeprefix("sha256:").lower() if sha256 else None


def _interrupted() -> InterruptedRunError:
    return InterruptedRunError("download.interrupted", "downloads were stopped; parts are kept", hint="accel-install resume")
