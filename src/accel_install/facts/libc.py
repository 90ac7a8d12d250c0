"""The C library of the machine. On the running system programs are asked; below a root its files are read.

Below a root a program's answer would come from the loader of the machine the tool runs on, so it is the last resort there.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from accel_install.facts.models import OsFacts
from accel_install.facts.os_libc import libc_of
from accel_install.facts.python_probe import PythonProbe
from accel_install.host.base import Host

__all__ = ["Libc", "machine_libc", "parse_ldd"]

_DIRS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib")
_TRIPLES = ("", "/aarch64-linux-gnu", "/x86_64-linux-gnu")
_FILE_LIMIT_BYTES = 8 << 20
_TIMEOUT_S = 10
_GLIBC_TEXT = re.compile(r"GNU C Library [^\n]*?version (\d+\.\d+)")
_GLIBC_FILE = re.compile(r"libc-(\d+\.\d+)\.so$")
_MUSL_TEXT = re.compile(r"\x00(1\.\d+)\.\d+\x00")
_LDD_GLIBC = re.compile(r"^ldd \(.*\) (\d+\.\d+)\s*$", re.MULTILINE)
_LDD_MUSL = re.compile(r"^musl libc .*\nVersion (\d+\.\d+)", re.MULTILINE)


class Libc(NamedTuple):
    """Versions of the machine's C library: at most one is not None."""

    glibc: str | None = None
    musl: str | None = None


def machine_libc(host: Host, probe: PythonProbe | None, os_facts: OsFacts) -> tuple[Libc, dict[str, str]]:
    """Return the C library, or why it is unknown.

    Args:
        host: the machine.
        probe: what the target interpreter said of its own C library, None when there is no interpreter.
        os_facts: the distribution; below a root its release decides where the library's file does not.
    """
    if host.root == Path("/"):
        found = _of_probe(host, probe) or _ask_ldd(host) or _of_files(host)
    else:
        found = _of_files(host) or _of_system(os_facts) or _of_probe(host, probe)
    if found is not None:
        return found, {}
    return Libc(), {"glibc": "no C library was found, and neither the interpreter nor the distribution tells it"}


def parse_ldd(text: str) -> Libc | None:
    """Return the C library that `ldd --version` or a musl loader names; other text gives None."""
    if (found := _LDD_MUSL.search(text)) is not None:
        return Libc(musl=found.group(1))
    if (found := _LDD_GLIBC.search(text)) is not None:
        return Libc(glibc=found.group(1))
    return None


def _of_probe(host: Host, probe: PythonProbe | None) -> Libc | None:
    name, version = probe.libc if probe is not None else (None, None)
    if name == "glibc" and version is not None:
        return Libc(glibc=version)
    if name != "musl":
        return None
    return Libc(musl=version) if version is not None else _of_files(host)


def _ask_ldd(host: Host) -> Libc | None:
    result = host.run(["ldd", "--version"], timeout_s=_TIMEOUT_S)
    return parse_ldd(result.stdout + "\n" + result.stderr)


def _of_system(facts: OsFacts) -> Libc | None:
    known = libc_of(facts.id, facts.version_id) if facts.id and facts.version_id else None
    return Libc(**{known[0]: known[1]}) if known is not None else None


def _of_files(host: Host) -> Libc | None:
    for folder in _DIRS:
        for triple in _TRIPLES:
            version = _glibc_of(host, f"{folder}{triple}/libc.so.6")
            if version is not None:
                return Libc(glibc=version)
    for folder in _DIRS:
        for name in host.list_dir(folder):
            found = _MUSL_TEXT.search(_text(host, f"{folder}/{name}")) if name.startswith("ld-musl-") else None
            if found is not None:
                return Libc(musl=found.group(1))
    return None


def _glibc_of(host: Host, path: str) -> str | None:
    """Read the version off the link's target (`libc-2.28.so`, older releases) or the text that the library holds."""
    found = _GLIBC_FILE.search(host.read_link(path) or "") or _GLIBC_TEXT.search(_text(host, path))
    return found.group(1) if found else None


def _text(host: Host, path: str) -> str:
    return host.read_text(path, _FILE_LIMIT_BYTES) or ""
