"""The one reader of indexes: a page per project from the named index, cached for a while; extra pages and folders beside.

There is no fall-through: a page is asked from exactly the index that was named. What a page means is `page`'s, what is chosen
from it is `select`'s.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from packaging.utils import canonicalize_name

from accel_install.errors import AccelError, IndexUnavailableError, UsageError
from accel_install.fetch.responses import HttpResponse
from accel_install.fetch.urls import local_path, safe_url
from accel_install.resolve.index_errors import forbidden, not_a_page, unreachable
from accel_install.resolve.indexes import IndexConfig
from accel_install.resolve.local_wheels import folder_files
from accel_install.resolve.models import IndexFile, IndexPage
from accel_install.resolve.page import NotAPageError, page_digest, parse_page
from accel_install.resolve.page_cache import KeptPage, PageCache

__all__ = ["IndexClient"]

_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01"
_GONE = (404, 410)
_FORBIDDEN = (401, 403, 407)
_UNCHANGED = 304


class _Reader(Protocol):
    def get(self, url: str, headers: dict[str, str] | None = None) -> HttpResponse: ...


class IndexClient:
    """Pages by index name and project. Thread-safe.

    Args:
        config: the addresses.
        http: for reading.
        cache_dir: the tool's cache folder.
        offline: touch no network; a page that is not cached is an error that names it.
        refresh: ask again despite the cache.
        cache_ttl_s: how long a page is believed.
    """

    def __init__(
        self,
        config: IndexConfig,
        http: _Reader,
        cache_dir: Path,
        offline: bool = False,
        refresh: bool = False,
        cache_ttl_s: float = 600,
    ) -> None:
        self.config = config
        self.snapshot: dict[str, str] = {}
        self._http = http
        self._cache_dir = cache_dir
        self._pages = PageCache(cache_dir / "pages")
        self._offline, self._refresh, self._ttl_s = offline, refresh, cache_ttl_s
        self._flat: dict[str, HttpResponse] = {}
        self._flat_lock = threading.Lock()

    @property
    def default_url(self) -> str:
        """Address of the default index."""
        return self.config.default_url

    def page(self, index_name: str, project: str) -> IndexPage | None:
        """Return the page of a project on an index, None when the index has no such project.

        Raises:
            IndexUnavailableError: the index does not answer, answers nonsense, or is not cached while offline.
            UsageError: nobody configured an address for this index.
        """
        address = self.config.url_of(index_name)
        if address is None:
            raise UsageError(
                "usage.index-without-address",
                f"index `{index_name}` has no address",
                value=index_name,
                hint=f"--index {index_name}=URL",
            )
        name = canonicalize_name(project)
        folder = local_path(address)
        page = self._folder_page(folder, name, index_name) if folder else self._remote(address, name, index_name)
        if page is not None:
            self.snapshot[f"{index_name}/{name}"] = page.digest
        return page

    def find_links_files(self, project: str) -> list[tuple[str, IndexFile]]:
        """Return (label, file) of the project in every extra page and folder, in the order they were given."""
        found: list[tuple[str, IndexFile]] = []
        for number, link in enumerate(self.config.find_links, 1):
            label = "find-links" if number == 1 else f"find-links-{number}"
            folder = local_path(link)
            if folder is not None and folder.is_dir():
                found += [(label, f) for f in folder_files(folder, project, self._cache_dir)]
            else:
                page = self._flat_page(link, canonicalize_name(project), label)
                found += [(label, f) for f in (page.files if page else ())]
        return found

    def _folder_page(self, folder: Path, name: str, index: str) -> IndexPage | None:
        """Read an index that is a folder: a page per project, a folder per project, or all files in one place."""
        own = next((folder / s for s in _spellings(name) if (folder / s).is_dir()), folder / name)
        page = own / "index.html"
        if page.is_file():
            return parse_page(page.read_bytes(), "text/html", page.absolute().as_uri(), name, index)
        files = tuple(folder_files(own if own.is_dir() else folder, name, self._cache_dir))
        return IndexPage(name, index, own.absolute().as_uri(), files, page_digest(files)) if files else None

    def _remote(self, address: str, name: str, index: str) -> IndexPage | None:
        """Ask for the normalised name, then, of an index that keeps names as they are written, for another spelling."""
        base = address.rstrip("/")
        return self._cached([f"{base}/{spelling}/" for spelling in _spellings(name)], address, name, index)

    def _flat_page(self, link: str, name: str, label: str) -> IndexPage | None:
        return self._cached([link], f"flat {link}", name, label)

    def _cached(self, urls: Sequence[str], key: str, name: str, index: str) -> IndexPage | None:
        kept = self._pages.load(safe_url(key), name, index)
        young = kept is not None and 0 <= time.time() - kept.fetched <= self._ttl_s
        if kept is not None and (self._offline or (young and not self._refresh)):
            return kept.page
        if self._offline:
            raise IndexUnavailableError(
                "index.offline-missing",
                f"the page of {name} on index `{index}` is not in the cache",
                value=safe_url(urls[0]),
                expected="a page kept by an earlier run",
                hint="run once without --offline",
            )
        for url in urls:
            page = self._fetch(url, key, name, index, None if self._refresh else kept)
            if page is not None:
                return page
        return None

    def _flat_answer(self, url: str) -> HttpResponse:
        """Read a flat page once per call, however many projects are looked for on it."""
        with self._flat_lock:
            if url not in self._flat:
                self._flat[url] = self._http.get(url, {"accept": _ACCEPT})
            return self._flat[url]

    def _fetch(self, url: str, key: str, name: str, index: str, kept: KeptPage | None) -> IndexPage | None:
        try:
            if url in self.config.find_links:
                answer = self._flat_answer(url)
            else:
                answer = self._http.get(url, {"accept": _ACCEPT, **(kept.conditions() if kept else {})})
        except AccelError as error:
            raise unreachable(index, url, error.message, error.hint) from error
        if answer.status == _UNCHANGED and kept is not None:
            headers = {"etag": kept.etag or "", "last-modified": kept.last_modified or "", **answer.headers}
            self._pages.store(safe_url(key), kept.page, time.time(), headers)
            return kept.page
        if answer.status in _GONE:
            return None
        if answer.status in _FORBIDDEN:
            raise forbidden(index, url, answer.status)
        if answer.status >= 400:
            raise unreachable(index, url, f"it answered HTTP {answer.status}")
        try:
            page = parse_page(answer.content, answer.headers.get("content-type", ""), answer.url, name, index)
        except NotAPageError as error:
            raise not_a_page(index, url, name, str(error)) from error
        self._pages.store(safe_url(key), page, time.time(), answer.headers)
        return page


def _spellings(name: str) -> list[str]:
    """Return the ways a project's folder may be written: normalised first, as every index should have it."""
    return list(dict.fromkeys([name, name.replace("-", "_"), name.replace("-", ".")]))
