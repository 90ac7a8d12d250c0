"""The promise an environment is compared with: what a plan or a lockfile says about Python packages. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from packaging.utils import canonicalize_name

from accel_install.lock.model import LockFile
from accel_install.lock.to_plan import plan_of
from accel_install.plan.models import Plan
from accel_install.recipe.models import ExclusiveFamily
from accel_install.verify.families import as_families

__all__ = ["Promise", "promise_of_lock", "promise_of_plan"]


@dataclass(frozen=True)
class Promise:
    """What must hold.

    Attributes:
        name: how people call it (recipe or lock).
        pins: canonical name to exact version.
        step_of: canonical name to the step that installs it.
        exclusive: families of which only the provider may be there.
        expected_conflicts: (package, required name) to the reason why a conflict is right here.
        forbidden: name or shell pattern of what must not be there, to the reason.
        target: the `target` object of the plan (arch, python, ...).
    """

    name: str
    pins: Mapping[str, str]
    step_of: Mapping[str, str] = field(default_factory=dict)
    exclusive: tuple[ExclusiveFamily, ...] = ()
    expected_conflicts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    forbidden: Mapping[str, str] = field(default_factory=dict)
    target: Mapping[str, str | None] = field(default_factory=dict)

    def why_forbidden(self, name: str) -> str | None:
        """Return the reason why a distribution must not be there, or None when it may."""
        if name in self.pins:
            return None
        return next((why for pattern, why in self.forbidden.items() if fnmatchcase(name, pattern)), None)


def promise_of_plan(plan: Plan, *, steps: Iterable[str] | None = None, forbidden: Mapping[str, str] | None = None) -> Promise:
    """Return the promise of a plan, or of those of its steps that are done (`steps`).

    `forbidden` adds patterns of foreign payloads to the names that the plan leaves out.
    """
    counted = None if steps is None else frozenset(steps)
    wheels = [w for w in plan.wheels if counted is None or w.step in counted]
    left_out = {str(canonicalize_name(x.name)): x.reason for x in plan.left_out}
    return Promise(
        name=plan.recipe if plan.row is None else f"{plan.recipe} ({plan.row})",
        pins={str(canonicalize_name(w.name)): w.version for w in wheels},
        step_of={str(canonicalize_name(w.name)): w.step for w in wheels},
        exclusive=tuple(as_families(plan.exclusive)),
        expected_conflicts=dict(_expected(plan.expected_conflicts)),
        forbidden={**left_out, **(forbidden or {})},
        target=dict(plan.target),
    )


def promise_of_lock(lock: LockFile) -> Promise:
    """Return the promise of a lockfile."""
    return promise_of_plan(plan_of(lock))


def _expected(conflicts: Iterable[Mapping[str, Any]]) -> Iterable[tuple[tuple[str, str], str]]:
    for item in conflicts:
        key = (str(canonicalize_name(item["package"])), str(canonicalize_name(item["requires"])))
        yield key, str(item.get("reason", ""))
