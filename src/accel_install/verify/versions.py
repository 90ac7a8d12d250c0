"""Comparing versions the way pins need it: PEP 440 where it holds, else plain text. Pure."""

from __future__ import annotations

import re

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

__all__ = ["local_family", "parsed", "same_public", "same_version", "satisfies"]


def parsed(text: str) -> Version | None:
    """Return the PEP 440 version, or None for other text (Hygon's `2.1.0+das1.0+git...` has two `+`)."""
    try:
        return Version(text)
    except InvalidVersion:
        return None


def same_version(left: str, right: str) -> bool:
    """Say whether two versions are equal, local label included."""
    a, b = parsed(left), parsed(right)
    return left == right if a is None or b is None else a == b


def same_public(left: str, right: str) -> bool:
    """Say whether two versions are equal when their local labels are left out."""
    return same_version(left.partition("+")[0], right.partition("+")[0])


def local_family(version: str) -> str | None:
    """Return the family of the local label (`cu` of `+cu128`, `metax` of `+metax3.2.1.3`), or None."""
    _, plus, label = version.partition("+")
    if not plus:
        return None
    letters = re.match(r"[a-z]+", label.lower())
    return letters.group(0) if letters else label


def satisfies(version: str, specifier: SpecifierSet | str) -> bool | None:
    """Say whether a version satisfies a specifier, pre-releases allowed; None when either cannot be parsed.

    What is installed is installed: a pre-release that lies within the bounds is not a broken requirement.
    """
    parsed_version = parsed(version)
    if parsed_version is None:
        return None
    try:
        bounds = SpecifierSet(specifier) if isinstance(specifier, str) else specifier
    except InvalidSpecifier:
        return None
    return bounds.contains(parsed_version, prereleases=True)
