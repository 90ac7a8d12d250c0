"""Addresses: what may be shown of them, which are local files, and where credentials are kept apart.

Pure functions; nothing here opens a connection.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

__all__ = ["local_path", "origin_of", "safe_url", "scrub", "split_credentials"]

_USERINFO = re.compile(r"(?<=//)[^/@\s'\"]+@")


def safe_url(url: str) -> str:
    """Return an address fit for messages: no user, no password, no query (which may be a signature)."""
    return scrub(url).split("#", 1)[0].split("?", 1)[0]


def scrub(text: str) -> str:
    """Return a text with `user:password@` taken out of every address in it."""
    return _USERINFO.sub("", text)


def local_path(url: str) -> Path | None:
    """Return the path of a `file:` address or of a plain path, or None when the address is remote."""
    if url.lower().startswith("file:"):
        return Path(unquote(urlsplit(url).path))
    return None if "://" in url else Path(url)


def origin_of(url: str) -> str:
    """Return scheme, host and port of an address; credentials are only sent to the origin they came with."""
    parts = urlsplit(url)
    return f"{parts.scheme.lower()}://{_netloc(parts).lower()}"


def split_credentials(url: str) -> tuple[str, tuple[str, str] | None]:
    """Return an address without its user and password, and those two, decoded, or None when it has none."""
    parts = urlsplit(url)
    if "@" not in parts.netloc:
        return url, None
    credentials = (unquote(parts.username or ""), unquote(parts.password or ""))
    return parts._replace(netloc=_netloc(parts)).geturl(), credentials


def _netloc(parts: SplitResult) -> str:
    return parts.netloc.rpartition("@")[2]
