"""General facts: system, memory, free room, container. The C library has its own module, as do chips and layers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from accel_install.facts.models import FilesystemFacts, OsFacts
from accel_install.facts.os_release import os_unknowns, parse_os_release
from accel_install.host.base import Host

__all__ = ["filesystems", "is_container", "memory_bytes", "os_facts", "parse_meminfo", "written_places"]

_OS_RELEASE = ("/etc/os-release", "/usr/lib/os-release")
_PLACES = ("/", "/usr/local", "/tmp", "/var/lib")  # noqa: S108 - looked at, never written to by this module
_MARKER_FILES = ("/.dockerenv", "/run/.containerenv", "/run/systemd/container")
_CGROUP_WORDS = ("docker", "kubepods", "containerd", "libpod", "lxc")
_MEM_TOTAL = re.compile(r"^MemTotal:\s+(\d+) kB", re.MULTILINE)
_OVERLAY_ROOT = re.compile(r"^\S+ / (overlay|fuse-overlayfs|aufs) ", re.MULTILINE)


def os_facts(host: Host) -> tuple[OsFacts, dict[str, str]]:
    """Return the distribution, and reasons for what is unknown."""
    for path in _OS_RELEASE:
        text = host.read_text(path)
        if text is not None:
            facts = parse_os_release(text)
            return facts, os_unknowns(facts, path)
    return OsFacts(), {"os": f"no {_OS_RELEASE[0]}"}


def parse_meminfo(text: str) -> int | None:
    """Return the total memory that a /proc/meminfo states, in bytes, or None."""
    found = _MEM_TOTAL.search(text)
    return int(found.group(1)) * 1024 if found else None


def memory_bytes(host: Host) -> tuple[int | None, dict[str, str]]:
    """Return the memory of the machine in bytes (in contrast to a container's limit), or why it is unknown."""
    text = host.read_text("/proc/meminfo")
    if text is None:
        return None, {"memory_bytes": "no /proc/meminfo"}
    value = parse_meminfo(text)
    return value, {} if value is not None else {"memory_bytes": "/proc/meminfo states no MemTotal"}


def written_places(environ: Mapping[str, str], privileged: bool) -> list[str]:
    """Return the places that installing writes to: system, vendor root, temporary folder, parent of the state folder."""
    places = list(_PLACES)
    temporary = environ.get("TMPDIR", "")
    if temporary.startswith("/"):
        places.append(temporary)
    home = environ.get("HOME", "")
    if not privileged and home.startswith("/"):
        places.append(home)
    return list(dict.fromkeys(places))


def filesystems(host: Host, places: Sequence[str] = _PLACES) -> tuple[list[FilesystemFacts], dict[str, str]]:
    """Return the free room at places of the machine; a place that does not exist is left out."""
    found: list[FilesystemFacts] = []
    unknown: dict[str, str] = {}
    for place in places:
        if not host.exists(place):
            continue
        space = host.free_space(place)
        if space is None:
            unknown[f"filesystems.{len(found)}.free_bytes"] = f"the file system of {place} does not answer"
        free_bytes, free_inodes = space or (None, None)
        found.append(FilesystemFacts(mount=place, free_bytes=free_bytes, free_inodes=free_inodes))
    return found, unknown


def is_container(host: Host) -> tuple[bool | None, dict[str, str]]:
    """Say whether this is a container, or why nothing tells.

    With cgroup v2 and its own namespace a container's /proc/1/cgroup holds only `0::/`; its overlay root tells it then.
    """
    if any(host.exists(path) for path in _MARKER_FILES):
        return True, {}
    groups = host.read_text("/proc/1/cgroup")
    if groups is None:
        return None, {"container": "neither a container's marker file nor /proc/1/cgroup is there"}
    mounts = host.read_text("/proc/1/mounts") or host.read_text("/proc/mounts") or ""
    return any(word in groups for word in _CGROUP_WORDS) or _OVERLAY_ROOT.search(mounts) is not None, {}
