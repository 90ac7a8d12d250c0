"""A seekable view of a remote file, read by ranges, so that `zipfile` opens a wheel without downloading it.

Only bytes and offsets live here; what is looked for inside the archive is the business of `metadata`.
"""

from __future__ import annotations

import io
from collections.abc import Callable

__all__ = ["RangeFile"]

_TAIL_BYTES = 64 * 1024
_LARGEST_TAIL_BYTES = 2 << 20
_TAIL_PART = 64  # directory and metadata of the wheels that were looked at lie within the last 64th (torch: 1.8 of 146 MB)


class RangeFile(io.RawIOBase):
    """A read-only file whose bytes come from `fetch(start, end)`, `end` inclusive.

    A read near the end takes the tail at once, where the directory of a zip file lies (64 KiB, more of a large file, at most
    2 MiB); others fetch what is missing.

    Args:
        size_bytes: length of the remote file.
        fetch: returns the bytes of an inclusive range; may raise OSError.
    """

    def __init__(self, size_bytes: int, fetch: Callable[[int, int], bytes]) -> None:
        super().__init__()
        self._size = size_bytes
        self._fetch = fetch
        self._tail = min(max(_TAIL_BYTES, size_bytes // _TAIL_PART), _LARGEST_TAIL_BYTES)
        self._position = 0
        self._chunks: list[tuple[int, bytes]] = []

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def seekable(self) -> bool:
        """Say that it can be sought."""
        return True

    def tell(self) -> int:
        """Return the position in bytes."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move the position and return it."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes from the position on (all when negative)."""
        end = self._size if size is None or size < 0 else min(self._size, self._position + size)
        if end <= self._position:
            return b""
        data = self._bytes(self._position, end)
        self._position += len(data)
        return data

    def _bytes(self, start: int, end: int) -> bytes:
        for chunk_start, chunk in self._chunks:
            if chunk_start <= start and end <= chunk_start + len(chunk):
                return chunk[start - chunk_start : end - chunk_start]
        first, last = self._window(start, end)
        chunk = self._fetch(first, last - 1)
        if len(chunk) != last - first:
            raise OSError(f"a range of {last - first} bytes was answered with {len(chunk)}")
        self._chunks.append((first, chunk))
        return chunk[start - first : end - first]

    def _window(self, start: int, end: int) -> tuple[int, int]:
        tail = max(0, self._size - self._tail)
        if start >= tail:
            return tail, self._size
        return start, min(self._size, max(end, start + _TAIL_BYTES))
