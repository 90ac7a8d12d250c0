"""Who installed a layer: the journal remembers what probing cannot see. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from accel_install.execute.journal import Record

__all__ = ["installed_by_us"]


def installed_by_us(records: Sequence[Record], step: str, version: str) -> bool:
    """Say whether a run of ours ended well installing this version in this step."""
    return any(r.type == "outcome" and r.step == step and r.data.get("ok") and r.data.get("version") == version for r in records)
