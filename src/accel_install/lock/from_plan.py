"""Making a lock of a plan and the facts of its machine. Pure.

The caller says what differs from run to run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from accel_install.errors import BundleOrLockError
from accel_install.facts.models import MachineFacts
from accel_install.lock.addresses import plain_index, without_addresses, without_hosts
from accel_install.lock.model import (
    LockAccelerator,
    LockArtifact,
    LockFile,
    LockLayer,
    LockMachine,
    LockRecipe,
    LockRow,
    LockStep,
    LockUnresolved,
    LockWheel,
)
from accel_install.lock.toml_text import without_none
from accel_install.plan.models import DecisionWord, Plan, PlanStep, PlanWheel

__all__ = ["lock_of"]

_LAYERS = ("driver", "firmware", "sdk", "ops", "nnal")


def lock_of(
    plan: Plan,
    facts: MachineFacts,
    run: Mapping[str, Any] | None = None,
    *,
    tools: Mapping[str, str] | None = None,
    digests: Mapping[str, str] | None = None,
) -> LockFile:
    """Return the lock of a plan.

    Args:
        plan: what was planned, or applied.
        facts: the machine it is for.
        run: what differs from run to run (`generated_at`, `host`, `verified_level`, evidence); left out when
        the
            machine was only described.
        tools: names and versions of further tools that take part (uv).
        digests: file name to sha256 of downloaded wheels, for those whose index states none.

    Raises:
        BundleOrLockError: `lock.no-digest`, a wheel has no sha256, so nothing could be promised about it.
    """
    return LockFile(
        tool={"accel-install": plan.tool_version, **dict(sorted((tools or {}).items()))},
        complete=plan.complete,
        recipe=LockRecipe(name=plan.recipe, stack=plan.stack, digest=plan.recipe_digest),
        row=_row(plan),
        target={k: v for k, v in plan.target.items() if v is not None},
        machine=machine_of(facts),
        environment=_clean(plan.environment),
        layers=[_layer(s) for s in plan.steps if s.layer is not None],
        wheels=_wheels(plan.wheels, digests or {}),
        unresolved=[
            LockUnresolved(**u.model_dump(exclude={"detail", "index"}), index=plain_index(u.index))
            for u in sorted(plan.unresolved, key=lambda u: u.name)
        ],
        overrides=_texts([o.model_dump(exclude_none=True) for o in plan.predicted_overrides], ("package", "by")),
        expected_conflicts=_texts(plan.expected_conflicts, ("package", "requires")),
        exclusive=sorted((_clean(f) for f in plan.exclusive), key=lambda f: str(f.get("module"))),
        left_out=_texts([x.model_dump(exclude_none=True) for x in plan.left_out], ("name",)),
        steps=[_step(s) for s in plan.steps],
        run=_clean(dict(run)) if run is not None and not plan.described else None,
    )


def machine_of(facts: MachineFacts) -> LockMachine:
    """Return the facts that a replay must fit."""
    system = "-".join(p for p in (facts.os.id, facts.os.version_id) if p)
    layers = {name: getattr(facts.layers, name) for name in _LAYERS}
    chips = Counter((a.vendor, a.family, a.model) for a in facts.accelerators)
    return LockMachine(
        os=system or None,
        arch=facts.arch,
        glibc=facts.glibc,
        musl=facts.musl,
        kernel=facts.kernel,
        python=facts.python.version,
        python_abi=facts.python.abi,
        layers={name: layer.version for name, layer in layers.items() if layer is not None and layer.version},
        accelerators=[
            LockAccelerator(vendor=vendor, family=family, model=model, count=count)
            for (vendor, family, model), count in sorted(chips.items(), key=lambda item: str(item[0]))
        ],
    )


def _clean(value: Mapping[str, Any]) -> dict[str, Any]:
    cleaned: dict[str, Any] = without_none(without_addresses(value))
    return cleaned


def _row(plan: Plan) -> LockRow | None:
    if plan.row is None:
        return None
    return LockRow(id=plan.row, status=plan.row_status, source=without_hosts(plan.row_source), date=plan.row_date)


def _lasting(word: DecisionWord) -> DecisionWord:
    """Return what a decision means for the next machine.

    What we installed, earlier or now, is to be installed.
    """
    return "do" if word in ("skip", "repair", "replace") else word


def _layer(step: PlanStep) -> LockLayer:
    return LockLayer(
        layer=step.layer or "",
        step=step.id,
        component=step.params.get("component"),
        version=step.version,
        installed=step.installed if step.decision == "adopt" else None,
        decision=_lasting(step.decision),
        artifacts=[LockArtifact(name=a.name, sha256=a.sha256, size_bytes=a.size_bytes) for a in step.artifacts],
    )


def _step(step: PlanStep) -> LockStep:
    return LockStep(
        id=step.id,
        kind=step.kind,
        title=without_hosts(step.title) or step.id,
        needs=step.needs,
        decision=_lasting(step.decision),
        layer=step.layer,
        accepts=step.accepts,
        protects=step.protects,
        optional=step.optional,
        params=_clean({k: v for k, v in step.params.items() if k not in ("reinstall", "remove")}),
    )


def _wheels(wheels: list[PlanWheel], digests: Mapping[str, str]) -> list[LockWheel]:
    known = {w.filename: w.sha256 or digests.get(w.filename) for w in wheels}
    bare = sorted(name for name, digest in known.items() if not digest)
    if bare:
        raise BundleOrLockError(
            "lock.no-digest",
            "wheels without a digest cannot be locked",
            value=", ".join(bare),
            expected="a sha256 from the index, or of the downloaded file",
            hint="accel-install apply digests what it downloads; or use a mirror that states digests",
        )
    return [
        LockWheel(
            **w.model_dump(exclude={"url", "index", "sha256", "hashes"}),
            index=plain_index(w.index),
            sha256=str(known[w.filename]).lower(),
        )
        for w in sorted(wheels, key=lambda w: (w.name, w.filename))
    ]


def _texts(items: list[Any], keys: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return objects for people: without addresses, hosts and None, ordered by their keys."""
    plain = [{k: without_hosts(v) if isinstance(v, str) else v for k, v in item.items()} for item in items]
    ordered = sorted(plain, key=lambda item: (*(str(item.get(k)) for k in keys), str(item)))
    return [without_none(item) for item in ordered]
