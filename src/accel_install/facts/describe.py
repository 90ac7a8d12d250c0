"""The machine a plan is for: this one, this one with one fact overridden, or a described one. Pure.

What was not given for a described machine is unknown, never taken from the machine the tool runs on.
"""

from __future__ import annotations

import re
from typing import Literal, cast

from accel_install.errors import MachineError, UsageError
from accel_install.facts.chips import family_of, is_generic_model, vendor_of
from accel_install.facts.describe_options import TargetOptions, checked_options, parse_python
from accel_install.facts.models import AcceleratorFacts, MachineFacts, OsFacts, PythonFacts
from accel_install.facts.os_libc import known_systems, libc_of, split_os
from accel_install.facts.target import Scope, Target

__all__ = ["TargetOptions", "describe_target"]

_NOT_GIVEN = "not given for the described machine"
_VERSION = re.compile(r"(\d+\.\d+)(\.\d+)?\w*")
_FIELDS = ("os", "arch", "glibc", "kernel", "memory_bytes", "filesystems", "container", "python", "accelerators")
_LAYERS = ("layers.driver", "layers.firmware", "layers.sdk", "layers.ops", "layers.nnal")
_BARE = MachineFacts(unknown=dict.fromkeys([*_FIELDS, *_LAYERS, "environment"], _NOT_GIVEN))


def describe_target(local: MachineFacts | None, options: TargetOptions) -> tuple[MachineFacts, Target, bool, list[str]]:
    """Return (facts, target, described, notes).

    Args:
        local: facts of this machine; not looked at when a machine file was given.
        options: what the call said. A foreign arch or accelerator describes another machine.

    Raises:
        UsageError: an option is malformed.
        MachineError: `machine.arch-unknown`, `machine.python-unknown`, `machine.libc-unknown`,
            `machine.unknown-accelerator`.
    """
    given = checked_options(options)
    base = given.machine if given.machine is not None else local
    foreign = base is None or _is_foreign(base, given)
    described = foreign or given.machine is not None
    if described and given.python is not None and "/" in given.python:
        raise UsageError(
            "usage.python",
            "a path names an interpreter of this machine, but another machine is described",
            value=given.python,
            expected="a version",
            hint="--python 3.11",
        )
    known = _BARE if base is None or foreign else base
    facts = _overridden(known, given)
    return facts, _target(facts, given, described), described, _notes(known, facts, described)


def _is_foreign(base: MachineFacts, options: TargetOptions) -> bool:
    """Say whether the options contradict what is known; where nothing is known they only fill it in."""
    if options.arch is not None and base.arch is not None and options.arch != base.arch:
        return True
    if options.accelerator is None or base.is_unknown("accelerators"):
        return False
    return not any(_may_be(card, options.accelerator) for card in base.accelerators)


def _may_be(card: AcceleratorFacts, model: str) -> bool:
    """A card whose model is not known, or only named by its family, may be any model of that family."""
    if card.model is not None and card.model.lower() == model.lower():
        return True
    return (is_generic_model(card.model) or is_generic_model(model)) and card.family == family_of(model)


def _overridden(base: MachineFacts, options: TargetOptions) -> MachineFacts:
    changes: dict[str, object] = {}
    if options.arch is not None:
        changes["arch"] = options.arch
    if options.python is not None and "/" not in options.python and not _is_python(base, options.python):
        changes["python"] = _python_of(options.python)
    if options.accelerator is not None:
        changes["accelerators"] = _accelerators(base, options.accelerator)
    changes |= _system_changes(base, options)
    reasons = {k: v for k, v in base.unknown.items() if not _is_learnt(k, changes)}
    return base.model_copy(update={**changes, "unknown": reasons})


def _is_learnt(field: str, changes: dict[str, object]) -> bool:
    head, _, rest = field.partition(".")
    if head == "accelerators" and rest:
        return head in changes and rest.endswith("model")
    if head in ("glibc", "musl"):
        return any(changes.get(name) for name in ("glibc", "musl"))
    return head in changes


def _is_python(base: MachineFacts, wanted: str) -> bool:
    found = _VERSION.fullmatch(base.python.version or "")
    label = f"{found.group(1) if found else ''}{'t' if base.python.free_threaded else ''}"
    return label == wanted


def _python_of(wanted: str) -> PythonFacts:
    minor, threaded = parse_python(wanted)
    abi = f"cp3{minor}{'t' if threaded else ''}"
    return PythonFacts(version=f"3.{minor}", abi=abi, free_threaded=threaded)


def _accelerators(base: MachineFacts, model: str) -> list[AcceleratorFacts]:
    family = family_of(model)
    if not base.accelerators:
        return [AcceleratorFacts(vendor=vendor_of(family or ""), family=family, model=model)]
    return [
        card.model_copy(update={"model": model}) if is_generic_model(card.model) and _may_be(card, model) else card
        for card in base.accelerators
    ]


def _system_changes(base: MachineFacts, options: TargetOptions) -> dict[str, object]:
    """Return system and C library: the option, else what the named system has, else what is known already."""
    changes: dict[str, object] = {}
    system = split_os(options.os) if options.os is not None else None
    same = system is None or (base.os.id, base.os.version_id) == system
    if system is not None and not same:
        changes["os"] = OsFacts(id=system[0], version_id=system[1])
    if options.glibc is not None or options.musl is not None:
        return changes | {"glibc": options.glibc, "musl": options.musl}
    if same and (base.glibc is not None or base.musl is not None):
        return changes
    os_id, version = system or (base.os.id, base.os.version_id)
    known = libc_of(os_id, version) if os_id and version else None
    if known is not None:
        return changes | {"glibc": None, "musl": None, known[0]: known[1]}
    return changes if same else changes | {"glibc": None, "musl": None}


def _notes(known: MachineFacts, facts: MachineFacts, described: bool) -> list[str]:
    if described or facts.python.executable is not None or facts.python.version is None:
        return []
    why = known.unknown.get("python") or f"this machine has {known.python.version}"
    return [f"Python {facts.python.version} is planned for, but no such interpreter was found here: {why}"]


def _target(facts: MachineFacts, options: TargetOptions, described: bool) -> Target:
    if facts.arch is None:
        reason = facts.unknown.get("arch")
        raise MachineError("machine.arch-unknown", "the architecture is unknown", value=reason, hint="--arch aarch64")
    python = _python_version(facts)
    libc, libc_version = _libc(facts, options)
    cards = facts.accelerators
    card = next((c for c in cards if c.family is not None), cards[0] if cards else None)
    return Target(
        arch=facts.arch,
        python=python,
        free_threaded=bool(facts.python.free_threaded),
        libc=libc,
        libc_version=libc_version,
        accelerator=card.model if card else None,
        family=card.family if card else None,
        scope=cast(Scope, options.scope),
        kernel=None if described else facts.kernel,
    )


def _python_version(facts: MachineFacts) -> str:
    found = _VERSION.fullmatch(facts.python.version or "")
    if found is not None:
        return found.group(1)
    raise MachineError(
        "machine.python-unknown",
        "the target's Python is unknown",
        value=facts.python.version or facts.unknown.get("python") or facts.unknown.get("python.version"),
        expected="a version such as 3.11",
        hint="--python 3.11",
    )


def _libc(facts: MachineFacts, options: TargetOptions) -> tuple[Literal["glibc", "musl"], str]:
    if facts.musl is not None:
        return "musl", facts.musl
    if facts.glibc is not None:
        return "glibc", facts.glibc
    raise MachineError(
        "machine.libc-unknown",
        "the C library of the target is unknown",
        value=f"--os {options.os}" if options.os else facts.unknown.get("glibc"),
        expected=f"--glibc or --musl, or --os with one of {', '.join(known_systems())}",
        hint="--glibc 2.34, or --os openeuler-22.03",
    )
