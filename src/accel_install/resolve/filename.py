"""Wheel and sdist file names, parsed strictly first, leniently where vendors leave the rules, never guessed. Pure.

Vendors add three things to a wheel's name (all seen in public reports): chip names before the project (`S3000_S80_torch_musa`),
a variant label after the platform, and versions that are not PEP 440 (two `+`). Each is read only where the rest of the
name leaves no doubt, and is kept in the answer so that it can be judged and told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from packaging.tags import Tag, parse_tag
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

__all__ = [
    "WheelName",
    "belongs_to",
    "installable_name",
    "is_sdist",
    "parse_wheel_name",
    "project_version",
    "sdist_version",
    "wheel_of",
]

_SDIST_ENDINGS = (".tar.gz", ".zip", ".tar.bz2", ".tar.xz", ".tgz")
_OTHER_ENDINGS = (".egg", ".exe", ".msi", ".rpm", ".deb", ".run")
_BUILD = re.compile(r"^(\d+)(.*)$")
_PLATFORM = re.compile(r"^(?:any|linux|manylinux|musllinux|win|macosx|android|ios|emscripten|pyodide|wasi|freebsd|cygwin)", re.I)
_STARTS_AS_VERSION = re.compile(r"^v?\d", re.I)
# chips that vendors put before the project: MTT S80 and its like, Ascend model numbers
_CHIP_TEXT = r"(?:mtt|s\d{2,4}|(?:ascend)?(?:310|910|950)[a-z0-9]{0,4})"
_CHIP = re.compile(rf"^{_CHIP_TEXT}$", re.I)
_REST_PARTS = (4, 6)
_MOST_TAGS = 4096  # the largest real sets have some tens; a hostile name could have millions


@dataclass(frozen=True)
class WheelName:
    """The parts of a wheel's file name.

    Attributes:
        name: canonical project name, without a vendor's chip prefix.
        version: normalised where it is PEP 440, else lower-case as written.
        build: number and rest of the build tag, (0, "") for none.
        tags: every tag of the compressed set.
        local: the local version label.
        pep440: whether the version is.
        variant: label after the platform.
        chips: chip names before the project.
    """

    name: str
    version: str
    build: tuple[int, str]
    tags: frozenset[Tag]
    local: str | None
    pep440: bool = True
    variant: str | None = None
    chips: tuple[str, ...] = ()

    @property
    def leniently_read(self) -> str | None:
        """Say what of the name leaves the rules for wheel names, None when nothing does."""
        said = []
        if self.chips:
            said.append(f"the chips {', '.join(self.chips)} stand before the project's name")
        if not self.pep440:
            said.append(f"its version {self.version} is not PEP 440")
        return "; ".join(said) or None


@lru_cache(maxsize=65536)
def parse_wheel_name(filename: str) -> WheelName:
    """Parse `name-version[-build]-python-abi-platform[-variant].whl`.

    Raises:
        ValueError: the name does not have these parts.
    """
    parts = _parts(filename)
    return _parse(filename, parts[0], parts[1:])


@lru_cache(maxsize=65536)
def wheel_of(filename: str, project: str) -> WheelName | None:
    """Parse a wheel's name as one of `project` (canonical); None when it is another project's.

    The wanted project decides where the name ends, so that one written with hyphens, or with chips before it, is understood.

    Raises:
        ValueError: it is the project's, but does not have the parts of a wheel name.
    """
    parts = _parts(filename)
    for cut in range(1, len(parts)):
        written = "-".join(parts[:cut])
        chips = _chips_before(written, project)
        if chips is not None:
            if not _STARTS_AS_VERSION.match(parts[cut]):
                continue
            return replace(_parse(filename, written, parts[cut:]), name=project, chips=chips)
    return None


def _parts(filename: str) -> list[str]:
    stem = filename[:-4] if filename.endswith(".whl") else ""
    parts = stem.split("-")
    if len(parts) < 2 or not all(parts):
        raise ValueError(f"{filename} does not have the parts of a wheel name")
    return parts


def _chips_before(written: str, project: str) -> tuple[str, ...] | None:
    """Return the chip names that stand before the project in a name; None when the name is not the project's."""
    name = _canonical(written)
    if name == project:
        return ()
    if not name.endswith(f"-{project}"):
        return None
    before = re.split(r"[-_.]+", written)[: -len(project.split("-"))]
    return tuple(before) if before and all(_CHIP.match(part) for part in before) else None


def _parse(filename: str, name: str, rest: list[str]) -> WheelName:
    variant = None
    if not _is_platform(rest[-1]) and len(rest) > _REST_PARTS[0] and _is_platform(rest[-2]):
        variant = rest[-1].lower()
        rest = rest[:-1]
    if not _REST_PARTS[0] <= len(rest) < _REST_PARTS[1]:
        raise ValueError(f"{filename} does not have the parts of a wheel name")
    build = (0, "")
    if len(rest) > _REST_PARTS[0]:
        match = _BUILD.match(rest[1])
        if match is None:
            raise ValueError(f"the build tag of {filename} does not begin with a digit")
        build = (int(match.group(1)), match.group(2))
    version, pep440 = _normalised(rest[0])
    local = version.partition("+")[2] or None
    return WheelName(_canonical(name), version, build, _tags("-".join(rest[-3:])), local, pep440, variant)


def _is_platform(text: str) -> bool:
    return _PLATFORM.match(text) is not None


@lru_cache(maxsize=8192)
def _canonical(name: str) -> str:
    return canonicalize_name(name)


@lru_cache(maxsize=8192)
def _tags(text: str) -> frozenset[Tag]:
    combinations = 1
    for part in text.split("-"):
        combinations *= part.count(".") + 1
    if combinations > _MOST_TAGS:
        raise ValueError(f"a tag set of {combinations} combinations")
    return parse_tag(text)


@lru_cache(maxsize=32768)
def _normalised(text: str) -> tuple[str, bool]:
    try:
        return str(Version(text)), True
    except InvalidVersion:
        return text.lower(), False


def installable_name(filename: str, project: str) -> str:
    """Return the name under which installers take a wheel: without a vendor's chips and without a variant label."""
    wheel = wheel_of(filename, _canonical(project))
    if wheel is None or (not wheel.chips and wheel.variant is None):
        return filename
    parts = filename[:-4].split("-")
    rest = parts[1:-1] if wheel.variant is not None else parts[1:]
    written = re.split(r"[-_.]+", parts[0])[len(wheel.chips) :]
    return "-".join(["_".join(written), *rest]) + ".whl"


def is_sdist(filename: str) -> bool:
    """Say whether a file name ends as source distributions do."""
    return filename.endswith(_SDIST_ENDINGS)


def sdist_version(filename: str, project: str) -> str | None:
    """Return the normalised version in an sdist's name, checked against the wanted project; None when it is another's."""
    ending = next((e for e in _SDIST_ENDINGS if filename.endswith(e)), None)
    if ending is None:
        return None
    stem = filename[: -len(ending)]
    wanted = _canonical(project)
    for cut in (i for i, char in enumerate(stem) if char == "-"):
        if _canonical(stem[:cut]) == wanted:
            version, pep440 = _normalised(stem[cut + 1 :])
            return version if pep440 else None
    return None


def project_version(filename: str, project: str) -> str | None:
    """Return the version of a wheel or sdist of `project`, or None when the name is not one of them."""
    if not filename.endswith(".whl"):
        return sdist_version(filename, project)
    try:
        parsed = wheel_of(filename, _canonical(project))
    except ValueError:
        return None
    return parsed.version if parsed is not None else None


@lru_cache(maxsize=4096)
def belongs_to(project: str) -> re.Pattern[str]:
    """Return a pattern whose `match` tells, cheaply, file names that may be the project's from all others on a page.

    The name in any spelling, perhaps after chips, then a version.
    """
    spelled = r"[-_.]+".join(map(re.escape, _canonical(project).split("-")))
    endings = "|".join(re.escape(e) for e in (".whl", *_SDIST_ENDINGS, *_OTHER_ENDINGS))
    return re.compile(rf"(?:{_CHIP_TEXT}[-_.]+)*{spelled}-v?\d.*(?:{endings})$", re.I)
