"""Version rules of the choice: what a specifier admits, what a local label must be. Pure.

The comparison itself is `packaging`'s; pre-releases are always named explicitly, because its defaults differ by release.
A vendor's version with two `+` is compared as if the second were a dot; it is never shown that way.
"""

from __future__ import annotations

import re
from functools import lru_cache

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

__all__ = ["admits", "asks_for_prerelease", "label_fits", "parse_version", "pins_exactly", "public_of", "sort_key"]


@lru_cache(maxsize=32768)
def parse_version(text: str) -> Version | None:
    """Return the version, or None when it cannot be compared."""
    try:
        return Version(text)
    except InvalidVersion:
        pass
    public, plus, local = text.partition("+")
    try:
        return Version(f"{public}+{local.replace('+', '.')}") if plus else None
    except InvalidVersion:
        return None


@lru_cache(maxsize=32768)
def public_of(text: str) -> str:
    """Return a version without its local label, as written where it cannot be compared."""
    parsed = parse_version(text)
    return text if parsed is None else parsed.public


@lru_cache(maxsize=32768)
def sort_key(text: str) -> tuple[bool, Version | str]:
    """Return a key that puts versions in PEP 440 order, with those outside it first."""
    version = parse_version(text)
    return (False, text) if version is None else (True, version)


def pins_exactly(specifier: SpecifierSet) -> bool:
    """Say whether a specifier names one version (`==X`, no wildcard)."""
    return any(s.operator in ("==", "===") and not s.version.endswith(".*") for s in specifier)


def asks_for_prerelease(specifier: SpecifierSet) -> bool:
    """Say whether a specifier itself names a pre-release, which then counts as asked for."""
    named = (parse_version(s.version.removesuffix(".*")) for s in specifier if s.operator not in ("!=", "<", "<="))
    return any(v is not None and v.is_prerelease for v in named)


def admits(specifier: SpecifierSet, version: str, *, prereleases: bool) -> bool:
    """Say whether a specifier admits a version. `==X` admits X with any local label; an exact pin admits its pre-release."""
    if any(s.operator == "===" and s.version.lower() == version.lower() for s in specifier):
        return True
    parsed = parse_version(version)
    return parsed is not None and specifier.contains(parsed, prereleases=prereleases or asks_for_prerelease(specifier))


def label_fits(local: str | None, wanted: str) -> bool:
    """Say whether a local label is the wanted one or of its family: `rocm` holds `rocm7.1`, `metax3.8` holds `metax3.8.0.7`."""
    if local is None:
        return False
    have, want = local.lower(), wanted.lower()
    return have == want or re.match(rf"{re.escape(want)}[.\d]", have) is not None
