"""Small machines in a folder, for tests of facts: files by path, tools that print a text. All of it stands in for real ones."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from accel_install.host.local import LocalHost

CAPTURED = Path(__file__).parents[1] / "captured" / "facts"


def captured(kind: str, name: str) -> str:
    """Return a captured output."""
    return (CAPTURED / kind / f"{name}.txt").read_text()


def plant(root: Path, files: Mapping[str, str]) -> LocalHost:
    """Write files below a root and return the host of it."""
    for path, text in files.items():
        real = root / path.lstrip("/")
        real.parent.mkdir(parents=True, exist_ok=True)
        real.write_text(text)
    return LocalHost(root)


def tool(root: Path, path: str, *, stdout: str = "", stderr: str = "", code: int = 0, script: str | None = None) -> None:
    """Put a program below a root that prints a text, or runs the lines of `script`."""
    real = root / path.lstrip("/")
    real.parent.mkdir(parents=True, exist_ok=True)
    said = real.parent / f".{real.name}"
    Path(f"{said}.out").write_text(stdout)
    Path(f"{said}.err").write_text(stderr)
    lines = script or f'cat "{said}.out"\ncat "{said}.err" >&2\nexit {code}\n'
    real.write_text(f"#!/bin/sh\n{lines}\n")
    real.chmod(0o755)


def card(bus_id: str, device: str = "d802", vendor: str = "19e5", kind: str = "120000", subsystem: str = "") -> dict[str, str]:
    """Return the sysfs files of one PCI device."""
    folder = f"/sys/bus/pci/devices/{bus_id}"
    files = {f"{folder}/vendor": f"0x{vendor}\n", f"{folder}/device": f"0x{device}\n", f"{folder}/class": f"0x{kind}\n"}
    return files | ({f"{folder}/subsystem_device": f"0x{subsystem}\n"} if subsystem else {})


def probe_answer(**changes: object) -> str:
    """Return the line a target interpreter prints, with changes."""
    answer = json.loads(captured("python-probe", "3.13t").strip())
    plain = {"version": "3.11.7", "abi": "cp311", "free_threaded": False, "libc": ["glibc", "2.34"]}
    return json.dumps({**answer, **plain, **changes}) + "\n"


def real_python(root: Path, path: str = "/usr/bin/python3") -> None:
    """Put this test run's interpreter below a root."""
    tool(root, path, script=f'exec "{sys.executable}" "$@"')
