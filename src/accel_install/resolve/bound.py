"""The accelerator-bound set of a row: one file per package, from its one index, or why there is none.

Pages are fetched in parallel and the metadata of each pick is read in the same breath. How a file is judged lives in
`select`; what follows from a missing one is decided in `resolve`.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from accel_install.errors import AccelError, IndexUnavailableError
from accel_install.facts.target import Target
from accel_install.recipe.models import PackageSpec, Recipe, Row
from accel_install.resolve.dead_indexes import DeadIndexes
from accel_install.resolve.index_errors import reason_of
from accel_install.resolve.metadata import HttpReader, WheelMetadata, disagreement, read_metadata
from accel_install.resolve.models import ChosenWheel, IndexFile, IndexPage, RejectedFile, UnresolvedPackage
from accel_install.resolve.select import Selection, select

__all__ = ["BoundOutcome", "BoundPackage", "PageSource", "Pages", "bound_packages", "find_bound"]

_JOBS = 12
_DEAD_SLUGS = ("index.unreachable", "network.unreachable", "network.tls", "network.bad-proxy")


class PageSource(Protocol):
    """What is needed of `client.IndexClient`."""

    def page(self, index_name: str, project: str) -> IndexPage | None:
        """Return the page, None when the index has no such project."""

    def find_links_files(self, project: str) -> Sequence[tuple[str, IndexFile]]:
        """Return (source label, file) of every extra page and folder."""


@dataclass(frozen=True)
class BoundPackage:
    """A package of the row: `pinned` is the version with the local label its build must carry on the target."""

    name: str
    version: str
    spec: PackageSpec
    index: str
    local: str | None = None

    @property
    def pinned(self) -> str:
        """Return the version as the chosen file must have it."""
        return self.version if self.local is None or "+" in self.version else f"{self.version}+{self.local}"


@dataclass(frozen=True)
class BoundOutcome:
    """What came of one package: a wheel with its metadata, or `unresolved`; `misfit` when the row cannot fit."""

    package: BoundPackage
    wheel: ChosenWheel | None = None
    metadata: WheelMetadata | None = None
    rejected: tuple[RejectedFile, ...] = ()
    unresolved: UnresolvedPackage | None = None
    misfit: str | None = None
    warnings: tuple[str, ...] = ()


class Pages:
    """Pages of one call: an index that did not answer is not asked again.

    Args:
        source: the client.
        memory: what earlier calls learnt about dead indexes, None for nothing.
    """

    def __init__(self, source: PageSource, memory: DeadIndexes | None = None) -> None:
        self._source = source
        self._memory = memory
        self._dead: dict[str, IndexUnavailableError] = {}
        self._lock = threading.Lock()

    def page(self, index: str, project: str) -> IndexPage | None:
        """Return a page, None for 404. Raises IndexUnavailableError, at once for an index known to be dead."""
        dead = self._known_dead(index)
        if dead is not None:
            raise dead
        try:
            return self._source.page(index, project)
        except IndexUnavailableError as error:
            if error.slug in _DEAD_SLUGS:
                self._remember(index, error)
            raise

    def extra_files(self, project: str) -> Sequence[tuple[str, IndexFile]]:
        """Return the files of find-links pages and folders with the label of where they are from."""
        return self._source.find_links_files(project)

    def is_dead(self, index: str) -> bool:
        """Say whether an index was found out of reach."""
        with self._lock:
            return index in self._dead

    def _known_dead(self, index: str) -> IndexUnavailableError | None:
        with self._lock:
            if index not in self._dead and self._memory is not None:
                remembered = self._memory.get(index)
                if remembered is not None:
                    self._dead[index] = remembered
            return self._dead.get(index)

    def _remember(self, index: str, error: IndexUnavailableError) -> None:
        with self._lock:
            if index not in self._dead and self._memory is not None:
                self._memory.put(index, error)
            self._dead.setdefault(index, error)


def bound_packages(recipe: Recipe, row: Row, target: Target) -> tuple[BoundPackage, ...]:
    """Return the packages of the recipe that the row names, in the recipe's order."""
    found = []
    for raw, spec in recipe.packages.items():
        name = canonicalize_name(raw)
        version = row.version_of(raw) or row.version_of(name)
        if version is not None:
            found.append(BoundPackage(name, version, spec, spec.index_for(target.arch, version), spec.local.get(target.arch)))
    return tuple(found)


def find_bound(
    packages: Sequence[BoundPackage],
    target: Target,
    pages: Pages,
    http: HttpReader,
    cache_dir: Path | None,
    *,
    offline: bool = False,
) -> tuple[BoundOutcome, ...]:
    """Pick the file of every package, all at once, and read the metadata of the picks."""

    def one(package: BoundPackage) -> BoundOutcome:
        outcome = _find_one(package, target, pages, offline)
        return outcome if outcome.wheel is None else _with_metadata(outcome, http, cache_dir, offline)

    if not packages:
        return ()
    with ThreadPoolExecutor(max_workers=min(_JOBS, len(packages))) as pool:
        return tuple(pool.map(one, packages))


def _find_one(package: BoundPackage, target: Target, pages: Pages, offline: bool) -> BoundOutcome:
    extra = _from_extra(package, target, pages)
    if extra is not None:
        return extra
    try:
        page = pages.page(package.index, package.name)
    except IndexUnavailableError as error:
        return _unreachable(package, target, pages, error, offline)
    if page is None:
        return _missing(package, target, pages, f"index `{package.index}` has no project {package.name}")
    selection = _select(page.files, package, target, package.index)
    if selection.chosen is None:
        return _unfit(package, target, pages, page, selection)
    return _taken(package, selection.chosen, selection)


def _taken(package: BoundPackage, chosen: ChosenWheel, selection: Selection) -> BoundOutcome:
    wheel = replace(chosen, bound=True)
    return BoundOutcome(package, wheel, rejected=selection.rejected, warnings=selection.warnings)


def _select(files: Sequence[IndexFile], package: BoundPackage, target: Target, index: str) -> Selection:
    return select(files, package.name, version_specifier(package.version), target, index=index, local=package.local)


def version_specifier(version: str) -> str:
    """Return `==VERSION`, or the text itself when the row gives a specifier."""
    try:
        Version(version)
    except InvalidVersion:
        return version if version[:1] in "<>=!~" else f"=={version}"
    return f"=={version}"


def _from_extra(package: BoundPackage, target: Target, pages: Pages) -> BoundOutcome | None:
    by_label: dict[str, list[IndexFile]] = {}
    for label, file in pages.extra_files(package.name):
        by_label.setdefault(label, []).append(file)
    for label, files in by_label.items():
        selection = _select(files, package, target, label)
        if selection.chosen is not None:
            return _taken(package, selection.chosen, selection)
    return None


def _with_metadata(outcome: BoundOutcome, http: HttpReader, cache_dir: Path | None, offline: bool) -> BoundOutcome:
    assert outcome.wheel is not None  # noqa: S101 - narrowed by the caller
    wheel = outcome.wheel
    try:
        metadata = read_metadata(wheel.file(), http, cache_dir, offline=offline)
    except AccelError as error:
        note = f"requirements of {wheel.name} {wheel.version} are unknown: {error.message}"
        return replace(outcome, warnings=(*outcome.warnings, note))
    said = disagreement(metadata, wheel)
    return replace(outcome, metadata=metadata, warnings=(*outcome.warnings, *([said] if said else [])))


def _unreachable(
    package: BoundPackage, target: Target, pages: Pages, error: IndexUnavailableError, offline: bool
) -> BoundOutcome:
    return _unresolved(package, target, pages, reason_of(error, offline), error.message)


def _missing(package: BoundPackage, target: Target, pages: Pages, said: str) -> BoundOutcome:
    outcome = _unresolved(package, target, pages, "not-published", said)
    return outcome if package.spec.optional else replace(outcome, misfit=f"{package.name} {package.pinned}: {said}")


def _unfit(package: BoundPackage, target: Target, pages: Pages, page: IndexPage, selection: Selection) -> BoundOutcome:
    if not selection.rejected:
        said = f"on index `{package.index}` {selection.nearest or 'there is no file of this version'}"
        return _missing(package, target, pages, said)
    said = selection.nearest or "no file fits the target"
    outcome = replace(_unresolved(package, target, pages, "no-wheel", said), rejected=selection.rejected)
    return outcome if package.spec.optional else replace(outcome, misfit=f"{package.name} {package.pinned}: {said}")


def _unresolved(package: BoundPackage, target: Target, pages: Pages, reason: str, said: str) -> BoundOutcome:
    offered = _alternatives(package, target, pages)
    words = [f"{version} is on index `default`: {why}" for version, why in offered.items()]
    return BoundOutcome(
        package,
        unresolved=UnresolvedPackage(
            name=package.name,
            version=package.pinned,
            index=package.index,
            reason=reason,
            detail="; ".join([said, *words]),
            alternatives=tuple(offered),
        ),
    )


def _alternatives(package: BoundPackage, target: Target, pages: Pages) -> dict[str, str]:
    """Return the recipe's alternatives that really have a file for the target on the default index."""
    if not package.spec.alternatives:
        return {}
    try:
        page = pages.page("default", package.name)
    except IndexUnavailableError:
        return {}
    if page is None:
        return {}
    return {
        version: _why(package, version, why)
        for version, why in package.spec.alternatives.items()
        if select(page.files, package.name, f"=={version}", target, index="default", local=None).chosen is not None
    }


def _why(package: BoundPackage, version: str, why: str) -> str:
    return f"the same version, but not from index `{package.index}`" if version == package.version else why
