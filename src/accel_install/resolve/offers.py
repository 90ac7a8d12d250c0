"""Where a project's files are, without a recipe: extra pages first, then the first index that lists it, and no other.

The first index that lists a project owns it; what other indexes hold of it is only told, as `wrong-index`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from accel_install.errors import IndexUnavailableError
from accel_install.facts.target import Target
from accel_install.resolve.bound import Pages
from accel_install.resolve.index_errors import reason_of
from accel_install.resolve.judge import candidates_of
from accel_install.resolve.models import IndexFile, RejectedFile
from accel_install.resolve.select import Selection, select

__all__ = ["Offer", "Offers"]

_JOBS = 12


@dataclass(frozen=True)
class Offer:
    """What there is of a project.

    Attributes:
        name: canonical.
        index: the index that owns it, "" when none lists it.
        files: of that index.
        extra: files of extra pages and folders, by label, in the order they were given.
        elsewhere: files of indexes that do not own it.
        trouble: why it is not known who owns it, with the word for it.
        asked: the names of the indexes asked.
    """

    name: str
    index: str = ""
    files: tuple[IndexFile, ...] = ()
    extra: tuple[tuple[str, tuple[IndexFile, ...]], ...] = ()
    elsewhere: tuple[tuple[str, tuple[IndexFile, ...]], ...] = ()
    trouble: tuple[str, str] | None = None
    asked: tuple[str, ...] = ()

    def sources(self) -> list[tuple[str, tuple[IndexFile, ...]]]:
        """Return (label, files) in the order of preference."""
        return [*self.extra, *([(self.index, self.files)] if self.index else [])]

    def wrong_index(self, version: str | None, target: Target, taken_from: str) -> list[RejectedFile]:
        """Return the files of a version that another index holds; `taken_from` is "" when none fits."""
        passed = [(label, files) for label, files in self.sources() if taken_from and label != taken_from]
        others = [*self.elsewhere, *passed]
        found = []
        for index, files in others:
            for item in candidates_of(files, self.name):
                if item.public == version:
                    owner = taken_from or self.index
                    detail = f"on index `{index}`; {self.name} is taken from `{owner}` only"
                    found.append(RejectedFile(self.name, item.file.filename, "wrong-index", detail))
        return found


class Offers:
    """Pages of the given indexes by project.

    Args:
        pages: for reading, remembering which index is out of reach.
        indexes: names in the order of their claim.
        owners: project (canonical) to the index that it must come from, whatever the order says.
        offline: whether the network must not be touched.
    """

    def __init__(self, pages: Pages, indexes: Sequence[str], owners: Mapping[str, str], offline: bool = False) -> None:
        self._pages, self._indexes, self._owners, self._offline = pages, tuple(indexes), owners, offline

    def of(self, names: Sequence[str]) -> dict[str, Offer]:
        """Return the offers of projects, read in parallel."""
        if not names:
            return {}
        with ThreadPoolExecutor(max_workers=min(_JOBS, len(names))) as pool:
            return dict(zip(names, pool.map(self._one, names), strict=True))

    def _one(self, name: str) -> Offer:
        try:
            extra = self._extra(name)
        except IndexUnavailableError as error:
            return Offer(name, trouble=(reason_of(error, self._offline), error.message), asked=("find-links",))
        wanted = self._owners.get(name)
        found: list[tuple[str, tuple[IndexFile, ...]]] = []
        trouble: tuple[str, str] | None = None
        owner = wanted or ""
        for index in self._indexes:
            try:
                page = self._pages.page(index, name)
            except IndexUnavailableError as error:
                if index == wanted or not (owner or trouble):
                    trouble = (reason_of(error, self._offline), error.message)
                continue
            if page is not None and page.files:
                owner = owner or index
                found.append((index, page.files))
        files = next((files for index, files in found if index == owner), ())
        elsewhere = tuple(pair for pair in found if pair[0] != owner)
        return Offer(name, owner if files else "", files, extra, elsewhere, trouble, self._indexes)

    def _extra(self, name: str) -> tuple[tuple[str, tuple[IndexFile, ...]], ...]:
        by_label: dict[str, list[IndexFile]] = {}
        for label, file in self._pages.extra_files(name):
            by_label.setdefault(label, []).append(file)
        return tuple((label, tuple(files)) for label, files in by_label.items())


def best_of(offer: Offer, specifier: str, target: Target, **wish: object) -> Selection:
    """Return the selection of the first source that has a fitting file, else that of the owner (or the last extra page)."""
    selections = [
        select(files, offer.name, specifier, target, index=label, **wish)  # type: ignore[arg-type]
        for label, files in offer.sources()
    ]
    hit = next((s for s in selections if s.chosen is not None), None)
    if hit is not None or not selections:
        return hit or Selection(None, nearest="this version is not published")
    return replace(selections[-1], rejected=tuple(r for s in selections for r in s.rejected))
