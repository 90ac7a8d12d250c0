"""The nearest miss in words: what exists, what does not, and the newest version that would fit. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from packaging.tags import Tag

from accel_install.facts.target import Target
from accel_install.resolve.filename import WheelName, parse_wheel_name
from accel_install.resolve.models import RejectedFile
from accel_install.resolve.tags import tag_ranks
from accel_install.resolve.versions import sort_key

__all__ = ["half_published", "nearest_text"]

_NEAREST_FIRST = (
    "prerelease",
    "yanked",
    "requires-python",
    "abi-mismatch",
    "variant",
    "local-version",
    "glibc",
    "abi",
    "python-tag",
    "platform",
    "bad-filename",
    "sdist-only",
    "not-a-wheel",
)


class _Listed(Protocol):
    @property
    def public(self) -> str: ...
    @property
    def wheel(self) -> WheelName | None: ...


def nearest_text(rejected: Sequence[RejectedFile], fitting: Sequence[str], published: bool, target: Target) -> str:
    """Say why no file of the wanted version fits, and what would.

    Args:
        rejected: the files of the wanted version with their reasons.
        fitting: versions that have a fitting wheel, newest first.
        published: whether any file of a wanted version exists.
        target: what they must run on.
    """
    words = _miss(rejected, target) if published else "this version is not published"
    if fitting and not any(r.reason == "prerelease" for r in rejected):
        words += f"; newest with a wheel for this target: {fitting[0]}"
    return words


def _miss(rejected: Sequence[RejectedFile], target: Target) -> str:
    wheels = [r for r in rejected if r.filename.endswith(".whl")]
    here = [r for r in wheels if r.reason == "bad-filename" or f"_{target.arch}" in r.filename or "-any" in r.filename]
    if here:
        nearest = min(here, key=lambda r: _place(r.reason))
        if nearest.reason == "prerelease":
            return f"only pre-releases fit, and none is pinned; {nearest.detail}"
        if nearest.reason in ("python-tag", "abi"):
            return f"no wheel for {_label(target)} ({', '.join(_pythons(here))} exist)"
        return nearest.detail
    if wheels:
        return f"no wheel for {target.arch} ({', '.join(_platforms(wheels))} only)"
    if any(r.reason == "not-a-wheel" for r in rejected):
        return "there is neither a wheel nor a source distribution"
    return "published as source only (sdist), which would have to be built"


def _place(reason: str) -> int:
    return _NEAREST_FIRST.index(reason) if reason in _NEAREST_FIRST else len(_NEAREST_FIRST)


def _label(target: Target) -> str:
    return f"cp{target.python.replace('.', '')}{'t' if target.free_threaded else ''}"


def _tags_of(rejected: Sequence[RejectedFile]) -> set[Tag]:
    found: set[Tag] = set()
    for item in rejected:
        try:
            found |= parse_wheel_name(item.filename).tags
        except ValueError:
            continue  # listed with the reason bad-filename
    return found


def _pythons(rejected: Sequence[RejectedFile]) -> list[str]:
    found = {t.abi if t.abi.startswith("cp") else t.interpreter for t in _tags_of(rejected)}
    return sorted(found, key=lambda text: (len(text), text))


def _platforms(rejected: Sequence[RejectedFile]) -> list[str]:
    found = {t.platform for t in _tags_of(rejected)}
    arches = {next((a for a in ("aarch64", "x86_64") if p.endswith(f"_{a}")), p) for p in found}
    return sorted(arches)


def half_published(candidates: Sequence[_Listed], version: str | None, target: Target) -> str:
    """Say so when a version has wheels for fewer platforms than the release before it, which had one for the target."""
    by_version: dict[str, set[tuple[str, str, str]]] = {}
    fits: set[str] = set()
    ranks = tag_ranks(target)
    for item in candidates:
        if item.wheel is not None:
            by_version.setdefault(item.public, set()).update(_place_of(t) for t in item.wheel.tags)
            if any(t in ranks for t in item.wheel.tags):
                fits.add(item.public)
    if version is None or version not in by_version:
        return ""
    older = [v for v in by_version if sort_key(v) < sort_key(version)]
    before = max(older, key=sort_key, default=None)
    if before is None or before not in fits or not by_version[version] < by_version[before]:
        return ""
    have, had = len(by_version[version]), len(by_version[before])
    return f"{version} is half published: wheels for {have} of the {had} platforms that {before} has"


def _place_of(tag: Tag) -> tuple[str, str, str]:
    """Return interpreter, ABI and machine of a tag, without the libc level, which may rise between releases."""
    machine = next((a for a in ("aarch64", "x86_64", "arm64", "amd64") if tag.platform.endswith(a)), tag.platform)
    system = tag.platform.partition("_")[0].removesuffix("2014").removesuffix("2010").rstrip("1")
    return tag.interpreter, tag.abi, f"{system} {machine}"
