"""How a run ended, as a value."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["RunResult"]


@dataclass(frozen=True)
class RunResult:
    """The end of a run that did not fail.

    Attributes:
        run_id: empty when nothing was run.
        acted: ids of the steps that changed something.
        kept: ids of the steps that were skipped or adopted.
        env: the generation that is live now, None when the plan has no Python steps.
        lock: the lockfile that was written.
        settled: ids of acts of an earlier run that were found done.
        message: a line that replaces the usual summary.
    """

    run_id: str = ""
    acted: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    env: Path | None = None
    lock: Path | None = None
    settled: tuple[str, ...] = ()
    message: str | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def nothing_to_do(self) -> bool:
        """Say whether the machine was as wanted already."""
        return not self.acted and not self.settled

    def summary(self) -> str:
        """Return what a person reads at the end."""
        if self.message is not None:
            return self.message
        if self.nothing_to_do:
            text = f"nothing to do: all {len(self.kept)} steps are as planned"
        else:
            text = f"done: {', '.join(self.acted) or 'nothing more to do'}"
            if self.settled:
                text += f" (found done after the interruption: {', '.join(self.settled)})"
        for note in self.notes:
            text += f"\nnote: {note}"
        if self.env is not None:
            text += f"\nenvironment {self.env}"
        if self.lock is not None:
            text += f"\nlockfile {self.lock}"
        return text
