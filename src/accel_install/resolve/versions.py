"""Version rules of the choice: what a specifier admits, what a local label must be. Pure.

The comparison itself is `packaging`'s; pre-releases are always named explicitly, because its defaults differ by release.
"""

from __future__ import annotations

import re

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

__all__ = ["admits", "label_fits", "parse_version", "pins_exactly", "sort_key"]


def parse_version(text: str) -> Version | None:
    """Return the version, or None when it is not PEP 440."""
    try:
        return Version(text)
    except InvalidVersion:
        return None


def sort_key(text: str) -> tuple[bool, Version | str]:
    """Return a key that puts versions in PEP 440 order, with those outside it first."""
    version = parse_version(text)
    return (False, text) if version is None else (True, version)


def pins_exactly(specifier: SpecifierSet) -> bool:
    """Say whether a specifier names one version (`==X`, no wildcard)."""
    return any(s.operator in ("==", "===") and not s.version.endswith(".*") for s in specifier)


def admits(specifier: SpecifierSet, version: str, *, prereleases: bool) -> bool:
    """Say whether a specifier admits a version. `==X` admits X with any local label; an exact pin admits its pre-release."""
    parsed = parse_version(version)
    if parsed is None:
        return any(s.operator in ("==", "===") and s.version == version for s in specifier)
    return specifier.contains(parsed, prereleases=prereleases or pins_exactly(specifier))


def label_fits(local: str | None, wanted: str) -> bool:
    """Say whether a local label is the wanted one or of its family: `rocm` holds `rocm7.1`, `metax3.8` holds `metax3.8.0.7`."""
    if local is None:
        return False
    have, want = local.lower(), wanted.lower()
    return have == want or re.match(rf"{re.escape(want)}[.\d]", have) is not None
