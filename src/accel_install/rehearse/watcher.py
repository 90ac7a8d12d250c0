"""Killing the tool at a moment it does not know of: another thread watches the journal and sends SIGKILL."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Ended", "run_and_kill", "run_tool"]

_POLL_S = 0.005
_LIMIT_S = 120


@dataclass(frozen=True)
class Ended:
    """How a run of the tool ended; `killed` when we did it."""

    returncode: int
    output: str
    killed: bool = False


def run_tool(tool: Sequence[str], arguments: Sequence[str], env: Mapping[str, str]) -> Ended:
    """Run the tool to its end and return its code with stdout and stderr together."""
    done = subprocess.run(
        [*tool, *arguments],
        env=dict(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=_LIMIT_S,
        check=False,
    )
    return Ended(done.returncode, done.stdout)


def run_and_kill(tool: Sequence[str], arguments: Sequence[str], env: Mapping[str, str], journal: Path, sign: bytes) -> Ended:
    """Run the tool and kill -9 it as soon as the journal holds `sign`; it is not told."""
    process = subprocess.Popen(
        [*tool, *arguments],
        env=dict(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    deadline = time.monotonic() + _LIMIT_S
    killed = False
    while process.poll() is None and time.monotonic() < deadline:
        if journal.is_file() and sign in journal.read_bytes():
            process.kill()
            killed = True
            break
        time.sleep(_POLL_S)
    output = process.communicate(timeout=_LIMIT_S)[0]
    return Ended(process.returncode, output, killed)
