"""What the network said, as plain values. The errors made of it are in `failures`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = [
    "BUSY_STATUSES",
    "ByteRange",
    "HttpResponse",
    "StreamInfo",
    "content_range",
]

BUSY_STATUSES = frozenset({429, 500, 502, 503, 504})
"""Answers that a later attempt may mend."""

_CONTENT_RANGE = re.compile(r"bytes\s+(\d+)-(\d+)/(\d+|\*)$")


@dataclass(frozen=True)
class HttpResponse:
    """A whole answer. `headers` have lower-case names; `url` is the final one, without user and password."""

    status: int
    headers: dict[str, str]
    content: bytes
    url: str


@dataclass(frozen=True)
class StreamInfo:
    """The head of an answer whose body goes to a file.

    Attributes:
        offset: first byte of the body within the whole file (0 unless a part was resumed).
        total_bytes: size of the whole file where the server says so.
        validator: strong ETag or Last-Modified for `If-Range`, or None (RFC 9110, 13.1.5).
    """

    status: int
    offset: int
    total_bytes: int | None
    validator: str | None
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, status: int, headers: Mapping[str, str]) -> StreamInfo:
        """Read status and headers of an answer."""
        found = content_range(headers) if status == 206 else None
        length = headers.get("content-length", "")
        total = found.total_bytes if found else int(length) if length.isdigit() else None
        etag = headers.get("etag", "")
        validator = etag if etag.startswith('"') else headers.get("last-modified")
        return cls(status, found.start if found else 0, total, validator, headers)


@dataclass(frozen=True)
class ByteRange:
    """A Content-Range header: first and last byte, and the size of the whole file if known."""

    start: int
    end: int
    total_bytes: int | None


def content_range(headers: Mapping[str, str]) -> ByteRange | None:
    """Return the range an answer says it holds, or None when it says none or nonsense."""
    match = _CONTENT_RANGE.match(headers.get("content-range", "").strip())
    if match is None:
        return None
    total = None if match[3] == "*" else int(match[3])
    return ByteRange(int(match[1]), int(match[2]), total)
