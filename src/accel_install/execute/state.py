"""The state folder: where journal, environments, runs, locks and lockfiles lie. Paths only, and their creation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from accel_install.errors import PreflightError
from accel_install.host.durable import write_atomic

__all__ = ["StateDir"]

_MODE = 0o755


@dataclass(frozen=True)
class StateDir:
    """Paths below one state folder."""

    path: Path

    @property
    def lock(self) -> Path:
        """The machine lock."""
        return self.path / "lock"

    @property
    def journal(self) -> Path:
        """The journal of all runs."""
        return self.path / "journal.jsonl"

    @property
    def uv_cache(self) -> Path:
        """uv's unpacked wheels, of this state folder alone: nobody else's edits reach it."""
        return self.path / "uv-cache"

    def run(self, run_id: str) -> Path:
        """The folder of one run: its plan and its logs."""
        return self.path / "runs" / run_id

    def plan(self, run_id: str) -> Path:
        """The saved plan of one run."""
        return self.run(run_id) / "plan.json"

    def log(self, run_id: str, step: str) -> Path:
        """The log of one step of one run."""
        return self.run(run_id) / "logs" / f"{step}.log"

    def envs(self, stack: str) -> Path:
        """The generations of a stack's Python environment."""
        return self.path / "envs" / stack

    def profile(self, stack: str) -> Path:
        """The environment profile of a stack."""
        return self.envs(stack) / "profile.sh"

    def create(self) -> None:
        """Make the folder.

        Raises:
            PreflightError: it cannot be made or written.
        """
        try:
            self.path.mkdir(mode=_MODE, parents=True, exist_ok=True)
            probe = self.path / ".writable"
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            raise self._not_writable(error) from error

    def save_plan(self, run_id: str, data: bytes) -> None:
        """Keep the plan of a run, before anything is done.

        Raises:
            PreflightError: it cannot be written.
        """
        try:
            write_atomic(self.plan(run_id), data)
        except OSError as error:
            raise self._not_writable(error) from error

    def _not_writable(self, error: OSError) -> PreflightError:
        return PreflightError(
            "preflight.state-dir-not-writable",
            f"the state folder cannot be written: {error.strerror}",
            value=str(self.path),
            expected="a folder that this user may write, with room left",
            hint="--state-dir DIR, or run as root",
        )
