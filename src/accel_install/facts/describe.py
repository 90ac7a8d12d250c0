"""The machine a plan is for: this one, this one with one fact overridden, or a described one.

What was not given for a described machine is unknown, never taken from the machine the tool runs on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from accel_install.errors import MachineError, UsageError
from accel_install.facts.chips import family_of, known_models
from accel_install.facts.models import AcceleratorFacts, MachineFacts, OsFacts, PythonFacts
from accel_install.facts.os_libc import known_systems, libc_of
from accel_install.facts.target import Scope, Target

__all__ = ["TargetOptions", "describe_target"]

_NOT_GIVEN = "not given for the described machine"
_PYTHON = re.compile(r"^3\.(\d{1,2})(t?)$")
_LIBC = re.compile(r"^\d+\.\d+$")
_PYTHON_MINORS = range(8, 16)
_FIRST_FREE_THREADED_MINOR = 13
_UNKNOWN_WHEN_DESCRIBED = (
    "kernel",
    "memory_bytes",
    "filesystems",
    "container",
    "layers.driver",
    "layers.firmware",
    "layers.sdk",
    "layers.ops",
    "layers.nnal",
    "environment",
)


@dataclass(frozen=True)
class TargetOptions:
    """The options of a call that say which machine is meant; `machine` is what a machine file held."""

    machine: MachineFacts | None = None
    machine_name: str | None = None
    arch: str | None = None
    python: str | None = None
    glibc: str | None = None
    musl: str | None = None
    os: str | None = None
    accelerator: str | None = None
    scope: str = "host"


def describe_target(
    local: MachineFacts | None, options: TargetOptions
) -> tuple[MachineFacts, Target, bool, list[str]]:
    """Return (facts, target, described, notes).

    Args:
        local: facts of this machine, None when a machine file was given.
        options: what the call said.

    Raises:
        UsageError: an option is malformed. MachineError: a fact that a plan needs is unknown (exit 11).
    """
    _check_options(options)
    described = options.machine is not None or local is None or _is_foreign(local, options)
    base = options.machine or (MachineFacts(unknown={}) if described or local is None else local)
    if described and options.machine is None:
        base = _bare()
    facts = _overridden(base, options)
    return facts, _target(facts, options, described), described, []


def _check_options(options: TargetOptions) -> None:
    if options.python is not None and "/" not in options.python:
        _check_python(options.python)
    for name, value in (("glibc", options.glibc), ("musl", options.musl)):
        if value is not None and not _LIBC.match(value):
            raise UsageError(f"usage.{name}", f"--{name} takes a version", value=value, expected="two numbers, such as 2.34")
    if options.glibc is not None and options.musl is not None:
        raise UsageError("usage.libc", "--glibc and --musl exclude each other", value=f"{options.glibc}, {options.musl}")
    if options.os is not None and "-" not in options.os:
        raise UsageError("usage.os", "--os takes ID-VERSION", value=options.os, expected="such as openeuler-22.03")
    if options.accelerator is not None and family_of(options.accelerator) is None:
        raise MachineError(
            "machine.unknown-accelerator",
            "this accelerator is not known",
            value=options.accelerator,
            expected=", ".join(known_models()),
            hint="accel-install recipes",
        )


def _check_python(text: str) -> None:
    match = _PYTHON.match(text)
    minor = int(match.group(1)) if match else -1
    if match is None or minor not in _PYTHON_MINORS or (match.group(2) and minor < _FIRST_FREE_THREADED_MINOR):
        raise UsageError(
            "usage.python", "--python takes a version", value=text, expected="3.8 to 3.15, or 3.13t and up for free-threaded"
        )


def _is_foreign(local: MachineFacts, options: TargetOptions) -> bool:
    if options.arch is not None and options.arch != local.arch:
        return True
    models = {(a.model or "").lower() for a in local.accelerators}
    return options.accelerator is not None and options.accelerator.lower() not in models


def _bare() -> MachineFacts:
    names = ("os", "arch", "glibc", "python", "accelerators", *_UNKNOWN_WHEN_DESCRIBED)
    return MachineFacts(unknown=dict.fromkeys(names, _NOT_GIVEN))


def _overridden(base: MachineFacts, options: TargetOptions) -> MachineFacts:
    changes: dict[str, object] = {}
    learnt: set[str] = set()
    if options.arch is not None:
        changes["arch"] = options.arch
        learnt.add("arch")
    if options.python is not None and "/" not in options.python and not _same_python(base, options.python):
        changes["python"] = PythonFacts(version=options.python.rstrip("t"), free_threaded=options.python.endswith("t"))
        learnt.add("python")
    if options.accelerator is not None and not any(_is_model(a, options.accelerator) for a in base.accelerators):
        family = family_of(options.accelerator)
        changes["accelerators"] = [AcceleratorFacts(vendor="huawei", family=family, model=options.accelerator)]
        learnt.add("accelerators")
    changes |= _libc_changes(base, options, learnt)
    unknown = {k: v for k, v in base.unknown.items() if k.partition(".")[0] not in learnt}
    return base.model_copy(update={**changes, "unknown": unknown})


def _same_python(base: MachineFacts, wanted: str) -> bool:
    have = base.python.version or ""
    return ".".join(have.split(".")[:2]) == wanted.rstrip("t") and bool(base.python.free_threaded) == wanted.endswith("t")


def _is_model(card: AcceleratorFacts, model: str) -> bool:
    return (card.model or "").lower() == model.lower()


def _libc_changes(base: MachineFacts, options: TargetOptions, learnt: set[str]) -> dict[str, object]:
    changes: dict[str, object] = {}
    if options.os is not None:
        os_id, _, version = options.os.partition("-")
        changes["os"] = OsFacts(id=os_id.lower(), version_id=version, name=None)
        learnt.add("os")
        known = libc_of(os_id.lower(), version)
        if known is not None:
            changes |= {"glibc": None, "musl": None, known[0]: known[1]}
            learnt |= {"glibc", "musl"}
    elif base.glibc is None and base.musl is None and base.os.id and base.os.version_id:
        known = libc_of(base.os.id, base.os.version_id)
        if known is not None:
            changes[known[0]] = known[1]
            learnt |= {"glibc", "musl"}
    if options.glibc is not None:
        changes |= {"glibc": options.glibc, "musl": None}
        learnt |= {"glibc", "musl"}
    if options.musl is not None:
        changes |= {"glibc": None, "musl": options.musl}
        learnt |= {"glibc", "musl"}
    return changes


def _target(facts: MachineFacts, options: TargetOptions, described: bool) -> Target:
    if facts.arch is None:
        raise MachineError("machine.arch-unknown", "the architecture is unknown", hint="--arch aarch64")
    card = facts.accelerators[0] if facts.accelerators else None
    libc, libc_version = _libc(facts, options)
    version = facts.python.version
    if version is None:
        raise MachineError(
            "machine.python-unknown",
            "the target's Python is unknown",
            value=facts.unknown.get("python") or facts.unknown.get("python.version"),
            expected="a version such as 3.11",
            hint="--python 3.11",
        )
    scope: Scope = options.scope if options.scope in ("container", "python") else "host"  # type: ignore[assignment]
    return Target(
        arch=facts.arch,
        python=".".join(version.split(".")[:2]),
        free_threaded=bool(facts.python.free_threaded),
        libc=libc,
        libc_version=libc_version,
        accelerator=card.model if card else None,
        family=card.family if card else None,
        scope=scope,
        kernel=None if described else facts.kernel,
    )


def _libc(facts: MachineFacts, options: TargetOptions) -> tuple[Literal["glibc", "musl"], str]:
    if facts.musl is not None:
        return "musl", facts.musl
    if facts.glibc is not None:
        return "glibc", facts.glibc
    raise MachineError(
        "machine.libc-unknown",
        "the C library of the target is unknown",
        value=options.os or facts.unknown.get("glibc"),
        expected=f"--glibc or --musl, or --os with one of {', '.join(known_systems())}",
        hint="--glibc 2.34, or --os openeuler-22.03",
    )
