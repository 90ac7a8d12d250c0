"""Simple pages into values: JSON and HTML of the simple API, and flat listings. Pure; hostile pages do not raise.

Only files that may be the project's are kept, by the beginning of their names; everything else on a page is noise. A name that
begins right and is wrong later is kept, so that it can be refused with a reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

from packaging.utils import canonicalize_name

from accel_install.digests import digest_of
from accel_install.resolve.filename import belongs_to
from accel_install.resolve.models import IndexFile, IndexPage
from accel_install.resolve.page_html import Link, html_links, looks_like_html, repository_version
from accel_install.resolve.page_text import text_of

__all__ = ["NotAPageError", "files_of_links", "page_digest", "parse_page"]

_METADATA_KEYS = ("core-metadata", "data-core-metadata", "dist-info-metadata", "data-dist-info-metadata")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_HEX = re.compile(r"[0-9a-fA-F]{8,128}")
# what hashlib has everywhere; other fragments (`egg=`, `subdirectory=`) are no digests (sources: PEP 503, PEP 691)
_OTHER_DIGESTS = ("sha512", "sha384", "sha224", "blake2b", "sha3_256", "sha1", "md5")
_MOST_NAME_LENGTH = 512
_KNOWN_MAJOR = 1


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
        NotAPageError: it is neither JSON of the simple API nor HTML, or of a version of the API that is not known.
    """
    name = canonicalize_name(project)
    mine = belongs_to(name).match
    if "json" in content_type or content.lstrip()[:1] in (b"{", b"["):
        files = tuple(_json_files(_json(content), url, mine))
    else:
        text = text_of(content, content_type)
        if not looks_like_html(text):
            raise NotAPageError(f"{content_type or 'no content type'}, and it does not begin as a page does")
        _check_version(repository_version(text))
        files = tuple(f for f in files_of_links(html_links(text, url)) if mine(f.filename))
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


def _check_version(text: Any) -> None:
    """Refuse a major version of the simple API that is not known, as PEP 629 demands; newer minor ones are read."""
    major = str(text or "1.0").partition(".")[0]
    if major.isdigit() and int(major) > _KNOWN_MAJOR:
        raise NotAPageError(f"version {text} of the simple API, known is {_KNOWN_MAJOR}.x")


def _json_files(document: Any, url: str, mine: Any) -> Iterator[IndexFile]:
    """Yield the project's files of the simple API's JSON, or of a listing in JSON (a list of names with sizes)."""
    items = document.get("files") if isinstance(document, Mapping) else document
    if not isinstance(items, list):
        raise NotAPageError("JSON without a list of files")
    meta = document.get("meta") if isinstance(document, Mapping) else None
    if isinstance(meta, Mapping):
        _check_version(meta.get("api-version"))
    for item in items:
        if isinstance(item, dict):
            name = item.get("filename") or item.get("name")
            if isinstance(name, str) and len(name) <= _MOST_NAME_LENGTH and mine(name):
                yield _json_file(name, item, url)


def _json_file(name: str, item: Mapping[str, Any], url: str) -> IndexFile:
    hashes = item.get("hashes")
    size = item.get("size")
    requires = item.get("requires-python")
    uploaded = item.get("upload-time")
    given = item.get("url")
    sha256 = hashes.get("sha256") if isinstance(hashes, dict) else None
    has_metadata, metadata_sha256 = _metadata(item)
    return IndexFile(
        filename=name,
        url=_absolute(url, given if isinstance(given, str) and given else name),
        sha256=_sha256(sha256),
        size_bytes=size if type(size) is int and size >= 0 else None,
        requires_python=requires if isinstance(requires, str) and requires else None,
        yanked=_yanked(item.get("yanked", False)),
        upload_time=uploaded if isinstance(uploaded, str) else None,
        has_metadata=has_metadata,
        hashes=_other_hashes(hashes) if isinstance(hashes, dict) and sha256 is None else (),
        metadata_sha256=metadata_sha256,
    )


def _absolute(base: str, link: str) -> str:
    if link.startswith(("https://", "http://")):
        return link.partition("#")[0]
    try:
        return urljoin(base, link).partition("#")[0]
    except ValueError:
        return link


def _yanked(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    return "" if value is True else None


def _metadata(item: Mapping[str, Any]) -> tuple[bool | None, str | None]:
    """Return whether `<url>.metadata` is announced, and its sha256 (sources: PEP 658, PEP 714)."""
    for key in _METADATA_KEYS:
        if key in item:
            value = item[key]
            if isinstance(value, Mapping):
                return True, _sha256(value.get("sha256"))
            if isinstance(value, str) and value.startswith("sha256="):
                return True, _sha256(value[7:])
            return value not in (False, "false", None), None
    return None, None


def _sha256(text: Any) -> str | None:
    return text.lower() if isinstance(text, str) and _SHA256.fullmatch(text) else None


def _other_hashes(pairs: Mapping[str, Any]) -> tuple[str, ...]:
    """Return digests that are not sha256 as `name=hex`; what is not one is left out."""
    found = ((name, pairs.get(name)) for name in _OTHER_DIGESTS)
    return tuple(f"{name}={value.lower()}" for name, value in found if isinstance(value, str) and _HEX.fullmatch(value))


def files_of_links(links: Iterable[Link]) -> Iterator[IndexFile]:
    """Yield a file for each link of an HTML page."""
    for link in links:
        address, _, fragment = link.url.partition("#")
        filename = unquote(_last_part(address))
        if not filename or len(filename) > _MOST_NAME_LENGTH:
            continue
        pairs = dict(part.partition("=")[::2] for part in fragment.split("&"))
        sha256 = _sha256(pairs.get("sha256"))
        has_metadata, metadata_sha256 = _metadata(link.attributes)
        yield IndexFile(
            filename=filename,
            url=address,
            sha256=sha256,
            requires_python=link.attributes.get("data-requires-python") or None,
            yanked=link.attributes.get("data-yanked"),
            has_metadata=has_metadata,
            hashes=() if sha256 or not fragment else _other_hashes(pairs),
            metadata_sha256=metadata_sha256,
        )


def _last_part(address: str) -> str:
    if "?" not in address:
        return address.rpartition("/")[2]
    try:
        return urlsplit(address).path.rpartition("/")[2]
    except ValueError:
        return ""
