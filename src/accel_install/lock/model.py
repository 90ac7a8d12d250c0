"""The lockfile as a value. Field order is the order in the file.

`run` comes last and is not part of the digest.

An index is a name here, never an address: addresses are configuration, so a lock replays against any mirror.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from accel_install.plan.models import DecisionWord

__all__ = [
    "LOCK_VERSION",
    "LockAccelerator",
    "LockArtifact",
    "LockFile",
    "LockLayer",
    "LockMachine",
    "LockRecipe",
    "LockRow",
    "LockStep",
    "LockUnresolved",
    "LockWheel",
]

LOCK_VERSION: Literal[1] = 1

_PLAIN_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
_SHA256 = r"^[0-9a-f]{64}$"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class LockAccelerator(_Model):
    """How many chips of a model the machine has."""

    vendor: str | None = None
    family: str | None = None
    model: str | None = None
    count: int = 1


class LockMachine(_Model):
    """The facts of the machine that a replay must fit, and the versions of the layers found there."""

    os: str | None = None
    arch: str | None = None
    glibc: str | None = None
    musl: str | None = None
    kernel: str | None = None
    python: str | None = None
    python_abi: str | None = None
    layers: dict[str, str] = Field(default_factory=dict)
    accelerators: list[LockAccelerator] = Field(default_factory=list)


class LockRecipe(_Model):
    """Which recipe made the plan, by name and digest."""

    name: str
    stack: str
    digest: str = ""


class LockRow(_Model):
    """The compatibility row, who published it and when."""

    id: str
    status: str | None = None
    source: str | None = None
    date: str | None = None


class LockArtifact(_Model):
    """A vendor package by file name and digest (None when the file was not at hand)."""

    name: str
    sha256: str | None = Field(None, pattern=_SHA256)
    size_bytes: int | None = None


class LockLayer(_Model):
    """A system layer.

    The wanted version, the one found where it was adopted, the packages that install it.
    """

    layer: str
    step: str
    component: str | None = None
    version: str | None = None
    installed: str | None = None
    decision: DecisionWord
    artifacts: list[LockArtifact] = Field(default_factory=list)


class LockWheel(_Model):
    """A wheel: what it is and which index it comes from, by name."""

    name: str
    version: str
    filename: str = Field(pattern=r"^[^/\\]+\.whl$")
    index: str = Field(pattern=_PLAIN_NAME)
    sha256: str = Field(pattern=_SHA256)
    size_bytes: int | None = None
    step: str
    bound: bool = False


class LockUnresolved(_Model):
    """A distribution that could not be had when the lock was made."""

    name: str
    version: str
    index: str
    reason: str
    alternatives: list[str] = Field(default_factory=list)


class LockStep(_Model):
    """What is needed to rebuild a step of the plan."""

    id: str
    kind: str
    title: str
    needs: list[str] = Field(default_factory=list)
    decision: DecisionWord
    layer: str | None = None
    accepts: list[str] = Field(default_factory=list)
    protects: list[str] = Field(default_factory=list)
    optional: bool = False
    params: dict[str, Any] = Field(default_factory=dict)


class LockFile(_Model):
    """A whole lockfile.

    `digest` is that of everything except itself and `run`. `run` holds what differs from run to run
    (`generated_at`, `host`, `verified_level`, evidence) and is None for machines that were only described.
    """

    version: Literal[1] = LOCK_VERSION
    digest: str = ""
    tool: dict[str, str] = Field(default_factory=dict)
    complete: bool = True
    recipe: LockRecipe
    row: LockRow | None = None
    target: dict[str, str] = Field(default_factory=dict)
    machine: LockMachine = Field(default_factory=LockMachine)
    environment: dict[str, Any] = Field(default_factory=dict)
    layers: list[LockLayer] = Field(default_factory=list)
    wheels: list[LockWheel] = Field(default_factory=list)
    unresolved: list[LockUnresolved] = Field(default_factory=list)
    overrides: list[dict[str, str]] = Field(default_factory=list)
    expected_conflicts: list[dict[str, str]] = Field(default_factory=list)
    exclusive: list[dict[str, Any]] = Field(default_factory=list)
    left_out: list[dict[str, Any]] = Field(default_factory=list)
    steps: list[LockStep] = Field(default_factory=list)
    run: dict[str, Any] | None = None

    def wheel(self, name: str) -> LockWheel | None:
        """Return the wheel of a canonical name, or None."""
        return next((w for w in self.wheels if w.name == name), None)
