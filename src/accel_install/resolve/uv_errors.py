"""The solver's words as errors of ours: out of reach, no solution, a full disk, or something else. Pure."""

from __future__ import annotations

import re

from accel_install.errors import AccelError, IndexUnavailableError, PreflightError, ResolutionError

__all__ = ["error_of"]

# What uv 0.13.9 prints when an index does not answer (refused and unknown host were tried).
_NETWORK_SIGNS = (
    "error sending request",
    "client error (connect)",
    "dns error",
    "connection refused",
    "connection reset",
    "operation timed out",
    "tls handshake",
    "invalid peer certificate",
    "503 service unavailable",
    "502 bad gateway",
    "504 gateway timeout",
    "failed to fetch:",
    "request failed after",
)
_DISK_SIGNS = ("no space left on device", "read-only file system", "permission denied", "disk quota exceeded")
_OFFLINE_SIGN = "the network was disabled"
_NO_SOLUTION_SIGN = "no solution found"
_AUTH_SIGN = re.compile(r"returned an? (?:401 unauthorized|403 forbidden|407 proxy)", re.IGNORECASE)
_USERINFO = re.compile(r"(?<=://)[^/@\s]+@")
_NOISE = re.compile(r"^\s*(?:error: |cause: |[×╰▶─│├]+\s*)", re.MULTILINE)


def error_of(stderr: str, returncode: int) -> AccelError:
    """Return the error that the solver's text means; passwords in addresses are taken out."""
    text = _USERINFO.sub("", stderr).strip()
    lower = text.lower()
    words = _explanation(text)
    if _OFFLINE_SIGN in lower:
        return IndexUnavailableError(
            "network.offline",
            "the closure cannot be solved without the network",
            value=words,
            expected="cached pages for all packages, as --offline was given",
            hint="run once without --offline",
        )
    if _NO_SOLUTION_SIGN in lower and not _AUTH_SIGN.search(lower):
        return ResolutionError("resolve.no-solution", "no set of packages fits together", value=words)
    if _AUTH_SIGN.search(lower) or any(sign in lower for sign in _NETWORK_SIGNS):
        return IndexUnavailableError(
            "network.unreachable",
            "the default index does not answer",
            value=words,
            expected="an index that answers",
            hint="--index default=URL names a mirror",
        )
    if any(sign in lower for sign in _DISK_SIGNS):
        return PreflightError(
            "preflight.cache-not-writable",
            "the solver cannot write its cache",
            value=words,
            expected="room and permission in the cache folder and in TMPDIR",
            hint="free some, or ACCEL_INSTALL_CACHE_DIR=DIR",
        )
    return ResolutionError("resolve.solver-failed", f"the solver failed (exit {returncode})", value=words)


def _explanation(text: str) -> str:
    """Return the text in one line, without the solver's headline and tree marks."""
    lines = [" ".join(_NOISE.sub("", line).split()) for line in text.splitlines()]
    kept = [line for line in lines if line and not line.lower().startswith(_NO_SOLUTION_SIGN)]
    return " ".join(kept) or text
