"""Links of an HTML page: PEP 503 pages and flat listings alike. Pure, linear in the size of the page.

A tokenizer for start tags is enough: only `<a>`, the first `<base href>` and the version in a `<meta>` matter (sources:
PEP 503, 592, 629, 658, 714).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

__all__ = ["Link", "html_links", "looks_like_html", "repository_version"]

_COMMENT = re.compile(r"<!--.*?(?:-->|$)", re.DOTALL)
# a tag is bounded, so that a page of unclosed tags costs no more than its length times this
_TAG = re.compile(r"<(a|base)\s([^>]{0,4096})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([^\s=/"'>]+)\s*(?:=\s*("[^"]*"|'[^']*'|[^\s"'>]+))?""")
_META = re.compile(r"<meta\s([^>]{0,512})>", re.IGNORECASE)
_HTML_START = re.compile(r"<\s*(?:!doctype\s+html|html|head|body|title|a\s|base\s|h1|pre|meta)", re.IGNORECASE)
_NO_LINKS = ("#", "?", "javascript:", "mailto:", "data:")
_PLAIN_NAME = re.compile(r"[\w.+%-]+(?:/[\w.+%-]+)*(?:#[\w=&.-]*)?", re.ASCII)


@dataclass(frozen=True)
class Link:
    """One link: absolute address and the attributes of its tag (lower-case names, entities resolved)."""

    url: str
    attributes: Mapping[str, str]


def looks_like_html(text: str) -> bool:
    """Say whether a text begins as HTML pages do."""
    return _HTML_START.search(text[:2000]) is not None


def repository_version(text: str) -> str | None:
    """Return the version of the simple API that a page states (PEP 629), None when it states none."""
    for body in _META.findall(text[:10000]):
        attributes = _attributes(body)
        if attributes.get("name") == "pypi:repository-version":
            return attributes.get("content")
    return None


def html_links(text: str, url: str) -> Iterator[Link]:
    """Yield the links of a page, resolved against `<base href>` (the first that has one) or the page's final address."""
    join, based = _Joiner(url), False
    for tag, body in _TAG.findall(_COMMENT.sub("", text) if "<!--" in text else text):
        attributes = _attributes(body)
        href = attributes.get("href", "").strip()
        if not href:
            continue
        if tag.lower() == "base":
            join, based = (join, True) if based else (_Joiner(_join(url, href)), True)
        elif not href.startswith(_NO_LINKS):
            yield Link(join(href), attributes)


class _Joiner:
    """Resolve links against one base: names below it and absolute ones cheaply, the rest by the standard library."""

    def __init__(self, base: str) -> None:
        self._base = base
        try:
            parts = urlsplit(base)
            self._folder = f"{parts.scheme}://{parts.netloc}{parts.path.rpartition('/')[0]}/" if parts.scheme else ""
        except ValueError:
            self._folder = ""

    def __call__(self, href: str) -> str:
        if href.startswith(("https://", "http://")):
            return href
        if self._folder and _PLAIN_NAME.fullmatch(href) and not href.startswith(".") and "/." not in href:
            return self._folder + href
        return _join(self._base, href)


def _join(base: str, href: str) -> str:
    try:
        return urljoin(base, href)
    except ValueError:
        return href


def _attributes(body: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, raw in _ATTRIBUTE.findall(body):
        value = raw[1:-1] if raw[:1] in ("'", '"') else raw
        found.setdefault(name.lower(), html.unescape(value) if "&" in value else value)
    return found
