"""The errors of the network, made from what was seen; none shows credentials or queries of an address."""

from __future__ import annotations

import socket
import ssl

from accel_install.errors import IndexUnavailableError
from accel_install.fetch.responses import HttpResponse
from accel_install.fetch.urls import safe_url, scrub

__all__ = [
    "bad_proxy",
    "bad_range",
    "bad_status",
    "bad_url",
    "certificate_problem",
    "is_unknown_name",
    "not_found",
    "unreachable",
    "untrusted",
]

_LOGIN_STATUS = (401, 403, 407)


def unreachable(url: str, reason: str, timeout_s: float) -> IndexUnavailableError:
    """Return the error for a server that gave no usable answer."""
    return IndexUnavailableError(
        "network.unreachable",
        f"no answer: {reason}",
        value=safe_url(url),
        expected=f"an answer within {timeout_s:g} s",
        hint="check the address and HTTPS_PROXY; a mirror: --index NAME=URL; files at hand: --find-links DIR",
    )


def not_found(url: str) -> IndexUnavailableError:
    """Return the error for a file that is not there."""
    return IndexUnavailableError(
        "network.not-found",
        "the address answers, but the file is not there",
        value=safe_url(url),
        expected="an existing file",
        hint="accel-install plan RECIPE --refresh, or give the file by --find-links DIR",
    )


def bad_status(url: str, status: int) -> IndexUnavailableError:
    """Return the error for an HTTP status of 400 and more."""
    if status in (404, 410):
        return not_found(url)
    wants_login = status in _LOGIN_STATUS
    hint = "give credentials in the index address: --index NAME=https://USER:PASSWORD@HOST/..."
    return IndexUnavailableError(
        "network.refused" if wants_login else "network.bad-status",
        f"the server answered with HTTP status {status}",
        value=safe_url(url),
        expected="status 200 or 206",
        hint=hint if wants_login else None,
    )


def bad_range(response: HttpResponse, start: int) -> IndexUnavailableError:
    """Return the error for an answer that holds other bytes than those from `start` on."""
    return IndexUnavailableError(
        "network.bad-range",
        "the server sent other bytes of the file than it was asked for",
        value=f"{safe_url(response.url)}: {response.headers.get('content-range', 'no Content-Range')}",
        expected=f"bytes from {start} on",
    )


def bad_url(url: str) -> IndexUnavailableError:
    """Return the error for an address that is none."""
    return IndexUnavailableError(
        "network.bad-url",
        "the address cannot be used",
        value=safe_url(url),
        expected="https://, http://, file:// or a path",
    )


def bad_proxy(error: Exception) -> IndexUnavailableError:
    """Return the error for proxy variables that make no sense."""
    return IndexUnavailableError(
        "network.bad-proxy",
        f"the proxy settings of the environment cannot be used: {scrub(str(error))}",
        expected="http://HOST:PORT in HTTPS_PROXY, HTTP_PROXY and ALL_PROXY",
        hint="env | grep -i _proxy",
    )


def untrusted(url: str, problem: str) -> IndexUnavailableError:
    """Return the error for a certificate that was refused; `problem` is what the TLS library says."""
    return IndexUnavailableError(
        "network.tls",
        f"the server's certificate is not trusted: {scrub(problem)}",
        value=safe_url(url),
        expected="a certificate of a known authority, and a clock that is right",
        hint="export SSL_CERT_FILE=/path/to/your-company-ca-bundle.pem",
    )


def certificate_problem(error: BaseException | None) -> str | None:
    """Return why a certificate was refused, found along the chain of causes, or None."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error.verify_message
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            return str(error)
        error = error.__cause__ or error.__context__
    return None


def is_unknown_name(error: BaseException) -> bool:
    """Say whether the resolver answered that the host does not exist, which asking again does not change."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, socket.gaierror) and seen.errno == socket.EAI_NONAME:
            return True
        seen = seen.__cause__ or seen.__context__
    return False
