"""The C library of distributions whose release fixes it. What is not listed is unknown, never guessed.

Sources: the distributions' own package lists for each release. Derivatives without a fixed release number (EulerOS 2.0 with
its service packs, UOS) are left out on purpose.
"""

from __future__ import annotations

import re
from typing import Literal

__all__ = ["known_systems", "libc_of", "split_os"]

_GLIBC = {
    "almalinux-8": "2.28",
    "almalinux-9": "2.34",
    "anolis-8": "2.28",
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
_MUSL = {f"alpine-3.{minor}": "1.2" for minor in range(13, 23)}  # 3.13 moved to musl 1.2, no release has left it

_SYSTEM = re.compile(r"([a-z][a-z0-9._-]*?)-(v?\d[\w.-]*)", re.IGNORECASE)
_VERSION = re.compile(r"v?\d+(\.\d+)*")


def split_os(text: str) -> tuple[str, str] | None:
    """Return (id, version) of `openeuler-22.03`, the id in lower case, or None when the text has not this form."""
    found = _SYSTEM.fullmatch(text.strip())
    return (found.group(1).lower(), found.group(2)) if found else None


def libc_of(os_id: str, version_id: str) -> tuple[Literal["glibc", "musl"], str] | None:
    """Return (libc, version) of a system such as `openeuler`, `22.03`, or None when it is not known.

    The version may say more than the table (`22.03-LTS-SP3`, `9.4`): its leading numbers decide.
    """
    leading = _VERSION.match(version_id.lower())
    parts = leading.group(0).split(".") if leading else []
    for length in (2, 1):
        key = f"{os_id.lower()}-{'.'.join(parts[:length])}"
        if key in _GLIBC:
            return "glibc", _GLIBC[key]
        if key in _MUSL:
            return "musl", _MUSL[key]
    return None


def known_systems() -> list[str]:
    """Return the systems whose C library `--os` knows."""
    return sorted([*_GLIBC, *_MUSL])
