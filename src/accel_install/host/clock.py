"""The clock of the machine: the one place that asks for the time of day. The pure core never imports it."""

from __future__ import annotations

from datetime import datetime, timezone

__all__ = ["now_utc"]


def now_utc() -> str:
    """Return the current time as RFC 3339 UTC text with milliseconds, such as `2026-01-31T09:30:00.125Z`."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
