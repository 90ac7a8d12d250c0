"""The choice: one file for the target out of a page, and for every other file of that version the reason. Pure.

Order: not yanked, requires-python, tags of the target (newest libc first), highest build number. A wheel is never passed
over for a newer sdist. Reasons are computed from the file at hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from accel_install.facts.target import Target
from accel_install.resolve.build_tokens import BuildFacts
from accel_install.resolve.judge import Candidate, Misfit, Wish, candidates_of, make_wish, misfit_of, newest_first, rank_of
from accel_install.resolve.models import ChosenWheel, IndexFile, RejectedFile
from accel_install.resolve.nearest import half_published, nearest_text
from accel_install.resolve.versions import admits, parse_version, sort_key

__all__ = ["Selection", "select", "versions_available"]


@dataclass(frozen=True)
class Selection:
    """What came of a page.

    Attributes:
        chosen: the file taken, or None.
        rejected: why the other files of that version were not.
        nearest: the nearest miss in words, when none was.
        warnings: what people should know about the choice.
        version: the public version in question.
        alternatives: versions that have a file for the target, newest first; finals before pre-releases.
        half_published: in words, when the version has files for fewer platforms than the release before it.
        summed_up: how many files of other versions the page holds.
    """

    chosen: ChosenWheel | None
    rejected: tuple[RejectedFile, ...] = ()
    nearest: str = ""
    warnings: tuple[str, ...] = ()
    version: str | None = None
    alternatives: tuple[str, ...] = ()
    half_published: str = ""
    summed_up: int = 0


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
    facts: BuildFacts | None = None,
    variant: str | None = None,
) -> Selection:
    """Choose the file of a project for a target.

    Args:
        files: what the page lists.
        name: the project, in any spelling.
        specifier: PEP 440 specifier, `==X` for a pin, empty for any version.
        target: what the file must run on.
        index: name of the page's index, kept in the answer.
        local: the local version label the build must carry (a family such as `rocm` holds `rocm7.1`), None for none asked.
        allow_prerelease: admit pre-releases of a range; one that the specifier names is admitted anyway.
        all_files: give a reason for files of other versions, too.
        facts: of the torch that the plan holds, to compare ABI, torch and SDK in local labels with.
        variant: the variant label the build must carry.
    """
    wish = make_wish(name, specifier, target, local=local, prereleases=allow_prerelease, facts=facts, variant=variant)
    candidates = candidates_of(files, wish.name)
    named = [c for c in candidates if c.version and admits(wish.specifier, c.version, prereleases=True)]
    wanted = [c for c in named if wish.prereleases or not _is_prerelease(c)]
    fitting, passed = _newest_fitting(wanted, wish)
    chosen = max(fitting, key=lambda c: c.order(wish)) if fitting else None
    version = chosen.public if chosen else _version_in_question(wanted or named)
    others = [c for c in candidates if c is not chosen and (all_files or c.public == version)]
    rejected = tuple(_rejection(c, chosen, wish, version) for c in others)
    selection = Selection(
        chosen=_chosen(chosen, wish.name, index) if chosen else None,
        rejected=rejected,
        warnings=(*_warnings(chosen, fitting, wish), *_passed_over(passed, wish)) if chosen else (),
        version=version,
        summed_up=sum(1 for c in candidates if c.public != version),
    )
    return selection if chosen else _explain(selection, candidates, wanted, named, wish)


def versions_available(files: Sequence[IndexFile], name: str, target: Target) -> list[str]:
    """Return the versions that have a wheel for the target, newest first."""
    wish = make_wish(name, "", target, prereleases=True)
    return list(_fitting_versions(candidates_of(files, wish.name), wish))


def _is_prerelease(item: Candidate) -> bool:
    parsed = parse_version(item.version)
    return parsed is not None and parsed.is_prerelease


def _by_version(candidates: Iterable[Candidate]) -> list[tuple[str, list[Candidate]]]:
    groups: dict[str, list[Candidate]] = {}
    for item in candidates:
        groups.setdefault(item.public, []).append(item)
    return sorted(groups.items(), key=lambda pair: sort_key(pair[0]), reverse=True)


def _newest_fitting(wanted: Sequence[Candidate], wish: Wish) -> tuple[list[Candidate], list[list[Candidate]]]:
    """Return the fitting files of the newest version that has one, and the newer versions that were passed over."""
    passed: list[list[Candidate]] = []
    for _, group in _by_version(wanted):
        fitting = [c for c in group if misfit_of(c, wish) is None]
        if fitting:
            return fitting, passed
        passed.append(group)
    return [], passed


def _fitting_versions(candidates: Sequence[Candidate], wish: Wish) -> Sequence[str]:
    return newest_first(c.public for c in candidates if c.version and misfit_of(c, wish) is None)


def _version_in_question(wanted: Sequence[Candidate]) -> str | None:
    return max((c.public for c in wanted), key=sort_key, default=None)


def _explain(
    selection: Selection, candidates: Sequence[Candidate], wanted: Sequence[Candidate], named: Sequence[Candidate], wish: Wish
) -> Selection:
    """Complete a selection without a choice: the nearest miss, what would fit, whether the release is half published."""
    fitting = _fitting_versions(candidates, wish)
    finals = [v for v in fitting if (parsed := parse_version(v)) is None or not parsed.is_prerelease]
    alternatives = (*finals, *(v for v in fitting if v not in finals))
    text = nearest_text(selection.rejected, fitting, bool(named), wish.target)
    half = half_published(candidates, selection.version, wish.target) if wanted else ""
    return Selection(
        chosen=None,
        rejected=selection.rejected,
        nearest=f"{half}; {text}" if half else text,
        version=selection.version,
        alternatives=alternatives,
        half_published=half,
        summed_up=selection.summed_up,
    )


def _rejection(item: Candidate, chosen: Candidate | None, wish: Wish, version: str | None) -> RejectedFile:
    reason, detail = _reason(item, chosen, wish, version)
    return RejectedFile(wish.name, item.file.filename, reason, detail)


def _reason(item: Candidate, chosen: Candidate | None, wish: Wish, version: str | None) -> Misfit:
    if item.public != version:
        if _is_prerelease(item) and not wish.prereleases:
            return "prerelease", f"{item.version} is a pre-release; it is taken only where it is pinned"
        return "version", f"{item.version or 'no readable version'} is another version than {version}"
    if item.bad is not None and item.bad[0] == "sdist-only" and chosen is not None:
        return "not-a-wheel", "a source distribution; a wheel of the same version fits"
    misfit = misfit_of(item, wish)
    if misfit is not None:
        return misfit
    if chosen is None:  # it fits, and is a pre-release that nobody asked for
        return "prerelease", f"{item.version} is a pre-release; it is taken only where it is pinned"
    return _outranked(item, chosen, wish)


def _outranked(item: Candidate, chosen: Candidate, wish: Wish) -> Misfit:
    assert item.wheel is not None and chosen.wheel is not None  # noqa: S101 - both fit
    if item.wheel.local != chosen.wheel.local or not admits(wish.specifier, item.version, prereleases=True):
        label = f"+{item.wheel.local}" if item.wheel.local else "no local label"
        return "local-version", f"{label}; {chosen.file.filename} was asked for"
    if item.wheel.variant != chosen.wheel.variant or item.wheel.chips != chosen.wheel.chips:
        return "variant", f"fits, but {chosen.file.filename} is built for this very chip"
    if rank_of(item.wheel, wish.target) == rank_of(chosen.wheel, wish.target):
        have, took = item.wheel.build[0] or "none", chosen.wheel.build[0]
        return "build-tag", f"build {have}; build {took} of the same version replaces it"
    return "lower-tag", f"fits, but {chosen.file.filename} is built for a newer platform"


def _chosen(item: Candidate, name: str, index: str) -> ChosenWheel:
    file = item.file
    return ChosenWheel(
        name,
        item.version,
        file.filename,
        file.url,
        index,
        file.sha256,
        file.size_bytes,
        hashes=file.hashes,
        has_metadata=file.has_metadata,
        metadata_sha256=file.metadata_sha256,
    )


def _warnings(chosen: Candidate | None, fitting: Sequence[Candidate], wish: Wish) -> list[str]:
    if chosen is None or chosen.wheel is None:
        return []
    said = []
    if chosen.file.yanked is not None:
        said.append(f"{wish.name} {chosen.version} is yanked: {chosen.file.yanked or 'no reason given'}")
    if chosen.wheel.leniently_read:
        said.append(f"{chosen.file.filename} is read leniently: {chosen.wheel.leniently_read}")
    labels = sorted({c.wheel.local for c in fitting if c.wheel is not None and c.wheel.local})
    if (
        chosen.wheel.local is not None
        and len(labels) > 1
        and wish.local is None
        and f"+{chosen.wheel.local}" not in str(wish.specifier)
    ):
        said.append(
            f"{wish.name} {chosen.public} has builds +{', +'.join(labels)}; "
            f"+{chosen.wheel.local} is taken, pin the one that is meant"
        )
    digests = {c.file.sha256 for c in fitting if c.file.filename == chosen.file.filename}
    if len(digests) > 1:
        said.append(
            f"{chosen.file.filename} is listed {len(digests)} times with different digests; {chosen.file.sha256} is taken"
        )
    return said


def _passed_over(passed: Sequence[Sequence[Candidate]], wish: Wish) -> list[str]:
    """Say of the newest version that was passed over why, and how many more were."""
    if not passed:
        return []
    newest = list(passed[0])
    rejected = [RejectedFile(wish.name, c.file.filename, *(misfit_of(c, wish) or ("version", ""))) for c in newest]
    more = f" (and {len(passed) - 1} more versions)" if len(passed) > 1 else ""
    return [f"{wish.name} {newest[0].public} is passed over: {nearest_text(rejected, (), True, wish.target)}{more}"]
