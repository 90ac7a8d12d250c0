"""Which requirements of chosen wheels hold for a target: markers and extras, for the target only. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from packaging.markers import Marker, UndefinedEnvironmentName
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

__all__ = ["Dist", "Wish", "accepts", "extras_asked", "is_exact", "named_in", "parse_line", "wishes"]

_NAME = re.compile(r"^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)")


@dataclass(frozen=True)
class Dist:
    """A chosen distribution and its Requires-Dist lines."""

    name: str
    version: str
    requires: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wish:
    """A requirement that holds: `by` wants `name` within `specifier` (a URL is given as `@ URL`)."""

    by: Dist
    name: str
    specifier: str


def named_in(line: str) -> str | None:
    """Return the canonical name a requirement line is about, without parsing the rest."""
    found = _NAME.match(line)
    return canonicalize_name(found.group(1)) if found else None


@lru_cache(maxsize=8192)
def parse_line(line: str) -> Requirement | None:
    """Parse a requirement line, None when it is not PEP 508 (old metadata holds such lines)."""
    try:
        return Requirement(line)
    except InvalidRequirement:
        return None


def accepts(specifier: str, version: str) -> bool:
    """Say whether a specifier takes a version; pre-releases count, and `==2.10.0` takes `2.10.0+cpu`."""
    if specifier.startswith("@"):
        return True
    try:
        return SpecifierSet(specifier).contains(Version(version), prereleases=True)
    except (InvalidSpecifier, InvalidVersion):
        return False


def is_exact(specifier: str) -> bool:
    """Say whether a specifier names one version (`==2.10.0`, in contrast to `==2.10.*` and ranges)."""
    if specifier.startswith("@"):
        return False
    return any(s.operator in ("==", "===") and not s.version.endswith(".*") for s in SpecifierSet(specifier))


def extras_asked(dists: Mapping[str, Dist], roots: Iterable[str], environment: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """Return the extras that are asked for, by distribution, following requirements to the end."""
    asked: dict[str, set[str]] = {name: set() for name in dists}
    for requirement in filter(None, map(parse_line, roots)):
        _add(asked, requirement)
    bracketed = {name: [line for line in d.requires if "[" in line.split(";", 1)[0]] for name, d in dists.items()}
    changed = True
    while changed:
        before = sum(map(len, asked.values()))
        for name, lines in bracketed.items():
            for requirement in filter(None, map(parse_line, lines)):
                if _holds(requirement.marker, environment, asked[name]):
                    _add(asked, requirement)
        changed = sum(map(len, asked.values())) != before
    return {name: frozenset(extras) for name, extras in asked.items()}


def _add(asked: dict[str, set[str]], requirement: Requirement) -> None:
    name = canonicalize_name(requirement.name)
    if name in asked:
        asked[name].update(canonicalize_name(extra) for extra in requirement.extras)


def wishes(
    dists: Mapping[str, Dist],
    names: frozenset[str],
    extras: Mapping[str, frozenset[str]],
    environment: Mapping[str, str],
) -> Iterator[Wish]:
    """Yield what chosen distributions want of the given names on the target, by distribution name."""
    for _, dist in sorted(dists.items()):
        asked = extras.get(dist.name, frozenset())
        for line in dist.requires:
            name = named_in(line)
            if name is None or name not in names or name == dist.name:
                continue
            requirement = parse_line(line)
            if requirement is not None and _holds(requirement.marker, environment, asked):
                text = f"@ {requirement.url}" if requirement.url else str(requirement.specifier)
                yield Wish(dist, name, text)


def _holds(marker: Marker | None, environment: Mapping[str, str], extras: Iterable[str]) -> bool:
    if marker is None:
        return True
    if "extra" not in str(marker):
        return _evaluate(marker, {**environment, "extra": ""})
    return any(_evaluate(marker, {**environment, "extra": extra}) for extra in ("", *sorted(extras)))


def _evaluate(marker: Marker, environment: Mapping[str, str]) -> bool:
    try:
        return marker.evaluate(dict(environment))
    except (UndefinedEnvironmentName, ValueError):
        return False
