"""One file judged for a target: whether it fits, and if not, the reason computed from the file itself. Pure.

Which of the fitting files is taken is decided in `select`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from accel_install.facts.chips import family_of
from accel_install.facts.target import Target
from accel_install.resolve.build_tokens import BuildFacts, abi_misfit
from accel_install.resolve.filename import WheelName, belongs_to, is_sdist, sdist_version, wheel_of
from accel_install.resolve.models import IndexFile, Reason
from accel_install.resolve.tags import explain_misfit, tag_ranks
from accel_install.resolve.versions import asks_for_prerelease, label_fits, parse_version, pins_exactly, public_of, sort_key

__all__ = ["Candidate", "Misfit", "Wish", "candidates_of", "make_wish", "misfit_of", "rank_of"]

Misfit = tuple[Reason, str]

# only for telling which version an unusable file is of; it is never chosen
_GUESSED_VERSION = re.compile(r"-v?(\d+(?:\.\d+)*(?:(?:a|b|rc|\.post|\.dev)\d+)*)", re.I)


@dataclass(frozen=True)
class Wish:
    """What is asked for; see `select.select`."""

    name: str
    specifier: SpecifierSet
    target: Target
    local: str | None = None
    prereleases: bool = False
    exact: bool = False
    facts: BuildFacts | None = None
    variant: str | None = None


def make_wish(
    name: str,
    specifier: str,
    target: Target,
    *,
    local: str | None = None,
    prereleases: bool = False,
    facts: BuildFacts | None = None,
    variant: str | None = None,
) -> Wish:
    """Return a wish; a specifier that is not PEP 440 is taken as one version, as written."""
    try:
        parsed = SpecifierSet(specifier)
    except InvalidSpecifier:
        parsed = SpecifierSet(f"==={specifier.lstrip('=')}")
    admitted = prereleases or asks_for_prerelease(parsed)
    return Wish(canonicalize_name(name), parsed, target, local, admitted, pins_exactly(parsed), facts, variant)


@dataclass(frozen=True)
class Candidate:
    """A file of the project: `wheel` None for what is no wheel, with the reason in `bad`."""

    file: IndexFile
    version: str
    wheel: WheelName | None
    bad: Misfit | None = None
    public: str = field(default="")

    @property
    def identity(self) -> tuple[str, str, str]:
        """Return what makes equal candidates of two pages equal, whatever their order."""
        return self.file.filename, self.file.sha256 or "", self.file.url

    def order(self, wish: Wish) -> tuple[bool, tuple[bool, Version | str], bool, int, tuple[int, str], tuple[str, str, str]]:
        """Return what decides among fitting files of one version: plain before labelled, label, variant, tag, build."""
        assert self.wheel is not None  # noqa: S101 - only wheels are ordered
        special = bool(self.wheel.chips) or self.wheel.variant not in (None, "null")
        plain = self.wheel.local is None
        return plain, sort_key(self.version), special, -rank_of(self.wheel, wish.target), self.wheel.build, self.identity


def candidates_of(files: Iterable[IndexFile], name: str) -> list[Candidate]:
    """Return the project's files of a page, each file once."""
    mine = belongs_to(name)
    found = {(f.filename, f.sha256, f.url): f for f in files if mine.match(f.filename)}
    return [c for c in (_candidate(file, name) for file in found.values()) if c is not None]


def _candidate(file: IndexFile, name: str) -> Candidate | None:
    if file.filename.endswith(".whl"):
        try:
            wheel = wheel_of(file.filename, name)
        except ValueError as error:
            return _unusable(file, "bad-filename", str(error))
        return None if wheel is None else Candidate(file, wheel.version, wheel, public=public_of(wheel.version))
    version = sdist_version(file.filename, name)
    if version is not None:
        bad: Misfit = ("sdist-only", "a source distribution; only wheels are installed")
        return Candidate(file, version, None, bad, public_of(version))
    if is_sdist(file.filename):
        return None  # of another project whose name begins alike, or of no version
    return _unusable(file, "not-a-wheel", "neither a wheel nor a source distribution")


def _unusable(file: IndexFile, reason: Reason, detail: str) -> Candidate:
    guessed = _GUESSED_VERSION.search(file.filename)
    version = parse_version(guessed.group(1)) if guessed else None
    text = str(version) if version is not None else ""
    return Candidate(file, text, None, (reason, detail), public_of(text))


def rank_of(wheel: WheelName, target: Target) -> int:
    """Return the rank of a wheel's best tag for a target, 0 for the best there is, -1 when none fits."""
    ranks = tag_ranks(target)
    return min((ranks[t] for t in wheel.tags if t in ranks), default=-1)


def misfit_of(item: Candidate, wish: Wish) -> Misfit | None:
    """Return why a file cannot be taken, the nearest to fitting first; None when it can."""
    if item.bad is not None or item.wheel is None:
        return item.bad or ("not-a-wheel", "no wheel")
    wheel, file = item.wheel, item.file
    if rank_of(wheel, wish.target) < 0:
        return explain_misfit(wheel.tags, wish.target)
    if wish.local is not None and not label_fits(wheel.local, wish.local):
        have = f"+{wheel.local}" if wheel.local else "no local label"
        return "local-version", f"{have}; the build must be +{wish.local}"
    return _variant_misfit(wheel, wish) or _abi_misfit(item, wish) or _page_misfit(file, wish)


def _variant_misfit(wheel: WheelName, wish: Wish) -> Misfit | None:
    if wheel.chips and not any(_is_chip_of(chip, wish.target) for chip in wheel.chips):
        return "variant", f"for the chips {', '.join(wheel.chips)}; {_chip_text(wish.target)}"
    label = wheel.variant
    if label is None or label == "null":  # the label of a build for no special hardware
        wanted = wish.variant
        return None if wanted is None else ("variant", f"no variant label; the build must be the variant {wanted}")
    if label == wish.variant or (wish.variant is None and _is_chip_of(label, wish.target)):
        return None
    asked = (
        f"the variant {wish.variant} is asked for" if wish.variant else f"no variant is asked for, and {_chip_text(wish.target)}"
    )
    return "variant", f"the variant {label}; {asked}"


def _chip_text(target: Target) -> str:
    chip = target.accelerator or target.family
    return f"the target has {chip}" if chip else "the target's accelerator is not stated"


def _is_chip_of(chip: str, target: Target) -> bool:
    """Say whether a chip's name in any spelling is the target's model, or its family's."""
    model = target.accelerator or ""
    if chip.lower() in re.split(r"[\s_-]+", model.lower()) or chip.lower() == model.lower():
        return True
    family = family_of(chip)
    return family is not None and family == target.family


def _abi_misfit(item: Candidate, wish: Wish) -> Misfit | None:
    said = abi_misfit(wish.name, item.version, wish.facts)
    return None if said is None else ("abi-mismatch", said)


def _page_misfit(file: IndexFile, wish: Wish) -> Misfit | None:
    if file.requires_python and not python_fits(file.requires_python, wish.target):
        return "requires-python", f"requires Python {file.requires_python}, the target has {wish.target.python}"
    if file.yanked is not None and not wish.exact:
        return "yanked", f"yanked: {file.yanked or 'no reason given'}"
    return None


def python_fits(requires: str, target: Target) -> bool:
    """Judge by the newest patch release of the target's line, so that `!=3.11.0` does not refuse all of 3.11."""
    try:
        return SpecifierSet(requires).contains(f"{target.python}.99", prereleases=True)
    except InvalidSpecifier:
        return True


def newest_first(versions: Iterable[str]) -> Sequence[str]:
    """Return versions in PEP 440 order, newest first, each once."""
    return sorted(set(versions), key=sort_key, reverse=True)
