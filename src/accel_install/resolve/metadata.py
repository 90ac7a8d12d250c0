"""METADATA of a wheel: `<url>.metadata`, else the tail of the remote zip, else the whole file.

Indexes do not say reliably whether `<url>.metadata` exists (it is served without being announced), so it is tried
unless the page denies it. Choosing files lives in `select`, judging requirements in `overrides`.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from email.parser import HeaderParser
from pathlib import Path
from typing import IO, Any, Protocol

from packaging.utils import canonicalize_name

from accel_install.digests import sha256_bytes
from accel_install.errors import AccelError, IndexUnavailableError, ResolutionError
from accel_install.fetch.urls import local_path
from accel_install.resolve.metadata_cache import MetadataCache
from accel_install.resolve.models import ChosenWheel, IndexFile
from accel_install.resolve.versions import parse_version
from accel_install.resolve.zip_tail import RangeFile

__all__ = ["HttpReader", "WheelMetadata", "disagreement", "parse_metadata", "read_many", "read_metadata"]

_ENOUGH_TRIES = 6


class _Response(Protocol):
    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> dict[str, str]: ...
    @property
    def content(self) -> bytes: ...


class HttpReader(Protocol):
    """What is needed of `fetch.http.HttpClient`."""

    def get(self, url: str) -> _Response:
        """Return the answer to a GET."""

    def get_range(self, url: str, start: int, end: int) -> _Response:
        """Return the answer to a GET of a byte range, `end` inclusive; status 200: ranges are not served."""

    def stream_to(self, url: str, path: Path) -> Any:
        """Write the whole file to a path; raises IndexUnavailableError when it cannot be had."""


@dataclass(frozen=True)
class WheelMetadata:
    """The dependency part of a wheel's METADATA, lines as written."""

    name: str
    version: str
    requires_dist: tuple[str, ...] = ()
    requires_python: str | None = None
    provides_extra: tuple[str, ...] = ()


def parse_metadata(content: bytes) -> WheelMetadata:
    """Parse METADATA leniently: unknown fields and a bad description do not matter.

    Raises:
        ValueError: there is no name or no version (then it is not METADATA at all).
    """
    head = content.decode("utf-8", "replace").replace("\r\n", "\n").split("\n\n", 1)[0]
    fields = HeaderParser().parsestr(head + "\n\n")
    name, version = fields.get("Name"), fields.get("Version")
    if not name or not version:
        raise ValueError("no Name or Version field")
    return WheelMetadata(
        name=canonicalize_name(str(name).strip()),
        version=str(version).strip(),
        requires_dist=tuple(" ".join(str(line).split()) for line in fields.get_all("Requires-Dist", [])),
        requires_python=_text(fields.get("Requires-Python")),
        provides_extra=tuple(canonicalize_name(str(e).strip()) for e in fields.get_all("Provides-Extra", [])),
    )


def disagreement(metadata: WheelMetadata, wheel: ChosenWheel) -> str | None:
    """Say so when a wheel's METADATA names another project or version than its file name; installers refuse such a file."""
    same = metadata.name == wheel.name and parse_version(metadata.version) == parse_version(wheel.version)
    if same:
        return None
    return f"the metadata of {wheel.filename} says {metadata.name} {metadata.version}; installers refuse such a file"


def _text(value: object) -> str | None:
    return str(value).strip() if value is not None else None


@dataclass
class _Habits:
    """Whether an index serves `.metadata`, as seen while many files are read: most misses cost a round trip each."""

    tried: int = 0
    served: int = 0

    def note(self, served: bool) -> None:
        self.tried += 1
        self.served += served

    @property
    def doubtful(self) -> bool:
        return self.tried >= _ENOUGH_TRIES and self.served * 2 < self.tried


def read_metadata(
    file: IndexFile, http: HttpReader, cache_dir: Path | None, *, offline: bool = False, habits: _Habits | None = None
) -> WheelMetadata:
    """Return the metadata of a wheel.

    Args:
        file: the wheel; with a sha256 the answer is cached for ever.
        http: the reader for remote files.
        cache_dir: the tool's cache folder, None for no cache.
        offline: whether remote files must not be asked for.
        habits: what was learnt of the index while reading others.

    Raises:
        IndexUnavailableError: the host does not answer, or the tool is offline and the answer is not cached.
        ResolutionError: the file holds no readable METADATA (`resolve.metadata-unreadable`).
    """
    cache = MetadataCache(cache_dir / "metadata" if cache_dir else None)
    cached = _from_cache(cache, file)
    if cached is not None:
        return cached
    path = local_path(file.url)
    if path is None and offline:
        raise IndexUnavailableError(
            "network.offline",
            f"the metadata of {file.filename} is not in the cache",
            value=file.filename,
            expected="a cached answer, as --offline was given",
            hint="run once without --offline",
        )
    try:
        found = parse_metadata(_read_local(path) if path is not None else _read_remote(file, http, habits or _Habits()))
    except (ValueError, OSError, KeyError, zipfile.BadZipFile) as error:
        raise ResolutionError(
            "resolve.metadata-unreadable",
            f"the metadata of {file.filename} cannot be read: {error}",
            value=file.filename,
            expected="a wheel with NAME.dist-info/METADATA",
        ) from error
    cache.put(file.sha256, asdict(found))
    return found


def read_many(
    files: Sequence[IndexFile],
    http: HttpReader,
    cache_dir: Path | None,
    *,
    jobs: int = 16,
    offline: bool = False,
) -> dict[str, WheelMetadata | AccelError]:
    """Return metadata, or the error, by file name. Those not cached are read by `jobs` threads."""
    cache = MetadataCache(cache_dir / "metadata" if cache_dir else None)
    results: dict[str, WheelMetadata | AccelError] = {}
    habits = _Habits()
    missing = []
    for file in files:
        cached = _from_cache(cache, file)
        if cached is None:
            missing.append(file)
        else:
            results[file.filename] = cached

    def read(file: IndexFile) -> WheelMetadata | AccelError:
        try:
            return read_metadata(file, http, cache_dir, offline=offline, habits=habits)
        except AccelError as error:
            return error

    if missing:
        with ThreadPoolExecutor(max_workers=min(jobs, len(missing))) as pool:
            results.update(zip((f.filename for f in missing), pool.map(read, missing), strict=True))
    return results


def _from_cache(cache: MetadataCache, file: IndexFile) -> WheelMetadata | None:
    value = cache.get(file.sha256)
    if value is None:
        return None
    try:
        return WheelMetadata(
            name=value["name"],
            version=value["version"],
            requires_dist=tuple(value["requires_dist"]),
            requires_python=value["requires_python"],
            provides_extra=tuple(value["provides_extra"]),
        )
    except (KeyError, TypeError):
        return None


def _read_local(path: Path) -> bytes:
    with path.open("rb") as stream:
        return _member(stream)


def _read_remote(file: IndexFile, http: HttpReader, habits: _Habits) -> bytes:
    url = file.url.split("#", 1)[0]
    range_first = file.has_metadata is False or (file.has_metadata is None and habits.doubtful and file.size_bytes is not None)
    if range_first:
        found = _read_by_range(url, file.size_bytes, http)
        if found is not None:
            return found
    if file.has_metadata is not False:
        answer = http.get(url + ".metadata")
        served = answer.status == 200 and answer.content.lstrip()[:17].lower() == b"metadata-version:"
        served = served and file.metadata_sha256 in (None, sha256_bytes(answer.content))
        habits.note(served)
        if served:
            return answer.content
    by_range = None if range_first else _read_by_range(url, file.size_bytes, http)
    return by_range if by_range is not None else _read_whole(url, http)


def _read_by_range(url: str, size_bytes: int | None, http: HttpReader) -> bytes | None:
    """Return METADATA from ranges of the zip, None when the server does not serve ranges."""
    size = size_bytes if size_bytes is not None else _size_of(url, http)
    if size is None:
        return None

    def fetch(start: int, end: int) -> bytes:
        answer = http.get_range(url, start, end)
        if answer.status != 206:
            raise OSError(f"status {answer.status}")
        return answer.content

    try:
        return _member(RangeFile(size, fetch))  # type: ignore[arg-type]  # a RawIOBase is all zipfile needs
    except (OSError, zipfile.BadZipFile):
        return None


def _size_of(url: str, http: HttpReader) -> int | None:
    answer = http.get_range(url, 0, 0)
    total = answer.headers.get("content-range", "").rpartition("/")[2]
    return int(total) if answer.status == 206 and total.isdigit() else None


def _read_whole(url: str, http: HttpReader) -> bytes:
    with tempfile.TemporaryDirectory(prefix="accel-install-wheel-") as folder:
        path = Path(folder) / "whole.whl"
        http.stream_to(url, path)
        return _read_local(path)


def _member(stream: IO[bytes]) -> bytes:
    """Return `NAME.dist-info/METADATA` of the top level, not one of a vendored package."""
    with zipfile.ZipFile(stream) as archive:
        for name in archive.namelist():
            if name.endswith(".dist-info/METADATA") and name.count("/") == 1:
                return archive.read(name)
    raise ValueError("no dist-info/METADATA in the archive")
