"""One download into one file: where to go on, what to believe of the answer, when to begin again.

Knows HTTP's rules about ranges, but no HTTP library; and neither digests nor the place where files are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from accel_install.fetch.failures import bad_status
from accel_install.fetch.responses import BUSY_STATUSES, StreamInfo, content_range
from accel_install.fetch.retry import TryAgain, retry_after_s

__all__ = ["Transfer"]


class _Raw(Protocol):
    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def chunks(self) -> Iterator[bytes]: ...


class _Opener(Protocol):
    def open_stream(self, url: str, headers: Mapping[str, str]) -> AbstractContextManager[_Raw]: ...


@dataclass
class Transfer:
    """State of a download over its attempts; each call of `attempt` goes on where the last one stopped.

    Attributes:
        path: file to write; its present content is kept only with `resume`.
        resume: the present content may be gone on with, because a digest or the validator will tell.
        validator: what the present content was served under; sent as `If-Range`.
        limit_bytes: stop reading after one byte more than this (the caller sees that the file is too long).
        on_start: called with the head of the answer before anything is written; may raise.
        on_chunk: called with the size of the file after each piece; may raise.
    """

    opener: _Opener
    url: str
    path: Path
    resume: bool
    validator: str | None
    limit_bytes: int | None
    headers: Mapping[str, str]
    on_start: Callable[[StreamInfo], None] | None = None
    on_chunk: Callable[[int], None] | None = None

    def attempt(self) -> StreamInfo:
        """Ask once and write what comes.

        Raises:
            TryAgain: another attempt may do better.
            IndexUnavailableError: for a final status of 400 and more.
            OSError: the file cannot be written.
        """
        offset = self._offset()
        with self.opener.open_stream(self.url, self._request_headers(offset)) as raw:
            info = self._judge(raw, offset)
            if self.on_start is not None:
                self.on_start(info)
            self.validator = info.validator
            self.resume = self.resume or info.validator is not None
            size_bytes = self._write(raw.chunks, info.offset)
        too_long = self.limit_bytes is not None and size_bytes > self.limit_bytes
        if info.total_bytes is not None and size_bytes < info.total_bytes and not too_long:
            raise TryAgain(f"the connection ended after {size_bytes} of {info.total_bytes} bytes")
        return info

    def _offset(self) -> int:
        if not self.resume or not self.path.exists():
            return 0
        return self.path.stat().st_size

    def _request_headers(self, offset: int) -> dict[str, str]:
        if offset == 0:
            return dict(self.headers)
        condition = {"if-range": self.validator} if self.validator else {}
        return {**self.headers, "range": f"bytes={offset}-", **condition}

    def _judge(self, raw: _Raw, offset: int) -> StreamInfo:
        if raw.status in BUSY_STATUSES:
            raise TryAgain(f"HTTP status {raw.status}", retry_after_s(raw.headers.get("retry-after")))
        if raw.status == 416 and offset:
            self._begin_again("the server has no such part of the file")
        if raw.status >= 400:
            raise bad_status(self.url, raw.status)
        if raw.status == 206:
            found = content_range(raw.headers)
            if found is None or found.start != offset:
                self._begin_again("the server sent another part of the file than it was asked for")
        return StreamInfo.of(raw.status, raw.headers)

    def _begin_again(self, reason: str) -> None:
        self.path.write_bytes(b"")
        self.resume, self.validator = False, None
        raise TryAgain(reason, wait_s=0.0)

    def _write(self, chunks: Iterator[bytes], offset: int) -> int:
        size_bytes = offset
        with self.path.open("r+b" if offset else "wb") as stream:
            stream.seek(offset)
            stream.truncate()
            for chunk in chunks:
                stream.write(chunk)
                size_bytes += len(chunk)
                if self.on_chunk is not None:
                    self.on_chunk(size_bytes)
                if self.limit_bytes is not None and size_bytes > self.limit_bytes:
                    break
        return size_bytes
