"""Numbers as people read them."""

from __future__ import annotations

__all__ = ["human_bytes"]


def human_bytes(size_bytes: int | None) -> str:
    """Return decimal units as package indexes print them: `836 MB`, `4.3 GB`; `?` for an unknown size."""
    if size_bytes is None:
        return "?"
    size = float(size_bytes)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
