"""The plan: a forecast bound to what it saw. Also probes and decisions, which plan and executor share."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from accel_install.digests import digest_of
from accel_install.version import __version__

__all__ = [
    "Artifact",
    "Decision",
    "DecisionWord",
    "Plan",
    "PlanLeftOut",
    "PlanOverride",
    "PlanRejected",
    "PlanStep",
    "PlanUnresolved",
    "PlanWheel",
    "Probe",
]

PLAN_SCHEMA = 1

DecisionWord = Literal["do", "skip", "adopt", "repair", "replace", "defer", "refuse"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Probe(_Model):
    """What is there now, as seen by looking (never by remembering).

    Attributes:
        state: `absent`, `present` (and as wanted by its own rules), `differs` (present, but not as wanted),
            `damaged` (right version, content broken) or `unknown` (could not be learnt).
        version: what is installed, if anything.
        owner: `us` when this tool installed it, `vendor` or `user` when it was found, None when unknown.
        detail: one line for people: what was seen, where.
        problems: machine-readable items, such as names of drifted packages or failed checks.
    """

    state: Literal["absent", "present", "differs", "damaged", "unknown"]
    version: str | None = None
    owner: str | None = None
    detail: str = ""
    problems: list[str] = Field(default_factory=list)


class Decision(_Model):
    """What will be done about a step, and why."""

    word: DecisionWord
    reason: str

    @property
    def acts(self) -> bool:
        """Say whether this decision changes the machine."""
        return self.word in ("do", "repair", "replace")


class Artifact(_Model):
    """A vendor package a step needs. `path` is set when it was found under `--artifacts`; `sha256` then too."""

    name: str
    path: str | None = None
    sha256: str | None = None
    size_bytes: int | None = None


class PlanStep(_Model):
    """One step of the plan: what the recipe wants, what was decided, with which artifacts.

    `version` is the wanted version of a system layer, `accepts` the versions that may be adopted instead (an entry of two
    parts such as `25.2` means the whole line). `params` are the step kind's settings, already filled in.
    """

    id: str
    kind: str
    title: str
    needs: list[str] = Field(default_factory=list)
    decision: DecisionWord = "do"
    reason: str = ""
    artifacts: list[Artifact] = Field(default_factory=list)
    layer: str | None = None
    version: str | None = None
    installed: str | None = None
    accepts: list[str] = Field(default_factory=list)
    protects: list[str] = Field(default_factory=list)
    optional: bool = False
    params: dict[str, Any] = Field(default_factory=dict)


class PlanWheel(_Model):
    """A wheel to install, and the step that installs it. `bound` marks the accelerator-bound set.

    `hashes` are other digests (`sha512=...`) where the index gives no sha256.
    """

    name: str
    version: str
    filename: str
    url: str | None
    index: str
    sha256: str | None
    size_bytes: int | None
    step: str
    bound: bool = False
    hashes: list[str] = Field(default_factory=list)


class PlanRejected(_Model):
    """A file of the wanted version that was not picked."""

    name: str
    filename: str
    reason: str
    detail: str


class PlanUnresolved(_Model):
    """A distribution that could not be had."""

    name: str
    version: str
    index: str
    reason: str
    detail: str
    alternatives: list[str] = Field(default_factory=list)


class PlanOverride(_Model):
    """A requirement that loses against a pin (`pinned` None: the package is left out)."""

    package: str
    pinned: str | None
    wanted: str
    by: str
    pinned_by: str | None = None


class PlanLeftOut(_Model):
    """A distribution a plain install would bring and this plan does not."""

    name: str
    reason: str
    size_bytes: int | None = None


class Plan(_Model):
    """The whole stack as steps, wheels and reasons.

    `stack` names the environment (`<state-dir>/envs/<stack>`). `recipe_digest`, `facts_digest` and `index_digest` are
    what a saved plan is compared with before it is applied.
    """

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    schema_version: int = Field(PLAN_SCHEMA, alias="schema")
    tool_version: str = __version__
    recipe: str
    recipe_source: str | None = None
    stack: str
    row: str | None
    row_status: str | None = None
    row_source: str | None = None
    row_date: str | None = None
    target: dict[str, str | None]
    described: bool = False
    complete: bool
    steps: list[PlanStep]
    wheels: list[PlanWheel] = Field(default_factory=list)
    rejected: list[PlanRejected] = Field(default_factory=list)
    unresolved: list[PlanUnresolved] = Field(default_factory=list)
    predicted_overrides: list[PlanOverride] = Field(default_factory=list)
    left_out: list[PlanLeftOut] = Field(default_factory=list)
    expected_conflicts: list[dict[str, str]] = Field(default_factory=list)
    exclusive: list[dict[str, Any]] = Field(default_factory=list)
    environment: dict[str, Any] = Field(default_factory=dict)
    download_bytes: int | None = None
    plain_install_bytes: int | None = None
    warnings: list[str] = Field(default_factory=list)
    recipe_digest: str = ""
    facts_digest: str = ""
    index_digest: str = ""
    python_executable: str | None = None
    inputs: dict[str, Any] = Field(default_factory=dict)

    def to_document(self) -> dict[str, Any]:
        """Return the JSON document of `plan --json` and `-o plan.json`."""
        return self.model_dump(mode="json", by_alias=True)

    def digest(self) -> str:
        """Return the digest that journal and lock refer to."""
        return digest_of(self.to_document())

    def step(self, step_id: str) -> PlanStep:
        """Return a step by id.

        Raises:
            KeyError: there is no such step.
        """
        for step in self.steps:
            if step.id == step_id:
                return step
        raise KeyError(step_id)

    def wheels_of(self, step_id: str) -> list[PlanWheel]:
        """Return the wheels a step installs, by name."""
        return sorted((w for w in self.wheels if w.step == step_id), key=lambda w: w.name)
