"""Planning a repair: a plan like any other, with only the Python steps that findings make necessary. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from accel_install.lock.model import LockFile
from accel_install.lock.to_plan import plan_of
from accel_install.plan.models import DecisionWord, Plan, PlanStep
from accel_install.verify.families import as_families, family_of
from accel_install.verify.findings import Finding

__all__ = ["repair_plan"]

_ENV_KINDS = frozenset({"python_env"})
_WHEEL_KINDS = frozenset({"wheels", "wheels_nodeps"})
_PROOF_KINDS = frozenset({"smoke_test"})
_REINSTALL_SLUGS = frozenset(
    {
        "pins.version-moved",
        "pins.missing",
        "pins.local-family-lost",
        "pins.duplicate-dist",
        "env.half-installed",
        "integrity.missing-files",
        "integrity.changed-files",
        "ownership.shared-path",
        "ownership.family-conflict",
    }
)
_REMOVE_SLUGS = frozenset({"ownership.family-conflict", "ownership.shared-path", "pins.duplicate-dist"})


def repair_plan(promised: Plan | LockFile, findings: Iterable[Finding]) -> Plan:
    """Return a plan that heals the findings.

    Steps that install wheels get the decision `repair` and `params["reinstall"]`, the names to install again
    from their digest-checked wheels; when one accelerator-bound package of a step is concerned, all of that
    step are, because a family that moved in part is no family. `params["remove"]` names what must go before:
    all claimants of a module of which exactly one is then installed, and strangers that took a pinned
    package's files. Other steps are skipped.
    """
    plan = promised if isinstance(promised, Plan) else plan_of(promised)
    found = list(findings)
    reinstall = _with_family(plan, _to_reinstall(plan, found))
    removals = _removals(plan, found)
    steps = [s for s in plan.steps if s.kind in _ENV_KINDS | _WHEEL_KINDS | _PROOF_KINDS]
    acting = {s.id for s in steps if s.kind in _WHEEL_KINDS and (reinstall.get(s.id) or removals.get(s.id))}
    rebuild = any(f.slug in ("env.absent", "env.wrong-python") for f in found)
    kept = {s.id for s in steps}
    healed = [_step(s, kept, acting, reinstall, removals, rebuild) for s in steps]
    return plan.model_copy(
        update={
            "steps": healed,
            "complete": not plan.unresolved,
            "download_bytes": _bytes(plan, reinstall, rebuild),
            "plain_install_bytes": None,
        }
    )


def _to_reinstall(plan: Plan, findings: Sequence[Finding]) -> set[str]:
    """Name the pinned packages concerned.

    Of a fork over its upstream both, because they share their files.
    """
    pinned = {w.name for w in plan.wheels}
    names = {n for f in findings if f.slug in _REINSTALL_SLUGS for n in f.packages if n in pinned}
    for family in as_families(plan.exclusive):
        members = {*family.members, family.provider} & pinned
        if members & names:
            names |= {m for m in members if m is not None}
    return names


def _with_family(plan: Plan, names: set[str]) -> dict[str, list[str]]:
    """Group names by step, widened to a step's whole accelerator-bound set when one of it is concerned."""
    by_step: dict[str, set[str]] = {}
    for wheel in plan.wheels:
        if wheel.name in names:
            step = by_step.setdefault(wheel.step, set())
            step.add(wheel.name)
            if wheel.bound:
                step.update(w.name for w in plan.wheels if w.step == wheel.step and w.bound)
    return {step: sorted(members) for step, members in by_step.items()}


def _removals(plan: Plan, findings: Sequence[Finding]) -> dict[str, list[str]]:
    step_of = {w.name: w.step for w in plan.wheels}
    last = next((s.id for s in reversed(plan.steps) if s.kind in _WHEEL_KINDS), None)
    removals: dict[str, set[str]] = {}
    for finding in findings:
        if finding.slug not in _REMOVE_SLUGS or finding.severity != "fault":
            continue
        step = step_of.get(_provider(plan, finding), last)
        if step is not None:
            removals.setdefault(step, set()).update(_leaving(finding, step_of))
    return {step: sorted(names) for step, names in removals.items()}


def _provider(plan: Plan, finding: Finding) -> str:
    """Return the package whose step must clear the way.

    The family's provider, else the finding's own subject.
    """
    family = next((family_of(n, as_families(plan.exclusive)) for n in finding.packages), None)
    return (family.provider if family and family.provider else None) or finding.subject


def _leaving(finding: Finding, step_of: Mapping[str, str]) -> list[str]:
    if finding.slug == "ownership.shared-path":
        return [n for n in finding.packages if n not in step_of]
    return finding.packages


def _step(
    step: PlanStep,
    kept: set[str],
    acting: set[str],
    reinstall: Mapping[str, list[str]],
    removals: Mapping[str, list[str]],
    rebuild: bool,
) -> PlanStep:
    word, reason = _decide(step, acting, reinstall, removals, rebuild)
    params = {k: v for k, v in step.params.items() if k not in ("reinstall", "remove")}
    if word == "repair":
        params["reinstall"] = list(reinstall.get(step.id, []))
        if removals.get(step.id):
            params["remove"] = list(removals[step.id])
    needs = [n for n in step.needs if n in kept]
    return step.model_copy(update={"decision": word, "reason": reason, "params": params, "needs": needs})


def _decide(
    step: PlanStep,
    acting: set[str],
    reinstall: Mapping[str, list[str]],
    removals: Mapping[str, list[str]],
    rebuild: bool,
) -> tuple[DecisionWord, str]:
    if rebuild:
        return "do", "the environment is built anew"
    if step.id in acting:
        return "repair", _why(reinstall.get(step.id, []), removals.get(step.id, []))
    if step.kind in _PROOF_KINDS and acting:
        return "do", "proves the repaired environment"
    return "skip", "not concerned"


def _why(names: Sequence[str], removed: Sequence[str]) -> str:
    parts = [f"remove {', '.join(removed)}"] if removed else []
    if names:
        parts.append(f"install again {', '.join(names)}")
    return "; then ".join(parts)


def _bytes(plan: Plan, reinstall: Mapping[str, list[str]], rebuild: bool) -> int:
    names = {n for members in reinstall.values() for n in members}
    return sum(w.size_bytes or 0 for w in plan.wheels if rebuild or w.name in names)
