"""Values of the resolver: pages, files, choices, reasons. Pure data; fetching lives in `client`, choosing in `select`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = [
    "ChosenWheel",
    "IndexFile",
    "IndexPage",
    "LeftOut",
    "PredictedOverride",
    "Reason",
    "RejectedFile",
    "Resolution",
    "RowMisfit",
    "UnresolvedPackage",
]

Reason = Literal[
    "python-tag",
    "abi",
    "platform",
    "glibc",
    "yanked",
    "requires-python",
    "local-version",
    "abi-mismatch",
    "prerelease",
    "sdist-only",
    "variant",
    "wrong-index",
    "bad-filename",
    "not-a-wheel",
    "build-tag",
    "lower-tag",
    "version",
    "excluded",
]


@dataclass(frozen=True)
class IndexFile:
    """One link of a simple page.

    `url` is absolute; `sha256` None when the page gives none; `yanked` None when not yanked, else the reason (may be
    empty); `has_metadata` None when the page does not say whether `<url>.metadata` exists; `hashes` are other digests
    (`sha512=...`) of a file whose sha256 is not given; `metadata_sha256` is that of `<url>.metadata`.
    """

    filename: str
    url: str
    sha256: str | None = None
    size_bytes: int | None = None
    requires_python: str | None = None
    yanked: str | None = None
    upload_time: str | None = None
    has_metadata: bool | None = None
    hashes: tuple[str, ...] = ()
    metadata_sha256: str | None = None


@dataclass(frozen=True)
class IndexPage:
    """The files of one project on one named index. `digest` identifies the listing for stale-plan checks."""

    project: str
    index: str
    url: str
    files: tuple[IndexFile, ...]
    digest: str


@dataclass(frozen=True)
class ChosenWheel:
    """A wheel picked for the target. `bound` marks the accelerator-bound set (in contrast to the ordinary closure).

    `hashes` are other digests (`sha512=...`) where the index gives no sha256; `has_metadata` and `metadata_sha256` are as in
    `IndexFile`.
    """

    name: str
    version: str
    filename: str
    url: str
    index: str
    sha256: str | None
    size_bytes: int | None
    bound: bool = False
    hashes: tuple[str, ...] = ()
    has_metadata: bool | None = None
    metadata_sha256: str | None = None

    def file(self) -> IndexFile:
        """Return the file as a page lists it, as far as reading its metadata needs it."""
        return IndexFile(
            self.filename,
            self.url,
            self.sha256,
            self.size_bytes,
            has_metadata=self.has_metadata,
            hashes=self.hashes,
            metadata_sha256=self.metadata_sha256,
        )


@dataclass(frozen=True)
class RejectedFile:
    """A file of the wanted version that was not picked, with a reason computed from the file at hand."""

    name: str
    filename: str
    reason: Reason
    detail: str


@dataclass(frozen=True)
class UnresolvedPackage:
    """A distribution that could not be had.

    `reason` is `index-unreachable`, `index-forbidden`, `offline`, `not-published`, `half-published` (files for fewer
    platforms than the release before), `sdist-only`, `no-wheel` (files exist, none fits) or `conflict` (with what was asked
    for beside it). `alternatives` are versions that exist but violate the row (never taken silently); `detail` says why.
    """

    name: str
    version: str
    index: str
    reason: str
    detail: str
    alternatives: tuple[str, ...] = ()


@dataclass(frozen=True)
class PredictedOverride:
    """A requirement that loses: `by` (`vllm 0.23.0`) wants `wanted` (`==2.11.0`) of `package`, which is pinned.

    `pinned` is None for a package that is left out. `pinned_by` names what pins it (`vllm-ascend 0.23.0`, `row ...`).
    """

    package: str
    pinned: str | None
    wanted: str
    by: str
    pinned_by: str | None = None


@dataclass(frozen=True)
class LeftOut:
    """A distribution that a plain install would bring and this plan does not. `size_bytes` None when not computed."""

    name: str
    reason: str
    size_bytes: int | None = None


@dataclass(frozen=True)
class RowMisfit:
    """Why a row does not fit the target."""

    row_id: str
    detail: str
    rejected: tuple[RejectedFile, ...] = ()


@dataclass(frozen=True)
class Resolution:
    """The answer for one row and target.

    `snapshot` maps page URLs to listing digests (what the plan was bound to). `requires` maps canonical names of chosen
    wheels to their Requires-Dist lines as far as they were read.
    """

    row_id: str
    wheels: tuple[ChosenWheel, ...] = ()
    rejected: tuple[RejectedFile, ...] = ()
    unresolved: tuple[UnresolvedPackage, ...] = ()
    predicted_overrides: tuple[PredictedOverride, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    warnings: tuple[str, ...] = ()
    snapshot: dict[str, str] = field(default_factory=dict)
    requires: dict[str, tuple[str, ...]] = field(default_factory=dict)
    plain_install_bytes: int | None = None
