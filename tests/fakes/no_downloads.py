"""A downloader for runs that must not download anything."""

from __future__ import annotations

from pathlib import Path

__all__ = ["NoDownloads"]


class NoDownloads:
    """Fails when a file is asked for."""

    def fetch(self, url: str, filename: str, sha256: str | None, size_bytes: int | None) -> Path:
        raise AssertionError(f"{filename} was asked for, and nothing is downloaded here")

    def prefetch(self, items: object) -> None:
        """Take note of nothing."""

    def close(self) -> None:
        """Have nothing to close."""
