"""What an index that gives no page is told as: out of reach, forbidden, not a page. Each has its own words and remedy."""

from __future__ import annotations

from accel_install.errors import IndexUnavailableError
from accel_install.fetch.urls import safe_url

__all__ = ["FORBIDDEN_SLUG", "OUT_OF_REACH", "forbidden", "not_a_page", "reason_of", "unreachable"]

FORBIDDEN_SLUG = "index.forbidden"
OUT_OF_REACH = ("index-unreachable", "index-forbidden", "offline")  # the reasons that end 13


def unreachable(index: str, url: str, why: str, hint: str | None = None) -> IndexUnavailableError:
    """Return the error for an index that did not answer with a page."""
    return IndexUnavailableError(
        "index.unreachable",
        f"index `{index}` does not answer: {why}",
        value=safe_url(url),
        expected="a page of the simple API",
        hint=hint if hint and "SSL_CERT_FILE" in hint else f"--index {index}=URL of a mirror, or --find-links DIR",
    )


def forbidden(index: str, url: str, status: int) -> IndexUnavailableError:
    """Return the error for an index that answers, and refuses."""
    said = {401: "it wants a user and password, or refuses those it was given", 407: "the proxy wants a user and password"}
    return IndexUnavailableError(
        FORBIDDEN_SLUG,
        f"index `{index}` is forbidden: {said.get(status, 'it refuses to show this page')} (HTTP {status})",
        value=safe_url(url),
        expected="access to the page",
        hint=f"credentials in netrc, in keyring, or --index {index}=https://USER:PASSWORD@HOST/...",
    )


def not_a_page(index: str, url: str, name: str, why: str) -> IndexUnavailableError:
    """Return the error for an answer that is no page: often a login or proxy page."""
    return IndexUnavailableError(
        "index.not-a-page",
        f"index `{index}` answered something that is no page of {name}: {why}",
        value=safe_url(url),
        expected="a simple page or a listing",
        hint=f"--index {index}=URL, or check for a login or proxy page",
    )


def reason_of(error: IndexUnavailableError, offline: bool) -> str:
    """Return the word for `unresolved` entries: offline, index-forbidden or index-unreachable."""
    if offline:
        return "offline"
    return "index-forbidden" if error.slug == FORBIDDEN_SLUG else "index-unreachable"
