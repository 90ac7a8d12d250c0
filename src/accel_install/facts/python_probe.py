"""The target's interpreter, asked by a script that runs in it. Our own interpreter says nothing about it.

Which interpreters are candidates is decided next door, in `python_search`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accel_install.errors import MachineError
from accel_install.facts.python_search import python_candidates
from accel_install.host.base import Host

__all__ = ["ProbeFailure", "PythonProbe", "find_python", "parse_probe", "probe_python"]

_SCRIPT = Path(__file__).with_name("target_probe.py")
_MARK = "accel-install/1"
_TEXTS = ("executable", "version", "implementation", "abi", "arch", "prefix", "base_prefix", "purelib")


@dataclass(frozen=True)
class PythonProbe:
    """What an interpreter says of itself. `libc` is (name, version), either None when it does not know.

    `base_prefix` differs from `prefix` in a virtual environment; `has_headers` is for building extensions, `has_venv`
    says whether the `venv` module works (Debian splits `ensurepip` off).
    """

    executable: str
    version: str
    implementation: str
    abi: str
    free_threaded: bool
    arch: str
    libc: tuple[str | None, str | None]
    prefix: str
    base_prefix: str
    purelib: str
    has_headers: bool
    has_venv: bool

    @property
    def label(self) -> str:
        """Return `3.11`, or `3.13t` for a free-threaded build."""
        return ".".join(self.version.split(".")[:2]) + ("t" if self.free_threaded else "")

    @property
    def full_label(self) -> str:
        """Return `3.11.7`, or `3.13.0t` for a free-threaded build."""
        return self.version + ("t" if self.free_threaded else "")


@dataclass(frozen=True)
class ProbeFailure:
    """Why an interpreter could not be asked."""

    executable: str
    reason: str


def probe_python(host: Host, executable: str | Path, timeout_s: float = 20) -> PythonProbe | ProbeFailure:
    """Ask an interpreter what it is. Never raises: garbage, a hang or a crash becomes a failure with its reason."""
    name = str(executable)
    result = host.run([name, "-I", str(_SCRIPT)], timeout_s=timeout_s)
    if result.timed_out:
        return ProbeFailure(name, f"did not answer within {timeout_s:g} s")
    if result.returncode != 0:
        return ProbeFailure(name, f"ended with {result.returncode}: {_telling_line(result.stderr or result.stdout)}")
    probe = parse_probe(result.stdout)
    if probe is None:
        said = result.stdout.strip().splitlines()
        return ProbeFailure(name, f"did not print the probe's line but `{said[-1][:80] if said else ''}`")
    if probe.implementation != "cpython":
        return ProbeFailure(name, f"is {probe.implementation}, not CPython: the wheels are built for CPython")
    return probe


def parse_probe(text: str) -> PythonProbe | None:
    """Find the probe's line in what an interpreter printed (start-up files may print, too); None when it is not there."""
    for line in reversed(text.splitlines()):
        answer = _object(line)
        if answer is not None and answer.get("probe") == _MARK:
            return _probe_of(answer)
    return None


def find_python(host: Host, wanted: str | None, path_variable: str = "") -> PythonProbe:
    """Find the interpreter to build environments with.

    Args:
        host: where to look; below a root only in its bin folders.
        wanted: `3.11`, `3.13t`, a full version `3.11.7`, a path, or None for the first that works.
        path_variable: PATH of the caller, searched beyond its first hit (a pyenv shim there may fail).

    Raises:
        MachineError: `machine.python-not-found`, naming what was found.
    """
    found: list[str] = []
    for candidate in python_candidates(host, wanted, path_variable):
        probe = probe_python(host, candidate)
        if isinstance(probe, ProbeFailure):
            found.append(f"{candidate} {probe.reason}")
        elif wanted is None or "/" in wanted or wanted in (probe.label, probe.full_label):
            return probe
        else:
            found.append(f"{candidate} is {probe.label}")
    raise MachineError(
        "machine.python-not-found",
        f"no interpreter for Python {wanted} was found" if wanted else "no Python interpreter was found",
        value="; ".join(found) or "nothing to run there",
        expected=(wanted if "/" in wanted else f"python{wanted}") if wanted else "python3",
        hint="--python /path/to/python, or install it with the system's package manager",
    )


def _telling_line(text: str) -> str:
    """Return the line that says what went wrong: the last of a traceback, else the first (a pyenv shim adds advice)."""
    lines = text.strip().splitlines()
    if not lines:
        return "no output"
    return lines[-1 if lines[0].startswith("Traceback") else 0].strip()


def _object(line: str) -> dict[str, Any] | None:
    if not line.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _probe_of(answer: dict[str, Any]) -> PythonProbe | None:
    texts = {name: answer.get(name) for name in _TEXTS}
    libc = answer.get("libc")
    if not all(isinstance(value, str) and value for value in texts.values()):
        return None
    if not (isinstance(libc, list) and len(libc) == 2 and all(part is None or isinstance(part, str) for part in libc)):
        return None
    return PythonProbe(
        **{name: str(value) for name, value in texts.items()},
        free_threaded=answer.get("free_threaded") is True,
        libc=(libc[0], libc[1]),
        has_headers=answer.get("has_headers") is True,
        has_venv=answer.get("has_venv") is True,
    )
