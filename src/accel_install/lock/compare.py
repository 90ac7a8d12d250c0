"""Comparing locks with each other, and a lock with the machine that shall replay it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from accel_install.facts.models import MachineFacts
from accel_install.facts.target import Target
from accel_install.lock.model import LockFile, LockWheel

__all__ = ["FitProblem", "LockDifference", "diff_locks", "glibc_needed", "lock_fits"]

_OLD_TAGS: Mapping[str, tuple[int, int]] = {
    "manylinux1": (2, 5),
    "manylinux2010": (2, 12),
    "manylinux2014": (2, 17),
}


@dataclass(frozen=True)
class LockDifference:
    """One difference.

    `area` is `recipe`, `row`, `target`, `machine`, `layer`, `wheel` ..., `before`/`after` None if absent.
    """

    area: str
    name: str
    field: str
    before: Any
    after: Any

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {
            "area": self.area,
            "name": self.name,
            "field": self.field,
            "before": self.before,
            "after": self.after,
        }


@dataclass(frozen=True)
class FitProblem:
    """Why a lock cannot be replayed on a machine: which fact, what the lock needs, what is there."""

    slug: str
    expected: str
    actual: str
    detail: str


def diff_locks(before: LockFile, after: LockFile) -> list[LockDifference]:
    """Return what differs between two locks, leaving out what differs from run to run."""
    found: list[LockDifference] = []
    for area in ("recipe", "row", "target", "machine", "environment"):
        found += _fields(area, area, _dump(getattr(before, area)), _dump(getattr(after, area)))
    found += _fields("tool", "tool", before.tool, after.tool)
    for area, field, key in (
        ("layer", "layers", "step"),
        ("wheel", "wheels", "name"),
        ("step", "steps", "id"),
    ):
        found += _lists(area, _by(getattr(before, field), key), _by(getattr(after, field), key))
    found += _lists("unresolved", _by(before.unresolved, "name"), _by(after.unresolved, "name"))
    for area, field, keys in (
        ("exclusive", "exclusive", ("module",)),
        ("expected-conflict", "expected_conflicts", ("package", "requires")),
        ("left-out", "left_out", ("name",)),
        ("override", "overrides", ("package", "by")),
    ):
        found += _lists(area, _joined(getattr(before, field), keys), _joined(getattr(after, field), keys))
    return found


def _dump(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    return dict(value) if isinstance(value, Mapping) else dict(value.model_dump(mode="json"))


def _by(items: Iterable[Any], key: str) -> dict[str, dict[str, Any]]:
    return {getattr(item, key): item.model_dump(mode="json") for item in items}


def _joined(items: Iterable[Mapping[str, Any]], keys: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    return {" / ".join(str(item.get(k)) for k in keys): dict(item) for item in items}


def _lists(area: str, before: Mapping[str, dict[str, Any]], after: Mapping[str, dict[str, Any]]) -> list[LockDifference]:
    found: list[LockDifference] = []
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            found.append(LockDifference(area, name, "", _headline(old), _headline(new)))
        else:
            found += _fields(area, name, old, new)
    return found


def _headline(item: Mapping[str, Any] | None) -> Any:
    return None if item is None else (item.get("version") or "present")


def _fields(area: str, name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[LockDifference]:
    keys = sorted(old.keys() | new.keys())
    return [LockDifference(area, name, k, old.get(k), new.get(k)) for k in keys if old.get(k) != new.get(k)]


def lock_fits(lock: LockFile, facts: MachineFacts, target: Target) -> list[FitProblem]:
    """Return why a lock cannot be replayed on a machine; empty when it can.

    What is unknown there is not held against it.
    """
    checks = (
        _arch(lock, target),
        _python(lock, target),
        _libc(lock, target),
        _family(lock, facts, target),
    )
    return [problem for problem in checks if problem is not None]


def _arch(lock: LockFile, target: Target) -> FitProblem | None:
    wanted = lock.target.get("arch")
    if wanted is None or wanted == target.arch:
        return None
    return FitProblem("lock.other-arch", wanted, target.arch, "its wheels and packages are built for another arch")


def _python(lock: LockFile, target: Target) -> FitProblem | None:
    wanted = lock.target.get("python")
    if wanted is None or wanted == target.python_label:
        return None
    return FitProblem("lock.other-python", wanted, target.python_label, "its wheels were chosen for another Python")


def _libc(lock: LockFile, target: Target) -> FitProblem | None:
    locked = "musl" if lock.target.get("musl") else "glibc"
    if locked != target.libc:
        return FitProblem("lock.other-libc", locked, target.libc, "its wheels are built against another C library")
    if target.libc != "glibc":
        return None
    needs = [(needed, w.filename) for w in lock.wheels if (needed := glibc_needed(w)) is not None]
    here = _numbers(target.libc_version)
    if not needs or here is None or max(needs)[0] <= here:
        return None
    needed, filename = max(needs)
    wanted = f"glibc >= {needed[0]}.{needed[1]}"
    return FitProblem("lock.glibc-too-old", wanted, f"glibc {target.libc_version}", f"{filename} needs it")


def glibc_needed(wheel: LockWheel) -> tuple[int, int] | None:
    """Return the oldest glibc that a wheel runs with, by the best of its platform tags.

    None when it does not care.
    """
    tags = wheel.filename.removesuffix(".whl").rsplit("-", 1)[-1].split(".")
    versions = [v for tag in tags if (v := _tag_glibc(tag)) is not None]
    return min(versions) if versions else None


def _tag_glibc(tag: str) -> tuple[int, int] | None:
    modern = re.match(r"manylinux_(\d+)_(\d+)_", tag)
    if modern:
        return int(modern.group(1)), int(modern.group(2))
    return next((version for old, version in _OLD_TAGS.items() if tag.startswith(f"{old}_")), None)


def _numbers(version: str) -> tuple[int, int] | None:
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found.group(1)), int(found.group(2))) if found else None


def _family(lock: LockFile, facts: MachineFacts, target: Target) -> FitProblem | None:
    wanted = lock.target.get("family") or next((a.family for a in lock.machine.accelerators if a.family), None)
    present = {a.family for a in facts.accelerators if a.family} or ({target.family} if target.family else set())
    if wanted is None or not present or wanted in present:
        return None
    actual = ", ".join(sorted(f for f in present if f))
    return FitProblem("lock.other-accelerator", wanted, actual, "its SDK packages and kernels are for another chip family")
