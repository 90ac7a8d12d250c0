"""Local files read as if they came from a server, so that mirrors on disk and on the network behave alike."""

from __future__ import annotations

from pathlib import Path

from accel_install.errors import IndexUnavailableError
from accel_install.fetch.responses import HttpResponse

__all__ = ["read_range", "read_whole", "unreadable"]

_INDEX_PAGE = "index.html"
_OCTETS = "application/octet-stream"
_TYPES = {".html": "text/html", ".json": "application/json", ".metadata": "text/plain"}


def read_whole(path: Path) -> HttpResponse:
    """Return a file, or the `index.html` of a folder, with status 200; 404 when it is not there.

    Raises:
        IndexUnavailableError: `network.unreadable`, the file is there but may not be read.
    """
    file = path / _INDEX_PAGE if path.is_dir() else path
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return _absent(path)
    except OSError as error:
        raise unreadable(file, error) from error
    return HttpResponse(200, {"content-type": _TYPES.get(file.suffix, _OCTETS)}, content, _uri(path))


def read_range(path: Path, start: int, end: int | None) -> HttpResponse:
    """Return bytes `start` to `end` (inclusive; a negative start counts from the end) with status 206.

    Status 404 when the file is not there, 416 when it has no such bytes.

    Raises:
        IndexUnavailableError: `network.unreadable`.
    """
    try:
        with path.open("rb") as stream:
            size_bytes = stream.seek(0, 2)
            first = max(0, size_bytes + start) if start < 0 else start
            last = size_bytes - 1 if end is None or start < 0 else min(end, size_bytes - 1)
            if first > last:
                return HttpResponse(416, {"content-range": f"bytes */{size_bytes}"}, b"", _uri(path))
            stream.seek(first)
            content = stream.read(last - first + 1)
    except FileNotFoundError:
        return _absent(path)
    except OSError as error:
        raise unreadable(path, error) from error
    headers = {"content-range": f"bytes {first}-{last}/{size_bytes}", "content-type": _OCTETS}
    return HttpResponse(206, headers, content, _uri(path))


def _uri(path: Path) -> str:
    """Return the address of a path; a folder's ends in a slash, so that links on its page start there."""
    uri = path.absolute().as_uri()
    return f"{uri}/" if path.is_dir() and not uri.endswith("/") else uri


def _absent(path: Path) -> HttpResponse:
    return HttpResponse(404, {}, b"", path.absolute().as_uri())


def unreadable(path: Path, error: OSError) -> IndexUnavailableError:
    """Return the error for a local file that is there but cannot be read."""
    return IndexUnavailableError(
        "network.unreadable",
        f"a local file cannot be read: {error.strerror}",
        value=str(path),
        expected="a readable file",
    )
