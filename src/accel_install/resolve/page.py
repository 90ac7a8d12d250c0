"""Simple pages into values: JSON and HTML of the simple API, and flat listings. Pure; hostile pages do not raise.

Only files whose name is a wheel or source distribution of the project are kept; everything else on a page is noise.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from packaging.utils import canonicalize_name

from accel_install.digests import digest_of
from accel_install.resolve.filename import project_version
from accel_install.resolve.models import IndexFile, IndexPage
from accel_install.resolve.page_html import Link, html_links, looks_like_html

__all__ = ["NotAPageError", "files_of_links", "page_digest", "parse_page"]

_METADATA_KEYS = ("core-metadata", "data-core-metadata", "dist-info-metadata", "data-dist-info-metadata")


class NotAPageError(ValueError):
    """The content is neither a simple page nor a listing."""


def parse_page(content: bytes, content_type: str, url: str, project: str, index: str) -> IndexPage:
    """Parse the page of a project.

    Args:
        content: the body.
        content_type: as the server said; a wrong one is found out by looking.
        url: final address after redirects, what relative links are relative to.
        project: in any spelling.
        index: the index' name, kept in the answer.

    Raises:
        NotAPageError: it is neither JSON of the simple API nor HTML.
    """
    name = canonicalize_name(project)
    if "json" in content_type or content[:1] in (b"{", b"["):
        found = list(_json_files(_json(content), url))
    else:
        text = content.decode("utf-8", "replace")
        if not looks_like_html(text):
            raise NotAPageError(f"{content_type or 'no content type'}, and it does not begin as a page does")
        found = list(files_of_links(html_links(text, url)))
    files = tuple(f for f in found if project_version(f.filename, name) is not None)
    return IndexPage(name, index, url, files, page_digest(files))


def page_digest(files: Iterable[IndexFile]) -> str:
    """Return the digest of a listing: what matters for a choice, in an order of its own."""
    rows = sorted([f.filename, f.sha256 or "", f.yanked or "", str(f.yanked is not None), f.requires_python or ""] for f in files)
    return digest_of(rows)


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise NotAPageError(f"not JSON: {error}") from None


def _json_files(document: Any, url: str) -> Iterator[IndexFile]:
    """Yield the files of the simple API's JSON, or of a listing in JSON (a list of names with sizes)."""
    items = document.get("files") if isinstance(document, Mapping) else document
    if not isinstance(items, list):
        raise NotAPageError("JSON without a list of files")
    for item in items:
        if isinstance(item, Mapping):
            file = _json_file(item, url)
            if file is not None:
                yield file


def _json_file(item: Mapping[str, Any], url: str) -> IndexFile | None:
    name = item.get("filename") or item.get("name")
    if not isinstance(name, str):
        return None
    hashes = item.get("hashes")
    size = item.get("size")
    requires = item.get("requires-python")
    return IndexFile(
        filename=name,
        url=urljoin(url, str(item.get("url") or name)),
        sha256=_digest(hashes.get("sha256") if isinstance(hashes, Mapping) else None),
        size_bytes=size if isinstance(size, int) and not isinstance(size, bool) else None,
        requires_python=requires if isinstance(requires, str) and requires else None,
        yanked=_yanked(item.get("yanked", False)),
        upload_time=item.get("upload-time") if isinstance(item.get("upload-time"), str) else None,
        has_metadata=_has_metadata(item),
    )


def _yanked(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    return "" if value is True else None


def _has_metadata(item: Mapping[str, Any]) -> bool | None:
    for key in _METADATA_KEYS:
        if key in item:
            return item[key] not in (False, "false", None)
    return None


def _digest(text: Any) -> str | None:
    return text.lower() if isinstance(text, str) and len(text) == 64 else None


def files_of_links(links: Iterable[Link]) -> Iterator[IndexFile]:
    """Yield a file for each link of an HTML page."""
    for link in links:
        address, _, fragment = link.url.partition("#")
        filename = unquote(_last_part(address))
        if not filename:
            continue
        pairs = dict(part.partition("=")[::2] for part in fragment.split("&"))
        yield IndexFile(
            filename=filename,
            url=address,
            sha256=_digest(pairs.get("sha256")),
            requires_python=link.attributes.get("data-requires-python") or None,
            yanked=link.attributes.get("data-yanked"),
            has_metadata=_has_metadata(link.attributes),
        )


def _last_part(address: str) -> str:
    try:
        return urlsplit(address).path.rpartition("/")[2]
    except ValueError:
        return ""
