"""A finding: what does not hold, how bad it is, who did it, what helps. Making them lives elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["Finding", "Severity", "has_fault", "sorted_findings"]

Severity = Literal["fault", "warning", "info"]

_RANK: dict[str, int] = {"fault": 0, "warning": 1, "info": 2}


class Finding(BaseModel):
    """One thing that is not as promised.

    `subject` is a canonical distribution name, a module or a path; `packages` lists every distribution
    concerned (for a conflict: all claimants). `culprit` is None when the question makes no sense, and begins
    with `unknown` when nothing proves an answer.
    """

    model_config = ConfigDict(extra="forbid")

    slug: str
    severity: Severity
    subject: str
    expected: str | None = None
    actual: str | None = None
    culprit: str | None = None
    remedy: str | None = None
    packages: list[str] = Field(default_factory=list)


def sorted_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings worst first; within a severity by slug and subject, so that the order never wavers."""
    return sorted(findings, key=lambda f: (_RANK[f.severity], f.slug, f.subject, f.actual or ""))


def has_fault(findings: Iterable[Finding]) -> bool:
    """Say whether any finding is a fault (exit code 21)."""
    return any(f.severity == "fault" for f in findings)
