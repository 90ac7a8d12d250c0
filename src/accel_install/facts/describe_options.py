"""The options that say which machine a plan is for, and whether they are well formed. Pure."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace

from accel_install.errors import MachineError, UsageError
from accel_install.facts.chips import canonical_model, family_of, known_models
from accel_install.facts.models import MachineFacts
from accel_install.facts.os_libc import split_os

__all__ = ["TargetOptions", "checked_options", "parse_python"]

_PYTHON = re.compile(r"3\.(\d{1,2})(t?)")
_LIBC = re.compile(r"\d{1,3}\.\d{1,3}")
_PYTHON_MINORS = range(8, 16)
_FIRST_FREE_THREADED_MINOR = 13
_SCOPES = ("host", "container", "python")
_ARCH_ALIASES = {"arm64": "aarch64", "amd64": "x86_64", "x86-64": "x86_64"}


@dataclass(frozen=True)
class TargetOptions:
    """The options of a call that say which machine is meant; `machine` is what a machine file held.

    `python` is a version, or the path of an interpreter of this machine.
    """

    machine: MachineFacts | None = None
    machine_name: str | None = None
    arch: str | None = None
    python: str | None = None
    glibc: str | None = None
    musl: str | None = None
    os: str | None = None
    accelerator: str | None = None
    scope: str = "host"


def checked_options(options: TargetOptions) -> TargetOptions:
    """Return the options in canonical spelling (`arm64` is `aarch64`, `ascend910b2` is `910B2`).

    Raises:
        UsageError: an option is malformed. MachineError: `machine.unknown-accelerator`.
    """
    if options.python is not None and "/" not in options.python:
        parse_python(options.python)
    _check_libc(options)
    if options.os is not None and split_os(options.os) is None:
        raise UsageError("usage.os", "--os takes ID-VERSION", value=options.os, expected="such as openeuler-22.03")
    if options.scope not in _SCOPES:
        raise UsageError("usage.scope", "unknown scope", value=options.scope, expected=", ".join(_SCOPES))
    arch = _ARCH_ALIASES.get(options.arch.lower(), options.arch.lower()) if options.arch else None
    return replace(options, arch=arch, accelerator=_known_model(options.accelerator))


def parse_python(text: str) -> tuple[int, bool]:
    """Return (minor version, free-threaded) of `3.11` or `3.13t`.

    Raises:
        UsageError: `usage.python`, it has not this form or is out of range.
    """
    found = _PYTHON.fullmatch(text)
    minor, threaded = (int(found.group(1)), bool(found.group(2))) if found else (-1, False)
    if minor not in _PYTHON_MINORS or (threaded and minor < _FIRST_FREE_THREADED_MINOR):
        raise UsageError(
            "usage.python",
            "--python takes a version of CPython",
            value=text,
            expected=f"3.{_PYTHON_MINORS[0]} to 3.{_PYTHON_MINORS[-1]}, with a t behind it from 3.13 on if free-threaded",
            hint="--python 3.11",
        )
    return minor, threaded


def _check_libc(options: TargetOptions) -> None:
    if options.glibc is not None and options.musl is not None:
        value = f"--glibc {options.glibc} --musl {options.musl}"
        raise UsageError("usage.libc", "a machine has one C library", value=value, expected="--glibc or --musl")
    for name, example in (("glibc", "2.34"), ("musl", "1.2")):
        value = getattr(options, name)
        if value is not None and not _LIBC.fullmatch(value):
            hint = f"--{name} {example}"
            raise UsageError(f"usage.{name}", f"--{name} takes a version", value=value, expected="two numbers", hint=hint)


def _known_model(text: str | None) -> str | None:
    if text is None:
        return None
    if family_of(text) is not None:
        return canonical_model(text)
    close = difflib.get_close_matches(canonical_model(text).upper(), known_models(), n=1)
    raise MachineError(
        "machine.unknown-accelerator",
        "this accelerator is not known",
        value=text,
        expected=", ".join(known_models()),
        hint=f"--accelerator {close[0]}" if close else "accel-install recipes",
    )
