"""Where promised files can be had today: in the store, in extra pages and folders, or on their named index.

A lock names an index, a file and a digest, never an address; what is found under another digest is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from accel_install.errors import AccelError, BundleOrLockError, IndexUnavailableError, ResolutionError
from accel_install.resolve.bound import Pages, PageSource
from accel_install.resolve.models import IndexFile

__all__ = ["Store", "WantedWheel", "locate"]

_JOBS = 16


class WantedWheel(Protocol):
    """A promised file: a dataclass or pydantic value with these fields."""

    @property
    def name(self) -> str: ...
    @property
    def filename(self) -> str: ...
    @property
    def index(self) -> str: ...
    @property
    def sha256(self) -> str | None: ...
    @property
    def url(self) -> str | None: ...


class Store(Protocol):
    """What is needed of `fetch.store.ArtifactStore`."""

    def has(self, sha256: str, filename: str) -> bool: ...
    def path_for(self, sha256: str, filename: str) -> Path: ...


Wheel = TypeVar("Wheel", bound=WantedWheel)


def locate(wheels: Sequence[Wheel], client: PageSource, store: Store | None = None) -> list[Wheel]:
    """Return the wheels in the same order, each with `url` filled in.

    Args:
        wheels: promised files; those that have a `url` are returned as they are.
        client: for pages of named indexes, extra pages and folders.
        store: verified files that are here already; they are preferred.

    Raises:
        BundleOrLockError: an index offers the file under another digest (`lock.digest-differs`).
        IndexUnavailableError: the index of a missing file does not answer.
        ResolutionError: a file is nowhere any more (`resolve.file-gone`). All of them are named at once.
    """
    pages = Pages(client)

    def find(wheel: Wheel) -> str | AccelError:
        try:
            return wheel.url or _find(wheel, pages, store)
        except AccelError as error:
            return error

    if not wheels:
        return []
    with ThreadPoolExecutor(max_workers=min(_JOBS, len(wheels))) as pool:
        found = list(pool.map(find, wheels))
    failed = [(w, e) for w, e in zip(wheels, found, strict=True) if isinstance(e, AccelError)]
    if failed:
        raise _joined(failed)
    return [_with_url(w, url) for w, url in zip(wheels, found, strict=True) if isinstance(url, str)]


def _find(wheel: WantedWheel, pages: Pages, store: Store | None) -> str:
    if store is not None and wheel.sha256 and store.has(wheel.sha256, wheel.filename):
        return store.path_for(wheel.sha256, wheel.filename).absolute().as_uri()
    extra = [file for _, file in pages.extra_files(wheel.name) if file.filename == wheel.filename]
    for file in extra:
        if _same_digest(file, wheel):
            return file.url
    page = pages.page(wheel.index, wheel.name)
    offered = [file for file in page.files if file.filename == wheel.filename] if page is not None else []
    for file in offered:
        if _same_digest(file, wheel):
            return file.url
    if offered or extra:
        raise _differs(wheel, [*offered, *extra])
    raise ResolutionError(
        "resolve.file-gone",
        f"index `{wheel.index}` does not list the file",
        value=wheel.filename,
        expected=f"{wheel.filename} of {wheel.name}",
        hint="--find-links DIR with the file, or --index NAME=URL with a mirror that has it",
    )


def _same_digest(file: IndexFile, wheel: WantedWheel) -> bool:
    """Take a file of unknown digest: the download checks it against the promise."""
    return file.sha256 is None or wheel.sha256 is None or file.sha256 == wheel.sha256


def _differs(wheel: WantedWheel, offered: Sequence[IndexFile]) -> BundleOrLockError:
    return BundleOrLockError(
        "lock.digest-differs",
        f"{wheel.filename} is offered with another digest than promised",
        value=", ".join(sorted({f.sha256 for f in offered if f.sha256})),
        expected=wheel.sha256,
        hint="a changed file is never taken; ask whoever runs the index",
    )


def _joined(failed: Sequence[tuple[Any, AccelError]]) -> AccelError:
    """Return one error for all: a changed digest first, then an index out of reach, then what is gone."""
    for kind in (BundleOrLockError, IndexUnavailableError, AccelError):
        hit = [(wheel, error) for wheel, error in failed if isinstance(error, kind)]
        if hit:
            break
    first = hit[0][1]
    if len(failed) == 1:
        return first
    names = ", ".join(wheel.filename for wheel, _ in failed)
    return type(first)(
        first.slug,
        f"{len(failed)} files cannot be located; the first: {first.message}",
        value=names,
        expected=first.expected,
        hint=first.hint,
    )


def _with_url(wheel: Wheel, url: str) -> Wheel:
    copy = getattr(wheel, "model_copy", None)
    if copy is not None:
        located: Wheel = copy(update={"url": url})
        return located
    changed: Wheel = replace(wheel, url=url)  # type: ignore[type-var]  # not pydantic, so a dataclass
    return changed
