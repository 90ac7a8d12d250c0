"""Version spellings of vendor layers, compared without guessing. Pure.

Spellings seen: `8.0.RC3`, `25.2.rc1`, `25.0.rc1.b010`, `24.1.0.1`, `8.5.0.alpha001`, `9.0.0-beta.2`, `3.3.5-server`,
`7.7.0.9.220`. rc, alpha, beta and bNNN are pre-releases; a suffix such as `-server` is kept for display and ignored in order.
"""

from __future__ import annotations

import re
from functools import total_ordering

__all__ = ["VendorVersion", "matches_line", "same_version"]

_TOKEN = re.compile(r"\d+|[a-z]+")
_STAGES = {"dev": -5, "t": -5, "alpha": -4, "a": -4, "beta": -3, "rc": -2, "b": -1}
_IGNORED = frozenset({"server", "desktop", "ubuntu", "kylin", "openeuler", "v"})


@total_ordering
class VendorVersion:
    """A vendor version with a total order: numbers by value, pre-release stages before the number they lead to."""

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        self.key = _key(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VendorVersion) and self.key == other.key

    def __lt__(self, other: VendorVersion) -> bool:
        length = max(len(self.key), len(other.key))
        return _padded(self.key, length) < _padded(other.key, length)

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"VendorVersion({self.text!r})"

    @property
    def is_prerelease(self) -> bool:
        """Say whether a pre-release stage occurs in the version."""
        return any(stage < 0 for stage, _ in self.key)


def _key(text: str) -> tuple[tuple[int, int], ...]:
    """Return (stage, number) pairs: stage 0 is a plain number; trailing zeros do not count; unknown words sort last."""
    pairs: list[tuple[int, int]] = []
    stage = 0
    for token in _TOKEN.findall(text.lower()):
        if token.isdigit():
            pairs.append((stage, int(token)))
            stage = 0
        elif token in _STAGES:
            stage = _STAGES[token]
        elif token not in _IGNORED:
            stage = 1
    if stage < 0:
        pairs.append((stage, 0))
    while pairs and pairs[-1] == (0, 0):
        pairs.pop()
    return tuple(pairs)


def _padded(key: tuple[tuple[int, int], ...], length: int) -> tuple[tuple[int, int], ...]:
    """Fill up with zeros, so that 8.0 stands above 8.0.RC3 and below 8.0.1."""
    return key + ((0, 0),) * (length - len(key))


def same_version(one: str, other: str) -> bool:
    """Say whether two spellings mean the same version (`26.0.RC1`, `26.0.rc1`)."""
    return VendorVersion(one) == VendorVersion(other)


def matches_line(version: str, line: str) -> bool:
    """Say whether a version is `line`, or belongs to it when `line` is two numbers (`25.2` means all of 25.2.X).

    A build or a patch of a named pre-release belongs to it: `25.0.rc1.b010` and `25.0.rc1.1` match `25.0.RC1`.
    """
    if same_version(version, line):
        return True
    have, want = _TOKEN.findall(version.lower()), _TOKEN.findall(line.lower())
    if len(want) == 2 and all(t.isdigit() for t in want):
        return have[:2] == want
    return "rc" in want and have[: len(want)] == want
