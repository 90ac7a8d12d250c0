"""What a row leaves open, or names although nobody published it, taken from the metadata of the row's own wheels.

Two cases: the plugin of a row pins another release of a package than the row names, and the named one is not on its
index; and a member of the torch family has no version in the row, but must be the one built for the row's torch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from packaging.utils import canonicalize_name

from accel_install.errors import IndexUnavailableError
from accel_install.facts.target import Target
from accel_install.recipe.models import PackageSpec, Recipe
from accel_install.resolve.bound import BoundOutcome, BoundPackage, Pages, find_bound
from accel_install.resolve.index_errors import reason_of
from accel_install.resolve.metadata import HttpReader, WheelMetadata, read_many
from accel_install.resolve.models import IndexFile, UnresolvedPackage
from accel_install.resolve.requirements import Dist, accepts, is_exact, wishes
from accel_install.resolve.select import select, versions_available
from accel_install.resolve.versions import parse_version

__all__ = ["Finder", "fill_gaps"]

_BATCH = 8
_TORCH = "torch"


@dataclass(frozen=True)
class Finder:
    """Where to look: pages, reader, cache, for one target."""

    target: Target
    pages: Pages
    http: HttpReader
    cache_dir: Path | None
    offline: bool = False

    def find(self, packages: Sequence[BoundPackage]) -> tuple[BoundOutcome, ...]:
        """Pick the files of packages; see `bound.find_bound`."""
        return find_bound(
            packages,
            self.target,
            self.pages,
            self.http,
            self.cache_dir,
            offline=self.offline,
        )


def fill_gaps(recipe: Recipe, outcomes: Sequence[BoundOutcome], finder: Finder) -> tuple[BoundOutcome, ...]:
    """Return the outcomes with unpublished versions replaced by the plugin's pins, and the torch family completed."""
    if any(o.misfit is not None and not _unpublished(o) for o in outcomes):
        return tuple(outcomes)
    mended = [_mend(o, outcomes, finder) if _unpublished(o) else o for o in outcomes]
    if any(o.misfit is not None for o in mended):
        return tuple(mended)
    return (*mended, *_family(recipe, mended, finder))


def _missing_members(recipe: Recipe, outcomes: Sequence[BoundOutcome]) -> list[tuple[str, PackageSpec]]:
    named = {o.package.name for o in outcomes}
    return [
        (canonicalize_name(name), spec)
        for name, spec in recipe.packages.items()
        if spec.role == "torch-family" and canonicalize_name(name) not in named
    ]


def _unpublished(outcome: BoundOutcome) -> bool:
    return outcome.unresolved is not None and outcome.unresolved.reason == "not-published"


def _mend(outcome: BoundOutcome, outcomes: Sequence[BoundOutcome], finder: Finder) -> BoundOutcome:
    """Take the version that the row's plugin pins exactly, when the row's own was never published."""
    package = outcome.package
    plugins = {
        o.wheel.name: Dist(o.wheel.name, o.wheel.version, o.metadata.requires_dist)
        for o in outcomes
        if o.package.spec.role == "plugin" and o.wheel is not None and o.metadata is not None
    }
    for wish in wishes(plugins, frozenset({package.name}), {}, finder.target.markers()):
        version = wish.specifier.lstrip("=").split("+")[0]
        if not is_exact(wish.specifier) or accepts(wish.specifier, package.pinned):
            continue
        other = replace(package, version=version, index=package.spec.index_for(finder.target.arch, version))
        (found,) = finder.find([other])
        if found.wheel is not None:
            by = f"{wish.by.name} {wish.by.version}"
            note = (
                f"{package.name} {package.pinned} of the row is not on index `{package.index}`; "
                f"{found.wheel.version} is taken, which {by} pins in its metadata"
            )
            return replace(found, warnings=(*found.warnings, note))
    return outcome


def _family(recipe: Recipe, outcomes: Sequence[BoundOutcome], finder: Finder) -> list[BoundOutcome]:
    torch = next((o.package for o in outcomes if o.package.name == _TORCH), None)
    if torch is None:
        return []
    found = (_member(name, spec, torch, finder) for name, spec in _missing_members(recipe, outcomes))
    return [outcome for outcome in found if outcome is not None]


def _member(name: str, spec: PackageSpec, torch: BoundPackage, finder: Finder) -> BoundOutcome | None:
    """Return the newest release that wants exactly the row's torch, None when no release says so."""
    arch = finder.target.arch
    package = BoundPackage(name, "", spec, spec.index_for(arch), spec.local.get(arch))
    try:
        page = finder.pages.page(package.index, name)
    except IndexUnavailableError as error:
        said = f"the release for torch {torch.pinned} is unknown"
        hole = UnresolvedPackage(name, "", package.index, reason_of(error, finder.offline), f"{said}: {error.message}")
        return BoundOutcome(package, unresolved=hole)
    candidates = iter(_candidates(page.files if page is not None else (), package, finder.target))
    while batch := list(islice(candidates, _BATCH)):
        read = read_many([file for _, file in batch], finder.http, finder.cache_dir, offline=finder.offline)
        for version, file in batch:
            if _wants_exactly(read.get(file.filename), torch, finder.target):
                note = f"the row names no {name}; {version} is taken, whose metadata wants torch {torch.version}"
                (outcome,) = finder.find([replace(package, version=version)])
                return replace(outcome, warnings=(*outcome.warnings, note))
    return None


def _candidates(files: Sequence[IndexFile], package: BoundPackage, target: Target) -> Iterable[tuple[str, IndexFile]]:
    """Yield (version, best file) of the final releases that have a file for the target, newest first."""
    for version in versions_available(files, package.name, target):
        picked = select(files, package.name, f"=={version}", target, index=package.index, local=package.local).chosen
        if picked is not None and _is_final(version):
            yield version, picked.file()


def _is_final(version: str) -> bool:
    parsed = parse_version(version)
    return parsed is not None and not parsed.is_prerelease


def _wants_exactly(metadata: object, torch: BoundPackage, target: Target) -> bool:
    if not isinstance(metadata, WheelMetadata):
        return False
    dist = Dist(metadata.name, metadata.version, metadata.requires_dist)
    found = wishes({dist.name: dist}, frozenset({_TORCH}), {}, target.markers())
    return any(is_exact(w.specifier) and accepts(w.specifier, torch.pinned) for w in found)
