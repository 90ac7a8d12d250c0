"""The pure plan builder: recipe, row, resolution and facts in, `Plan` out. Nothing here reads a disk or a clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from accel_install.digests import digest_of
from accel_install.facts.models import MachineFacts
from accel_install.facts.target import Target
from accel_install.plan.layers import FoundArtifact
from accel_install.plan.models import (
    Plan,
    PlanLeftOut,
    PlanOverride,
    PlanRejected,
    PlanStep,
    PlanUnresolved,
    PlanWheel,
    Probe,
)
from accel_install.plan.steps import StepInputs, build_steps
from accel_install.recipe.models import Recipe, Row
from accel_install.resolve.models import ChosenWheel, Resolution

__all__ = ["PlanInputs", "build_plan", "facts_digest", "index_digest", "stale_reasons"]


@dataclass(frozen=True)
class PlanInputs:
    """What a plan is made of.

    `probes` are what looking at this machine showed for the steps that are not system layers (empty for a described
    machine); `inputs` are the options that planned it, kept so that a saved plan can be checked against today.
    """

    recipe: Recipe
    recipe_digest: str
    row: Row
    all_rows: tuple[Row, ...]
    resolution: Resolution
    target: Target
    facts: MachineFacts
    described: bool
    recipe_source: str | None = None
    warnings: Sequence[str] = ()
    artifacts: tuple[FoundArtifact, ...] = ()
    probes: Mapping[str, Probe] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)


def facts_digest(facts: MachineFacts) -> str:
    """Return the digest of what a plan depends on: layers, chips, interpreter, libc; not free space or load."""
    lasting = facts.model_dump(
        mode="json",
        exclude={"filesystems": True, "memory_bytes": True, "environment": True, "unknown": True, "kernel": True},
    )
    lasting["python"].pop("executable", None)
    for card in lasting["accelerators"]:
        card.pop("health", None)
    return digest_of(lasting)


def index_digest(wheels: Sequence[PlanWheel], unresolved: Sequence[PlanUnresolved]) -> str:
    """Return the digest of what the indexes answered, as far as this plan uses it."""
    files = sorted([w.name, w.version, w.filename, w.index, w.sha256 or ""] for w in wheels)
    missing = sorted([u.name, u.version, u.index] for u in unresolved)
    return digest_of([files, missing])


def build_plan(given: PlanInputs) -> Plan:
    """Build the plan."""
    resolution = given.resolution
    unresolved = [PlanUnresolved(**{**asdict(u), "alternatives": list(u.alternatives)}) for u in resolution.unresolved]
    steps, layer_notes = build_steps(
        StepInputs(
            given.recipe,
            given.row,
            given.all_rows,
            given.target,
            given.facts,
            tuple(unresolved),
            given.artifacts,
            given.probes,
        )
    )
    wheels = _plan_wheels(given, steps)
    return Plan(
        recipe=given.recipe.name,
        recipe_source=given.recipe_source,
        stack=given.recipe.name,
        row=given.row.id,
        row_status=given.row.status,
        row_source=given.row.source,
        row_date=given.row.date,
        target=given.target.to_dict(),
        described=given.described,
        complete=not unresolved and not any(s.decision in ("defer", "refuse") for s in steps),
        steps=steps,
        wheels=wheels,
        rejected=[PlanRejected(**asdict(r)) for r in resolution.rejected],
        unresolved=unresolved,
        predicted_overrides=[PlanOverride(**asdict(o)) for o in resolution.predicted_overrides],
        left_out=[PlanLeftOut(**asdict(x)) for x in resolution.left_out],
        expected_conflicts=[c.model_dump() for c in given.recipe.expected_conflicts],
        exclusive=[f.model_dump() for f in given.recipe.exclusive],
        environment=given.recipe.environment.model_dump(),
        download_bytes=sum(w.size_bytes or 0 for w in wheels),
        plain_install_bytes=resolution.plain_install_bytes,
        warnings=_warnings(given, layer_notes),
        recipe_digest=given.recipe_digest,
        facts_digest=facts_digest(given.facts),
        index_digest=index_digest(wheels, unresolved),
        python_executable=given.facts.python.executable,
        inputs=dict(given.inputs),
    )


def _plan_wheels(given: PlanInputs, steps: Sequence[PlanStep]) -> list[PlanWheel]:
    present = {s.id for s in steps}
    owner = {p: s.id for s in given.recipe.steps if s.id in present for p in s.packages}
    closure = next((s.id for s in given.recipe.steps if s.closure and s.id in present), None)
    return [_plan_wheel(w, owner.get(w.name, closure or "")) for w in given.resolution.wheels]


def _plan_wheel(wheel: ChosenWheel, step: str) -> PlanWheel:
    return PlanWheel(
        name=wheel.name,
        version=wheel.version,
        filename=wheel.filename,
        url=wheel.url,
        index=wheel.index,
        sha256=wheel.sha256,
        size_bytes=wheel.size_bytes,
        step=step,
        bound=wheel.bound,
        hashes=list(wheel.hashes),
    )


def _warnings(given: PlanInputs, layer_notes: Sequence[str]) -> list[str]:
    notes = [*given.warnings, *given.resolution.warnings, *layer_notes]
    if given.described and given.target.scope != "python":
        notes.append("described machine: layers that were not given are planned as on a bare machine")
    return list(dict.fromkeys(notes))


def stale_reasons(saved: Plan, fresh: Plan) -> list[str]:
    """Say in which respects a saved plan no longer fits: recipe, facts, index. Empty when it still does."""
    reasons = []
    if saved.recipe_digest != fresh.recipe_digest:
        reasons.append("the recipe changed")
    if saved.facts_digest != fresh.facts_digest:
        reasons.append("the machine's facts changed")
    if saved.index_digest != fresh.index_digest:
        reasons.append(_index_change(saved, fresh))
    return reasons


def _index_change(saved: Plan, fresh: Plan) -> str:
    old = {w.name: (w.version, w.filename, w.sha256) for w in saved.wheels}
    new = {w.name: (w.version, w.filename, w.sha256) for w in fresh.wheels}
    moved = sorted(n for n in old.keys() | new.keys() if old.get(n) != new.get(n))
    shown = ", ".join(moved[:5]) + (" ..." if len(moved) > 5 else "")
    return f"an index answers differently for: {shown or 'packages that could not be had'}"
