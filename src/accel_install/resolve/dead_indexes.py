"""Which indexes did not answer a moment ago, so that a repeated plan does not wait for them again.

Short on purpose: whoever mends the network should not have to know about this memory.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from accel_install.digests import digest_of
from accel_install.errors import IndexUnavailableError

__all__ = ["DeadIndexes"]


class DeadIndexes:
    """A memory of failures, in a file per index and address.

    Args:
        folder: where the files lie.
        address_of: the address of an index by name; another address is another index.
        ttl_s: how long a failure is believed, in seconds; 0 for never.
        now: the clock, in seconds.
    """

    def __init__(
        self,
        folder: Path,
        address_of: Callable[[str], str | None],
        ttl_s: float = 60,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._address_of = address_of
        self._ttl_s = ttl_s
        self._now = now

    def get(self, index: str) -> IndexUnavailableError | None:
        """Return the failure of a moment ago in the same words, or None."""
        try:
            kept = json.loads(self._path(index).read_bytes())
            age_s = self._now() - float(kept["time"])
            if not 0 <= age_s < self._ttl_s:
                return None
            return IndexUnavailableError(
                kept["slug"],
                kept["message"],
                value=kept["value"],
                expected=kept["expected"],
                hint=kept["hint"],
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, index: str, error: IndexUnavailableError) -> None:
        """Remember a failure; a cache that cannot be written is no reason to fail."""
        path = self._path(index)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps({"time": self._now(), **error.to_dict()}), "utf-8")
        except OSError:
            return

    def _path(self, index: str) -> Path:
        key = digest_of([index, self._address_of(index)]).removeprefix("sha256:")
        return self._folder / f"{key}.json"
