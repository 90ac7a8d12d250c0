"""The C library of distributions whose release fixes it. What is not listed is unknown, never guessed.

Sources: the distributions' package lists; openEuler 22.03 and Kylin V10 as reports of these stacks name them.
"""

from __future__ import annotations

from typing import Literal

__all__ = ["known_systems", "libc_of"]

_GLIBC = {
    "anolis-8": "2.28",
    "almalinux-8": "2.28",
    "almalinux-9": "2.34",
    "centos-7": "2.17",
    "centos-8": "2.28",
    "centos-9": "2.34",
    "debian-11": "2.31",
    "debian-12": "2.36",
    "debian-13": "2.41",
    "kylin-v10": "2.28",
    "openeuler-20.03": "2.28",
    "openeuler-22.03": "2.34",
    "openeuler-24.03": "2.38",
    "rhel-8": "2.28",
    "rhel-9": "2.34",
    "rocky-8": "2.28",
    "rocky-9": "2.34",
    "ubuntu-20.04": "2.31",
    "ubuntu-22.04": "2.35",
    "ubuntu-24.04": "2.39",
}
_MUSL = {"alpine-3.17": "1.2", "alpine-3.18": "1.2", "alpine-3.19": "1.2", "alpine-3.20": "1.2", "alpine-3.21": "1.2"}


def libc_of(os_id: str, version_id: str) -> tuple[Literal["glibc", "musl"], str] | None:
    """Return (libc, version) of a system such as `openeuler`, `22.03`, or None when it is not known."""
    for key in (f"{os_id}-{version_id}".lower(), f"{os_id}-{version_id.partition('.')[0]}".lower()):
        if key in _GLIBC:
            return "glibc", _GLIBC[key]
        if key in _MUSL:
            return "musl", _MUSL[key]
    short = ".".join(version_id.split(".")[:2]).lower()
    return ("musl", _MUSL[f"{os_id}-{short}"]) if f"{os_id}-{short}" in _MUSL else None


def known_systems() -> list[str]:
    """Return the systems `--os` knows the libc of."""
    return sorted([*_GLIBC, *_MUSL])
