"""A plan of a lock: the same steps and wheels, without addresses. Pure; `resolve.locate` finds the files."""

from __future__ import annotations

from accel_install.lock.model import LockFile, LockLayer, LockStep
from accel_install.plan.models import (
    Artifact,
    Plan,
    PlanLeftOut,
    PlanOverride,
    PlanStep,
    PlanUnresolved,
    PlanWheel,
)
from accel_install.version import __version__

__all__ = ["plan_of"]

_TARGET_KEYS = ("arch", "python", "glibc", "musl", "accelerator", "family", "scope")


def plan_of(lock: LockFile, facts_digest: str = "") -> Plan:
    """Return the plan that replays a lock. Decisions are those of the lock.

    The engine decides again before it acts.
    """
    layers = {layer.step: layer for layer in lock.layers}
    return Plan(
        recipe=lock.recipe.name,
        stack=lock.recipe.stack,
        row=lock.row.id if lock.row else None,
        row_status=lock.row.status if lock.row else None,
        row_source=lock.row.source if lock.row else None,
        row_date=lock.row.date if lock.row else None,
        target={key: lock.target.get(key) for key in _TARGET_KEYS},
        tool_version=lock.tool.get("accel-install", __version__),
        complete=lock.complete,
        steps=[_step(s, layers.get(s.id)) for s in lock.steps],
        wheels=[PlanWheel(**w.model_dump(), url=None) for w in lock.wheels],
        unresolved=[PlanUnresolved(**u.model_dump(), detail=f"{u.reason} when the lock was made") for u in lock.unresolved],
        predicted_overrides=[PlanOverride(**{"pinned": None, **o}) for o in lock.overrides],
        left_out=[PlanLeftOut(**x) for x in lock.left_out],
        expected_conflicts=[dict(c) for c in lock.expected_conflicts],
        exclusive=[{"provider": None, **f} for f in lock.exclusive],
        environment=dict(lock.environment),
        download_bytes=sum(w.size_bytes or 0 for w in lock.wheels),
        recipe_digest=lock.recipe.digest,
        facts_digest=facts_digest,
    )


def _step(step: LockStep, layer: LockLayer | None) -> PlanStep:
    return PlanStep(
        id=step.id,
        kind=step.kind,
        title=step.title,
        needs=step.needs,
        decision=step.decision,
        reason="from the lockfile",
        artifacts=[Artifact(**a.model_dump()) for a in layer.artifacts] if layer else [],
        layer=step.layer,
        version=layer.version if layer else None,
        installed=layer.installed if layer else None,
        accepts=step.accepts,
        protects=step.protects,
        optional=step.optional,
        params=dict(step.params),
    )
