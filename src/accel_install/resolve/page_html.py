"""Links of an HTML page: PEP 503 pages and flat listings alike. Pure, linear in the size of the page.

A tokenizer for start tags is enough: only `<a>` and the first `<base href>` matter (sources: PEP 503, 592, 629, 658, 714).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urljoin

__all__ = ["Link", "html_links", "looks_like_html"]

_COMMENT = re.compile(r"<!--.*?(?:-->|$)", re.DOTALL)
# a tag is bounded, so that a page of unclosed tags costs no more than its length times this
_TAG = re.compile(r"<(a|base)\s([^>]{0,4096})>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([^\s=/"'>]+)\s*(?:=\s*("[^"]*"|'[^']*'|[^\s"'>]+))?""")
_HTML_START = re.compile(r"<\s*(?:!doctype\s+html|html|head|body|title|a\s|base\s|h1|pre|meta)", re.IGNORECASE)


@dataclass(frozen=True)
class Link:
    """One link: absolute address and the attributes of its tag (lower-case names, entities resolved)."""

    url: str
    attributes: Mapping[str, str]


def looks_like_html(text: str) -> bool:
    """Say whether a text begins as HTML pages do."""
    return _HTML_START.search(text[:2000]) is not None


def html_links(text: str, url: str) -> Iterator[Link]:
    """Yield the links of a page, resolved against `<base href>` (the first that has one) or the page's final address."""
    base = url
    based = False
    for tag, body in _TAG.findall(_COMMENT.sub("", text) if "<!--" in text else text):
        attributes = _attributes(body)
        href = attributes.get("href", "").strip()
        if not href:
            continue
        if tag.lower() == "base":
            base, based = (base, True) if based else (_join(url, href), True)
        elif not href.startswith(("#", "?", "javascript:", "mailto:")):
            yield Link(_join(base, href), attributes)


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
