"""The choice: one file for the target out of a page, and for every other file of that version the reason. Pure.

Order: not yanked, requires-python, tags of the target (newest libc first), highest build number. A wheel is never passed
over for a newer sdist. Reasons are computed from the file at hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from accel_install.facts.target import Target
from accel_install.resolve.filename import WheelName, parse_wheel_name, project_version
from accel_install.resolve.models import ChosenWheel, IndexFile, Reason, RejectedFile
from accel_install.resolve.nearest import nearest_text
from accel_install.resolve.tags import explain_misfit, tag_ranks
from accel_install.resolve.versions import admits, label_fits, parse_version, pins_exactly, sort_key

__all__ = ["Selection", "select", "versions_available"]


@dataclass(frozen=True)
class Selection:
    """The file taken, or None; why the others of that version were not; the nearest miss in words; warnings."""

    chosen: ChosenWheel | None
    rejected: tuple[RejectedFile, ...] = ()
    nearest: str = ""
    warnings: tuple[str, ...] = ()
    version: str | None = None


@dataclass(frozen=True)
class _Candidate:
    file: IndexFile
    version: str
    wheel: WheelName | None
    misfit: tuple[Reason, str] | None
    rank: int = 0

    @property
    def order(self) -> tuple[bool, tuple[bool, Version | str], int, tuple[int, str]]:
        """Return what decides among files of one version: plain before labelled, highest label, best tag, highest build."""
        assert self.wheel is not None  # noqa: S101 - only wheels are ordered
        return (self.wheel.local is None, sort_key(self.version), -self.rank, self.wheel.build)


@dataclass(frozen=True)
class _Wish:
    name: str
    specifier: SpecifierSet
    target: Target
    local: str | None
    prereleases: bool
    exact: bool = field(default=False)


def select(
    files: Sequence[IndexFile],
    name: str,
    specifier: str,
    target: Target,
    *,
    index: str,
    local: str | None = None,
    allow_prerelease: bool = False,
    all_files: bool = False,
) -> Selection:
    """Choose the file of a project for a target.

    Args:
        files: what the page lists.
        name: the project, in any spelling.
        specifier: PEP 440 specifier, `==X` for a pin, empty for any version.
        target: what the file must run on.
        index: name of the page's index, kept in the answer.
        local: the local version label the build must carry (a family such as `rocm` holds `rocm7.1`), None for none asked.
        allow_prerelease: admit pre-releases of a range; an exact pin admits its own anyway.
        all_files: give a reason for files of other versions, too.
    """
    wish = _wish(name, specifier, target, local, allow_prerelease)
    candidates = [_judge(file, wish, version) for file, version in _of_project(files, wish.name)]
    wanted = [c for c in candidates if admits(wish.specifier, c.version, prereleases=wish.prereleases)]
    fitting = [c for c in wanted if c.misfit is None]
    chosen = max(fitting, key=lambda c: (sort_key(_public(c.version)), c.order)) if fitting else None
    version = _version_in_question(chosen, wanted)
    others = [c for c in candidates if c is not chosen and (all_files or _public(c.version) == version)]
    rejected = tuple(_rejection(c, chosen, wish, version) for c in others)
    return Selection(
        chosen=_chosen(chosen, wish.name, index) if chosen else None,
        rejected=rejected,
        nearest="" if chosen else nearest_text(rejected, _versions(candidates, fit=True), _versions(wanted), target),
        warnings=_warnings(chosen, wish),
        version=version,
    )


def versions_available(files: Sequence[IndexFile], name: str, target: Target) -> list[str]:
    """Return the versions that have a wheel for the target, newest first."""
    wish = _wish(name, "", target, None, True)
    return _versions([_judge(file, wish, version) for file, version in _of_project(files, wish.name)], fit=True)


def _wish(name: str, specifier: str, target: Target, local: str | None, prereleases: bool) -> _Wish:
    try:
        parsed = SpecifierSet(specifier)
    except InvalidSpecifier:
        parsed = SpecifierSet(f"==={specifier.lstrip('=')}")
    return _Wish(canonicalize_name(name), parsed, target, local, prereleases, pins_exactly(parsed))


def _of_project(files: Iterable[IndexFile], name: str) -> Iterable[tuple[IndexFile, str]]:
    for file in files:
        version = project_version(file.filename, name)
        if version is not None:
            yield file, version


def _judge(file: IndexFile, wish: _Wish, version: str) -> _Candidate:
    if not file.filename.endswith(".whl"):
        return _Candidate(file, version, None, ("sdist-only", "a source distribution; only wheels are installed"))
    wheel = parse_wheel_name(file.filename)
    misfit = _misfit(file, wheel, wish)
    ranks = tag_ranks(wish.target)
    rank = min((ranks[t] for t in wheel.tags if t in ranks), default=-1)
    return _Candidate(file, version, wheel, misfit, rank)


def _misfit(file: IndexFile, wheel: WheelName, wish: _Wish) -> tuple[Reason, str] | None:
    ranks = tag_ranks(wish.target)
    if not any(tag in ranks for tag in wheel.tags):
        return explain_misfit(wheel.tags, wish.target)
    if wish.local is not None and not label_fits(wheel.local, wish.local):
        have = f"+{wheel.local}" if wheel.local else "no local label"
        return "local-version", f"{have}; the build must be +{wish.local}"
    if file.requires_python and not _python_fits(file.requires_python, wish.target):
        return "requires-python", f"requires Python {file.requires_python}, the target has {wish.target.python}"
    if file.yanked is not None and not wish.exact:
        return "yanked", f"yanked: {file.yanked or 'no reason given'}"
    return None


def _python_fits(requires: str, target: Target) -> bool:
    """Judge by the newest patch release of the target's line, so that `!=3.11.0` does not refuse all of 3.11."""
    try:
        return SpecifierSet(requires).contains(f"{target.python}.99", prereleases=True)
    except InvalidSpecifier:
        return True


def _public(version: str) -> str:
    parsed = parse_version(version)
    return version if parsed is None else parsed.public


def _version_in_question(chosen: _Candidate | None, wanted: Sequence[_Candidate]) -> str | None:
    if chosen is not None:
        return _public(chosen.version)
    return max((_public(c.version) for c in wanted), key=sort_key, default=None)


def _versions(candidates: Iterable[_Candidate], fit: bool = False) -> list[str]:
    found = {_public(c.version) for c in candidates if not fit or c.misfit is None}
    return sorted(found, key=sort_key, reverse=True)


def _rejection(item: _Candidate, chosen: _Candidate | None, wish: _Wish, version: str | None) -> RejectedFile:
    reason, detail = _reason(item, chosen, wish, version)
    return RejectedFile(wish.name, item.file.filename, reason, detail)


def _reason(item: _Candidate, chosen: _Candidate | None, wish: _Wish, version: str | None) -> tuple[Reason, str]:
    if _public(item.version) != version:
        parsed = parse_version(item.version)
        if parsed is not None and parsed.is_prerelease and not wish.prereleases:
            return "prerelease", f"{item.version} is a pre-release; it is taken only where it is pinned"
        return "version", f"{item.version} is another version than {version}"
    if item.wheel is None and chosen is not None:
        return "not-a-wheel", "a source distribution; a wheel of the same version fits"
    if item.misfit is not None:
        return item.misfit
    return _outranked(item, chosen)


def _outranked(item: _Candidate, chosen: _Candidate | None) -> tuple[Reason, str]:
    assert chosen is not None and item.wheel is not None and chosen.wheel is not None  # noqa: S101
    if item.wheel.local != chosen.wheel.local:
        label = f"+{item.wheel.local}" if item.wheel.local else "no local label"
        return "local-version", f"{label}; {chosen.file.filename} was asked for"
    if item.rank == chosen.rank:
        have, took = item.wheel.build[0] or "none", chosen.wheel.build[0]
        return "build-tag", f"build {have}; build {took} of the same version replaces it"
    return "lower-tag", f"fits, but {chosen.file.filename} is built for a newer platform"


def _chosen(item: _Candidate, name: str, index: str) -> ChosenWheel:
    file = item.file
    return ChosenWheel(name, item.version, file.filename, file.url, index, file.sha256, file.size_bytes)


def _warnings(chosen: _Candidate | None, wish: _Wish) -> tuple[str, ...]:
    if chosen is None or chosen.file.yanked is None:
        return ()
    return (f"{wish.name} {chosen.version} is yanked: {chosen.file.yanked or 'no reason given'}",)
