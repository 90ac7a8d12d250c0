"""Generations of a Python environment: `gen-N` folders that are never renamed or reused, and which one fits a set of wheels."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from accel_install.digests import digest_of
from accel_install.host.durable import write_atomic
from accel_install.plan.models import Plan, PlanWheel

__all__ = ["MARKER", "Generations", "marker_state", "wheels_digest", "write_marker"]

MARKER = ".accel-install.json"
_NAME = re.compile(r"^gen-(\d+)$")


def wheels_digest(plan: Plan) -> str:
    """Return the digest of exactly the set of files a generation is built from, and its Python."""
    return digest_of([plan.target.get("python"), sorted(_identity(w) for w in plan.wheels)])


def _identity(wheel: PlanWheel) -> list[str]:
    return [wheel.name, wheel.version, wheel.filename, wheel.sha256 or ""]


def write_marker(env: Path, digest: str, state: Literal["building", "ready"]) -> None:
    """Mark an environment with the set of wheels it is for. No times: the same set gives the same bytes."""
    text = json.dumps({"schema": 1, "wheels_digest": digest, "state": state}, sort_keys=True) + "\n"
    write_atomic(env / MARKER, text.encode())


def marker_state(env: Path, digest: str) -> str | None:
    """Return the state an environment is marked with for this set of wheels, None when it is not for it."""
    try:
        found = json.loads((env / MARKER).read_bytes())
        return str(found["state"]) if found["wheels_digest"] == digest else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


class Generations:
    """The generations of one stack.

    Args:
        folder: `<state-dir>/envs/<stack>`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.current_link = folder / "current"

    def all(self) -> Sequence[Path]:
        """Return the generations, oldest first."""
        try:
            found = [(int(m.group(1)), p) for p in self.folder.iterdir() if (m := _NAME.match(p.name)) and p.is_dir()]
        except OSError:
            return ()
        return tuple(path for _, path in sorted(found))

    def current(self) -> Path | None:
        """Return the live generation, or None."""
        try:
            target = self.folder / self.current_link.readlink()
        except OSError:
            return None
        return target if target.is_dir() else None

    def for_digest(self, digest: str) -> Path | None:
        """Return the newest generation that is, or is being, built from this set of wheels; the live one first."""
        live = self.current()
        if live is not None and marker_state(live, digest) is not None:
            return live
        return next((p for p in reversed(self.all()) if marker_state(p, digest) is not None), None)

    def next(self) -> Path:
        """Return the path of the next generation."""
        existing = self.all()
        number = int(existing[-1].name.removeprefix("gen-")) + 1 if existing else 1
        return self.folder / f"gen-{number}"
