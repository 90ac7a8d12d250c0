"""The steps of a plan: filtered by scope, decided one by one, ordered for a first install or an upgrade. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accel_install.facts.models import MachineFacts
from accel_install.facts.target import Target
from accel_install.plan.decide import decide
from accel_install.plan.layers import FoundArtifact, artifacts_for, layer_probe, layer_wish
from accel_install.plan.models import PlanStep, PlanUnresolved, Probe
from accel_install.recipe.dag import ordered_steps
from accel_install.recipe.models import Recipe, Row, StepSpec

__all__ = ["StepInputs", "build_steps", "in_scope"]


@dataclass(frozen=True)
class StepInputs:
    """Everything the steps of a plan depend on, as values."""

    recipe: Recipe
    row: Row
    all_rows: tuple[Row, ...]
    target: Target
    facts: MachineFacts
    unresolved: tuple[PlanUnresolved, ...]
    artifacts: tuple[FoundArtifact, ...]
    probes: Mapping[str, Probe]


def in_scope(steps: Sequence[StepSpec], scope: str, row: Row) -> list[StepSpec]:
    """Keep the steps of a scope that have something to do for a row (an old one may name no compiler fork).

    A need on a dropped step becomes a need on what that step needed.
    """
    kept = {s.id for s in steps if scope in s.scopes and (not s.packages or s.closure or set(s.packages) & row.components.keys())}
    by_id = {s.id: s for s in steps}

    def resolve(need: str) -> list[str]:
        return [need] if need in kept else [n for up in by_id[need].needs for n in resolve(up)]

    result = []
    for step in ordered_steps(steps):
        if step.id in kept:
            needs = list(dict.fromkeys(n for need in step.needs for n in resolve(need)))
            result.append(step.model_copy(update={"needs": needs}))
    return result


def build_steps(inputs: StepInputs) -> tuple[list[PlanStep], list[str]]:
    """Return the decided steps in order, and warnings about links that nobody documents."""
    steps: list[PlanStep] = []
    warnings: list[str] = []
    for spec in in_scope(inputs.recipe.steps, inputs.target.scope, inputs.row):
        step, notes = _build_one(spec, inputs)
        steps.append(step)
        warnings.extend(notes)
    _follow_the_driver(steps, inputs)
    return _upgrade_order(steps), list(dict.fromkeys(warnings))


def _follow_the_driver(steps: list[PlanStep], inputs: StepInputs) -> None:
    """Replace the firmware with the driver where no row names a version: the vendor ships both as one bundle (HDK)."""
    driver = next((s for s in steps if s.layer == "driver"), None)
    firmware = next((s for s in steps if s.layer == "firmware"), None)
    if driver is None or firmware is None or driver.decision != "replace" or firmware.decision != "adopt" or firmware.version:
        return
    stop = firmware.params.get("stop_first")
    firmware.decision = "replace"
    firmware.reason = f"from {firmware.installed} to the firmware of HDK {driver.version}, as one bundle with the driver"
    firmware.reason += f"; stop first: {stop}" if stop else ""
    spec = next(s for s in inputs.recipe.steps if s.id == firmware.id)
    firmware.artifacts = artifacts_for(spec, inputs.target, None, _chip(inputs), inputs.artifacts)


def _build_one(spec: StepSpec, inputs: StepInputs) -> tuple[PlanStep, list[str]]:
    step = PlanStep(
        id=spec.id,
        kind=spec.kind,
        title=spec.title,
        needs=spec.needs,
        layer=spec.layer,
        protects=spec.protects,
        optional=spec.optional,
        params=dict(spec.params),
    )
    if spec.layer is not None:
        return _build_layer(step, spec, inputs)
    missing = [u for u in inputs.unresolved if u.name in spec.packages]
    if missing:
        names = ", ".join(f"{u.name} {u.version}" for u in missing)
        step.decision, step.reason = "defer", f"{names}: {missing[0].detail}"
        return step, []
    probe = inputs.probes.get(spec.id, Probe(state="absent"))
    decision = decide(step, probe)
    step.decision, step.reason = decision.word, decision.reason
    return step, []


def _build_layer(step: PlanStep, spec: StepSpec, inputs: StepInputs) -> tuple[PlanStep, list[str]]:
    wish = layer_wish(spec, inputs.row, inputs.all_rows)
    step.version, step.accepts = wish.version, list(wish.accepts)
    probe = inputs.probes.get(spec.id) or layer_probe(spec, inputs.facts, inputs.row, inputs.all_rows)
    step.installed = probe.version
    decision = decide(step, probe)
    step.decision, step.reason = decision.word, decision.reason
    if decision.acts:
        step.artifacts = artifacts_for(spec, inputs.target, wish.version, _chip(inputs), inputs.artifacts)
    return step, [f"{spec.id}: {note}" for note in wish.warnings]


def _chip(inputs: StepInputs) -> str:
    return inputs.target.family or (inputs.recipe.accelerator.family if inputs.recipe.accelerator else "")


def _upgrade_order(steps: list[PlanStep]) -> list[PlanStep]:
    """Put firmware before the driver when an installed driver is upgraded (vendor rule; a first install is reversed).

    Source: CANN 9.1 installation guide, in agreement with the vendor's deployer.
    """
    ids = [s.id for s in steps]
    driver = next((s for s in steps if s.layer == "driver"), None)
    firmware = next((s for s in steps if s.layer == "firmware"), None)
    if driver is None or firmware is None or driver.decision != "replace" or driver.id not in firmware.needs:
        return steps
    first, second = ids.index(driver.id), ids.index(firmware.id)
    firmware.needs = [n for n in firmware.needs if n != driver.id] or list(driver.needs)
    driver.needs = [*driver.needs, firmware.id]
    swapped = list(steps)
    swapped[first], swapped[second] = firmware, driver
    return swapped
