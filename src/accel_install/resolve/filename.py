"""Wheel and sdist file names, parsed strictly first, leniently where vendors leave PEP 440, never guessed. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from packaging.tags import Tag, parse_tag
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

__all__ = ["WheelName", "is_sdist", "parse_wheel_name", "project_version", "sdist_version"]

_SDIST_ENDINGS = (".tar.gz", ".zip", ".tar.bz2", ".tar.xz", ".tgz")
_BUILD = re.compile(r"^(\d+)(.*)$")
_WHEEL_PARTS = (5, 6)


@dataclass(frozen=True)
class WheelName:
    """The parts of a wheel's file name. `version` is normalised where it is PEP 440, else as written."""

    name: str
    version: str
    build: tuple[int, str]
    tags: frozenset[Tag]
    local: str | None
    pep440: bool = True


@lru_cache(maxsize=65536)
def parse_wheel_name(filename: str) -> WheelName:
    """Parse `name-version[-build]-python-abi-platform.whl`.

    A version that is not PEP 440 (`2.1.0+das1.0+git00661e0`) is kept as written.

    Raises:
        ValueError: the name does not have these parts.
    """
    stem = filename[:-4] if filename.endswith(".whl") else ""
    parts = stem.split("-")
    if len(parts) not in _WHEEL_PARTS or not all(parts):
        raise ValueError(f"{filename} does not have the parts of a wheel name")
    build = (0, "")
    if len(parts) == max(_WHEEL_PARTS):
        match = _BUILD.match(parts[2])
        if match is None:
            raise ValueError(f"the build tag of {filename} does not begin with a digit")
        build = (int(match.group(1)), match.group(2))
    version, pep440 = _normalised(parts[1])
    local = version.partition("+")[2] or None
    return WheelName(canonicalize_name(parts[0]), version, build, parse_tag("-".join(parts[-3:])), local, pep440)


def _normalised(text: str) -> tuple[str, bool]:
    try:
        return str(Version(text)), True
    except InvalidVersion:
        return text.lower(), False


def is_sdist(filename: str) -> bool:
    """Say whether a file name ends as source distributions do."""
    return filename.endswith(_SDIST_ENDINGS)


def sdist_version(filename: str, project: str) -> str | None:
    """Return the normalised version in an sdist's name, checked against the wanted project; None when it is another's."""
    ending = next((e for e in _SDIST_ENDINGS if filename.endswith(e)), None)
    if ending is None:
        return None
    stem = filename[: -len(ending)]
    for cut in (i for i, char in enumerate(stem) if char == "-"):
        if canonicalize_name(stem[:cut]) == canonicalize_name(project):
            version, pep440 = _normalised(stem[cut + 1 :])
            return version if pep440 else None
    return None


def project_version(filename: str, project: str) -> str | None:
    """Return the version of a wheel or sdist of `project`, or None when the name is not one of them."""
    if not filename.endswith(".whl"):
        return sdist_version(filename, project)
    try:
        parsed = parse_wheel_name(filename)
    except ValueError:
        return None
    return parsed.version if parsed.name == canonicalize_name(project) else None
