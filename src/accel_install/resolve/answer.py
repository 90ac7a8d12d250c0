"""The answer to `resolve REQ...`: wheels, reasons, and for what could not be had one word, its words, and alternatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from accel_install.facts.target import Target
from accel_install.recipe.builds import Build
from accel_install.resolve.ask import Asked, Conflict, Fitter, Wanted
from accel_install.resolve.known_places import known_place
from accel_install.resolve.metadata import HttpReader, WheelMetadata
from accel_install.resolve.models import ChosenWheel, RejectedFile, UnresolvedPackage
from accel_install.resolve.offers import Offer, Offers
from accel_install.resolve.select import Selection

__all__ = ["Answer", "answer"]

_MOST_ALTERNATIVES = 3


@dataclass(frozen=True)
class Answer:
    """What came of the requirements, in their order; `metadata` by file name, of the files that were read."""

    wheels: tuple[ChosenWheel, ...] = ()
    rejected: tuple[RejectedFile, ...] = ()
    unresolved: tuple[UnresolvedPackage, ...] = ()
    warnings: tuple[str, ...] = ()
    metadata: Mapping[str, WheelMetadata] | None = None


def answer(
    wanted: Mapping[str, Wanted],
    offers: Offers,
    target: Target,
    builds: Sequence[Build],
    http: HttpReader,
    cache_dir: Path,
    *,
    offline: bool = False,
    all_files: bool = False,
) -> Answer:
    """Answer requirements.

    Args:
        wanted: by canonical name.
        offers: where their files are.
        target: for what.
        builds: what is known of builds whose labels are silent.
        http, cache_dir, offline: for metadata.
        all_files: also give a reason for files of other versions.
    """
    found = offers.of(list(wanted))
    asked = Asked(wanted, found, target, builds, all_files)
    alone = {name: asked.select(name, w.specifier, None) for name, w in wanted.items() if found[name].trouble is None}
    holes = {name: _hole(wanted[name], found[name], alone.get(name)) for name in wanted}
    good = {name: w for name, w in wanted.items() if holes[name] is None}
    fitter = Fitter(replace(asked, wanted=good), http, cache_dir, offline)
    try:
        picked = fitter.fit() if len(good) > 1 else {name: alone[name] for name in good}
    except Conflict as conflict:
        picked = {}
        for name in [n for n, _, _ in conflict.clash if n in good] or list(good):
            holes[name] = _conflict(good[name], found[name], conflict, alone[name])
    chosen = [s.chosen for name in wanted if (s := picked.get(name)) is not None and s.chosen is not None]
    for wheel in chosen:
        fitter.metadata_of(wheel)
    shown = {name: picked.get(name) or alone.get(name) for name in wanted}
    return Answer(
        wheels=tuple(chosen),
        rejected=tuple(r for name, s in shown.items() for r in _rejected(found[name], s, target)),
        unresolved=tuple(hole for hole in holes.values() if hole is not None),
        warnings=(*fitter.warnings, *(w for s in shown.values() if s is not None for w in s.warnings), *_no_digest(chosen)),
        metadata=fitter.metadata,
    )


def _no_digest(wheels: Sequence[ChosenWheel]) -> list[str]:
    without = [w.filename for w in wheels if w.sha256 is None and not w.hashes]
    return [f"no digest is given for {', '.join(without)}: what is downloaded cannot be checked"] if without else []


def _rejected(offer: Offer, selection: Selection | None, target: Target) -> list[RejectedFile]:
    if selection is None:
        return []
    source = selection.chosen.index if selection.chosen is not None else ""
    return [*selection.rejected, *offer.wrong_index(selection.version, target, source)]


def _hole(wanted: Wanted, offer: Offer, selection: Selection | None) -> UnresolvedPackage | None:
    if offer.trouble is not None and selection is None:
        reason, said = offer.trouble
        return UnresolvedPackage(wanted.name, wanted.specifier, offer.index or ", ".join(offer.asked), reason, said)
    assert selection is not None  # noqa: S101 - made for every name without trouble
    if selection.chosen is not None:
        return None
    index = offer.index or ", ".join(offer.asked)
    alternatives = selection.alternatives[:_MOST_ALTERNATIVES]
    return UnresolvedPackage(
        wanted.name, wanted.specifier, index, _reason(selection), _detail(wanted, offer, selection), alternatives
    )


def _reason(selection: Selection) -> str:
    if selection.half_published:
        return "half-published"
    reasons = {r.reason for r in selection.rejected}
    if not reasons:
        return "not-published"
    if reasons <= {"sdist-only"}:
        return "sdist-only"
    return "no-wheel"


def _detail(wanted: Wanted, offer: Offer, selection: Selection) -> str:
    if not offer.sources():
        said = f"{wanted.name} is not on {', '.join(offer.asked) or 'any index'}"
    else:
        said = f"{wanted.text} on index `{offer.index or offer.extra[-1][0]}`: {selection.nearest}"
    if selection.rejected and any(r.reason == "prerelease" for r in selection.rejected) and selection.alternatives:
        said += f"; `{wanted.name}=={selection.alternatives[0]}` takes it"
    elsewhere = [index for index, files in offer.elsewhere if _holds(files, wanted)]
    if elsewhere:
        said += f"; index {', '.join(f'`{i}`' for i in elsewhere)} has it: --package-index {elsewhere[0]}={wanted.name}"
    place = known_place(wanted.name)
    if place is not None and place[0] not in offer.asked:
        said += f"; known at index `{place[0]}`: --index {place[0]}={place[1]} --package-index {place[0]}={wanted.name}"
    return said


def _holds(files: Sequence[object], wanted: Wanted) -> bool:
    from packaging.specifiers import SpecifierSet

    from accel_install.resolve.judge import candidates_of
    from accel_install.resolve.versions import admits

    listed = candidates_of(files, wanted.name)  # type: ignore[arg-type]
    return any(admits(SpecifierSet(wanted.specifier), c.version, prereleases=True) for c in listed if c.version)


def _conflict(wanted: Wanted, offer: Offer, conflict: Conflict, alone: Selection) -> UnresolvedPackage:
    detail = f"it does not fit what was asked for beside it: {conflict.text}"
    missing = [f"{n}{s}" for n, s, by in conflict.clash if n == wanted.name and "+" in s]
    if missing:
        detail += f"; index `{offer.index}` has no {', '.join(missing)}"
    place = known_place(wanted.name)
    if place is not None and place[0] not in offer.asked:
        detail += f"; builds with a label are known at index `{place[0]}`: --index {place[0]}={place[1]}"
    return UnresolvedPackage(
        wanted.name, wanted.specifier, offer.index, "conflict", detail, alone.alternatives[:_MOST_ALTERNATIVES]
    )
