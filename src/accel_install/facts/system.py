"""The general facts: system, libc, memory, file systems, container. Each collector answers a value or a reason."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from accel_install.facts.models import FilesystemFacts, OsFacts
from accel_install.host.base import Host

__all__ = ["filesystems", "is_container", "libc_below_root", "memory_bytes", "os_facts", "parse_os_release"]

_MOUNTS = ("/", "/usr/local", "/tmp", "/var/lib")  # noqa: S108 - looked at, never written to by this module
_LIBC_DIRS = ("/lib64", "/lib", "/usr/lib64", "/usr/lib")
_LIBC_TRIPLES = ("", "/x86_64-linux-gnu", "/aarch64-linux-gnu")
_GLIBC = re.compile(rb"GNU C Library [^\n]*?version (\d+\.\d+)")
_LIBC_LIMIT_BYTES = 8 << 20


def parse_os_release(text: str) -> dict[str, str]:
    """Return the keys of an os-release file (source: os-release(5)); lines that are not assignments are skipped."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        key, separator, value = line.strip().partition("=")
        if not separator or key.startswith("#"):
            continue
        try:
            found[key] = " ".join(shlex.split(value))
        except ValueError:
            found[key] = value.strip("\"'")
    return found


def os_facts(host: Host) -> tuple[OsFacts, dict[str, str]]:
    """Return the distribution, and reasons for what is unknown."""
    text = host.read_text("/etc/os-release") or host.read_text("/usr/lib/os-release")
    if text is None:
        return OsFacts(), {"os": "no /etc/os-release"}
    keys = parse_os_release(text)
    os_id = keys.get("ID", "").lower() or None
    facts = OsFacts(id=os_id, version_id=keys.get("VERSION_ID"), name=keys.get("PRETTY_NAME") or keys.get("NAME"))
    unknown = {}
    if facts.id is None:
        unknown["os.id"] = "os-release holds no ID"
    if facts.version_id is None:
        unknown["os.version_id"] = "os-release holds no VERSION_ID"
    return facts, unknown


def memory_bytes(host: Host) -> int | None:
    """Return the memory of the machine from /proc/meminfo, or None."""
    match = re.search(r"^MemTotal:\s+(\d+) kB", host.read_text("/proc/meminfo") or "", re.MULTILINE)
    return int(match.group(1)) * 1024 if match else None


def filesystems(host: Host) -> list[FilesystemFacts]:
    """Return the free room at the places that installers write to."""
    found = []
    for mount in _MOUNTS:
        space = host.free_space(mount) if host.exists(mount) else None
        if space is not None:
            found.append(FilesystemFacts(mount=mount, free_bytes=space[0], free_inodes=space[1]))
    return found


def is_container(host: Host) -> bool | None:
    """Say whether this is a container, None when nothing tells."""
    if host.exists("/.dockerenv") or host.exists("/run/.containerenv"):
        return True
    groups = host.read_text("/proc/1/cgroup")
    if groups is None:
        return None
    return any(word in groups for word in ("docker", "kubepods", "containerd", "libpod"))


def libc_below_root(host: Host) -> tuple[str | None, str | None, str]:
    """Return (glibc, musl, reason when neither is known) from the files of a machine that is not run."""
    for folder in _LIBC_DIRS:
        for triple in _LIBC_TRIPLES:
            version = _glibc_of(host.path(f"{folder}{triple}/libc.so.6"))
            if version is not None:
                return version, None, ""
        if any(name.startswith("ld-musl-") for name in host.list_dir(folder)):
            return None, "1.2", ""
    return None, None, "no C library was found below the root"


def _glibc_of(path: Path) -> str | None:
    try:
        with path.open("rb") as stream:
            match = _GLIBC.search(stream.read(_LIBC_LIMIT_BYTES))
    except OSError:
        return None
    return match.group(1).decode() if match else None
