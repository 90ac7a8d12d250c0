"""The target's interpreter, asked by a script that runs in it. Our own interpreter says nothing about it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accel_install.errors import MachineError
from accel_install.host.base import Host

__all__ = ["ProbeFailure", "PythonProbe", "find_python", "probe_python"]

_SCRIPT = Path(__file__).with_name("target_probe.py")


@dataclass(frozen=True)
class PythonProbe:
    """What an interpreter says of itself. `libc` is (name, version), either None when it does not know."""

    executable: str
    version: str
    abi: str
    free_threaded: bool
    arch: str
    libc: tuple[str | None, str | None]
    prefix: str
    purelib: str
    has_headers: bool

    @property
    def label(self) -> str:
        """Return `3.11`, or `3.13t` for a free-threaded build."""
        return ".".join(self.version.split(".")[:2]) + ("t" if self.free_threaded else "")


@dataclass(frozen=True)
class ProbeFailure:
    """Why an interpreter could not be asked."""

    executable: str
    reason: str


def probe_python(host: Host, executable: str | Path, timeout_s: float = 20) -> PythonProbe | ProbeFailure:
    """Ask an interpreter what it is. Never raises: garbage, a hang or a crash becomes a failure with its reason."""
    result = host.run([str(executable), "-I", str(_SCRIPT)], timeout_s=timeout_s)
    if result.timed_out:
        return ProbeFailure(str(executable), f"did not answer within {timeout_s:.0f} s")
    if result.returncode != 0:
        said = (result.stderr or result.stdout).strip().splitlines()
        return ProbeFailure(str(executable), f"ended with {result.returncode}: {said[-1] if said else 'no output'}")
    try:
        answer: dict[str, Any] = json.loads(result.stdout.strip().splitlines()[-1])
        libc = answer["libc"]
        return PythonProbe(
            executable=str(answer["executable"]),
            version=str(answer["version"]),
            abi=str(answer["abi"]),
            free_threaded=bool(answer["free_threaded"]),
            arch=str(answer["arch"]),
            libc=(libc[0], libc[1]),
            prefix=str(answer["prefix"]),
            purelib=str(answer["purelib"]),
            has_headers=bool(answer["has_headers"]),
        )
    except (ValueError, KeyError, IndexError, TypeError):
        return ProbeFailure(str(executable), "answered something else than the probe's line")


def find_python(host: Host, wanted: str | None) -> PythonProbe:
    """Find the interpreter to build environments with.

    Args:
        host: where to look; below a root only in its bin folders.
        wanted: `3.11`, `3.13t`, an absolute path, or None for the first that works.

    Raises:
        MachineError: `machine.python-not-found`, naming what was found.
    """
    found: list[str] = []
    for candidate in _candidates(host, wanted):
        probe = probe_python(host, candidate)
        if isinstance(probe, ProbeFailure):
            found.append(f"{candidate} ({probe.reason})")
        elif wanted is None or "/" in wanted or probe.label == wanted:
            return probe
        else:
            found.append(f"{candidate} is {probe.label}")
    raise MachineError(
        "machine.python-not-found",
        f"no interpreter for Python {wanted} was found" if wanted else "no Python interpreter was found",
        value="; ".join(found) or "nothing on PATH",
        expected=f"python{wanted}" if wanted else "python3",
        hint="--python /path/to/python3.11, or install it with the system's package manager",
    )


def _candidates(host: Host, wanted: str | None) -> list[Path]:
    if wanted is not None and "/" in wanted:
        return [Path(wanted)]
    names = [f"python{wanted}"] if wanted else []
    paths = [host.which(name) for name in [*names, "python3", "python"]]
    return list(dict.fromkeys(p for p in paths if p is not None))
