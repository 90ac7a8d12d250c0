"""Any requirement for any target: one file per requirement, fitting each other by the metadata of the chosen files.

Versions are tried by resolvelib, newest first, among the given names only; the files are picked by `select`. The closure
around them is `ask_closure`'s, where the files come from is `offers`'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from resolvelib import AbstractProvider, BaseReporter, Resolver
from resolvelib.resolvers import RequirementInformation, ResolutionImpossible, ResolutionTooDeep

from accel_install.errors import AccelError
from accel_install.facts.target import Target
from accel_install.recipe.builds import Build
from accel_install.resolve.build_tokens import BuildFacts, facts_of_torch
from accel_install.resolve.metadata import HttpReader, WheelMetadata, disagreement, read_metadata
from accel_install.resolve.models import ChosenWheel
from accel_install.resolve.offers import Offer, best_of
from accel_install.resolve.requirements import Dist, wishes
from accel_install.resolve.select import Selection

__all__ = ["Asked", "Conflict", "Fitter", "Wanted"]

_MAX_ROUNDS = 400
_TORCH = "torch"


@dataclass(frozen=True)
class Wanted:
    """One requirement: all lines of one name together."""

    name: str
    specifier: str
    extras: frozenset[str] = frozenset()
    variant: str | None = None

    @property
    def text(self) -> str:
        """Return it as people write it."""
        return f"{self.name}{self.specifier}"


@dataclass(frozen=True)
class Asked:
    """What was asked: the target, the names, their offers, and the table of builds."""

    wanted: Mapping[str, Wanted]
    offers: Mapping[str, Offer]
    target: Target
    builds: Sequence[Build] = ()
    all_files: bool = False

    def select(self, name: str, specifier: str, facts: BuildFacts | None, without: frozenset[str] = frozenset()) -> Selection:
        """Choose a file of a name, leaving out versions that were tried."""
        offer = self.offers[name]
        left = _without(offer, without) if without else offer
        return best_of(left, specifier, self.target, facts=facts, variant=self.wanted[name].variant, all_files=self.all_files)


def _without(offer: Offer, versions: frozenset[str]) -> Offer:
    def kept(files: Iterable[Any]) -> tuple[Any, ...]:
        from accel_install.resolve.filename import project_version

        return tuple(f for f in files if project_version(f.filename, offer.name) not in versions)

    extra = tuple((label, kept(files)) for label, files in offer.extra)
    return replace(offer, files=kept(offer.files), extra=extra)


class Conflict(Exception):
    """The requirements do not fit each other.

    Args:
        clash: (name, specifier, who wants it) of those that clash.
        note: what else stands against them.
    """

    def __init__(self, clash: Sequence[tuple[str, str, str]], note: str = "") -> None:
        super().__init__()
        self.clash = tuple(clash)
        self.note = note

    @property
    def text(self) -> str:
        """Say who wants what."""
        said = [f"{by} wants {name}{specifier or ' (any version)'}" for name, specifier, by in self.clash]
        return "; ".join([*said, *([self.note] if self.note else [])])


@dataclass(frozen=True)
class _Want:
    name: str
    specifier: str
    by: str


@dataclass
class _Provider(AbstractProvider):  # type: ignore[type-arg]
    asked: Asked
    facts: BuildFacts | None
    requires: Callable[[ChosenWheel], Sequence[_Want]]
    selections: dict[tuple[str, str], Selection] = field(default_factory=dict)

    def identify(self, requirement_or_candidate: Any) -> str:
        return str(requirement_or_candidate.name)

    def get_preference(self, identifier: str, *_: Any, **__: Any) -> Any:
        return identifier != _TORCH, list(self.asked.wanted).index(identifier)

    def find_matches(self, identifier: str, requirements: Any, incompatibilities: Any) -> Callable[[], Iterator[ChosenWheel]]:
        specifier = ",".join(sorted({r.specifier for r in requirements[identifier] if r.specifier}))
        bad = frozenset(c.version for c in incompatibilities[identifier])
        return lambda: self._matches(identifier, specifier, bad)

    def _matches(self, name: str, specifier: str, bad: frozenset[str]) -> Iterator[ChosenWheel]:
        while True:
            picked = self.asked.select(name, specifier, self.facts, bad)
            if picked.chosen is None:
                return
            self.selections[(name, picked.chosen.version)] = picked
            yield picked.chosen
            bad |= {picked.chosen.version}

    def is_satisfied_by(self, requirement: _Want, candidate: ChosenWheel) -> bool:
        from packaging.specifiers import SpecifierSet

        from accel_install.resolve.versions import admits

        return admits(SpecifierSet(requirement.specifier), candidate.version, prereleases=True)

    def get_dependencies(self, candidate: ChosenWheel) -> Sequence[_Want]:
        return self.requires(candidate)


class Fitter:
    """Make the picks of several requirements fit each other.

    Args:
        asked: what was asked.
        http, cache_dir, offline: for the metadata of the files that are tried.
    """

    def __init__(self, asked: Asked, http: HttpReader, cache_dir: Path, offline: bool = False) -> None:
        self._asked, self._http, self._cache_dir, self._offline = asked, http, cache_dir, offline
        self.warnings: list[str] = []
        self.metadata: dict[str, WheelMetadata] = {}

    def fit(self) -> dict[str, Selection]:
        """Return one selection per name.

        Raises:
            Conflict: no set of files fits together.
        """
        facts = None
        for _ in range(3):  # the torch that is picked decides about other builds, and they may ask for another torch
            found = self._solve(facts)
            torch = found[_TORCH].chosen if _TORCH in found else None
            again = facts_of_torch(torch.version, self._asked.target.arch, self._asked.builds) if torch else None
            if again is None or (facts is not None and again.torch == facts.torch):
                break
            facts = again
        return found

    def _solve(self, facts: BuildFacts | None) -> dict[str, Selection]:
        provider = _Provider(self._asked, facts, self._requires)
        roots = [_Want(w.name, w.specifier, "the request") for w in self._asked.wanted.values()]
        try:
            result = Resolver(provider, BaseReporter()).resolve(roots, max_rounds=_MAX_ROUNDS)
        except ResolutionImpossible as error:
            raise _conflict(error.causes, facts, provider) from None
        except ResolutionTooDeep:
            raise Conflict((), f"{_MAX_ROUNDS} tries found no set") from None
        return {name: provider.selections[(name, wheel.version)] for name, wheel in result.mapping.items()}

    def _requires(self, wheel: ChosenWheel) -> Sequence[_Want]:
        """Return what a wheel wants of the other names, by its own metadata, for the target."""
        metadata = self.metadata_of(wheel)
        if metadata is None:
            return ()
        name = canonicalize_name(wheel.name)
        dist = Dist(name, wheel.version, metadata.requires_dist)
        extras: Mapping[str, frozenset[str]] = {str(name): self._asked.wanted[name].extras}
        found = wishes({name: dist}, frozenset(self._asked.wanted), extras, self._asked.target.markers())
        return [_Want(w.name, w.specifier, f"{name} {wheel.version}") for w in found if not w.specifier.startswith("@")]

    def metadata_of(self, wheel: ChosenWheel) -> WheelMetadata | None:
        """Return a wheel's metadata, None, with a warning, when it cannot be had."""
        if wheel.filename not in self.metadata:
            try:
                self.metadata[wheel.filename] = read_metadata(wheel.file(), self._http, self._cache_dir, offline=self._offline)
            except AccelError as error:
                self._warn(f"requirements of {wheel.name} {wheel.version} are unknown: {error.message}")
                return None
            said = disagreement(self.metadata[wheel.filename], wheel)
            if said:
                self._warn(said)
        return self.metadata[wheel.filename]

    def _warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)


def _conflict(causes: Iterable[RequirementInformation[Any, Any]], facts: BuildFacts | None, provider: _Provider) -> Conflict:
    clash = dict.fromkeys((c.requirement.name, c.requirement.specifier, c.requirement.by) for c in causes)
    name = next(iter(clash))[0]
    if facts is None or len(clash) > 1:
        return Conflict(tuple(clash))
    missed = provider.asked.select(name, provider.asked.wanted[name].specifier, facts)
    return Conflict(tuple(clash), f"no build of it goes with torch {facts.torch}: {missed.nearest or 'none fits'}")


def wanted_of(lines: Sequence[str], target: Target, variants: Mapping[str, str]) -> tuple[dict[str, Wanted], list[str]]:
    """Return the requirements by name, those of one name joined, and notes on those whose marker is false for the target.

    Raises:
        packaging.requirements.InvalidRequirement: a line is not PEP 508.
    """
    found: dict[str, Wanted] = {}
    notes = []
    for line in lines:
        parsed = Requirement(line)
        name = canonicalize_name(parsed.name)
        if parsed.marker is not None and not parsed.marker.evaluate({**target.markers(), "extra": ""}):
            notes.append(f"{line} is left out: its marker is false for the target")
            continue
        before = found.get(name, Wanted(name, "", variant=variants.get(name)))
        specifier = ",".join(s for s in (before.specifier, str(parsed.specifier)) if s)
        extras = before.extras | {canonicalize_name(extra) for extra in parsed.extras}
        found[name] = replace(before, specifier=specifier, extras=frozenset(extras))
    return found, notes
