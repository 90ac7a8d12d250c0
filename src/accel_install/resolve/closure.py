"""The ordinary closure as a question and an answer, behind a one-method protocol, with a cache of answers.

Running a solver lives in `closure_uv`; what is asked (roots, overrides, exclusions) is composed in `closure_loop`.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from accel_install.digests import digest_of
from accel_install.errors import ResolutionError
from accel_install.facts.target import Target
from accel_install.resolve.models import IndexFile

__all__ = ["CachedSolver", "ClosureAnswer", "ClosurePackage", "ClosureRequest", "ClosureSolver"]

_FORMAT = 1


@dataclass(frozen=True)
class ClosureRequest:
    """What a solver is asked.

    Attributes:
        requirements: PEP 508 roots.
        target: what markers and wheels are computed for.
        default_index: address of the only index the solver may use; None for the solver's own default.
        direct: (name, URL or path) of files that are fixed already, `#sha256=...` included; they win over every pin.
        version_overrides: PEP 508 requirements that replace everybody's.
        constraints: PEP 508 bounds that apply when the name occurs.
        excludes: names that are left out altogether.
        more_indexes: addresses that come before the default index; the first that lists a name owns it. Only `resolve`
            without a recipe has any.
        find_links: extra pages and folders.
        no_index: use no index at all.
    """

    requirements: tuple[str, ...]
    target: Target
    default_index: str | None = None
    direct: tuple[tuple[str, str], ...] = ()
    version_overrides: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    more_indexes: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    no_index: bool = False

    def digest(self) -> str:
        """Return the digest that the answer is cached under."""
        return digest_of({"format": _FORMAT, **asdict(self)})


@dataclass(frozen=True)
class ClosurePackage:
    """One solved distribution: name, version, and the files the solver would accept for the target."""

    name: str
    version: str
    files: tuple[IndexFile, ...] = ()


@dataclass(frozen=True)
class ClosureAnswer:
    """The solved set, by name."""

    packages: tuple[ClosurePackage, ...]

    def names(self) -> frozenset[str]:
        """Return the names of the solved set."""
        return frozenset(p.name for p in self.packages)


class ClosureSolver(Protocol):
    """Anything that can solve a closure."""

    def solve(self, request: ClosureRequest) -> ClosureAnswer:
        """Return the closure.

        Raises:
            ResolutionError: there is none (`resolve.no-solution`), or the solver failed.
            IndexUnavailableError: the index does not answer.
        """


class CachedSolver:
    """Remember answers, refusals included, for `ttl_s` seconds; offline answers of any age are taken.

    Args:
        inner: the solver that is asked when nothing is remembered.
        cache_dir: the tool's cache folder.
        ttl_s: age in seconds up to which an answer is taken.
        offline, refresh: touch no network; ask again despite the cache.
        now: the clock, in seconds.
    """

    def __init__(
        self,
        inner: ClosureSolver,
        cache_dir: Path,
        *,
        ttl_s: float = 600,
        offline: bool = False,
        refresh: bool = False,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._inner = inner
        self._folder = cache_dir / "closure"
        self._ttl_s = ttl_s
        self._offline = offline
        self._refresh = refresh
        self._now = now

    def solve(self, request: ClosureRequest) -> ClosureAnswer:
        """Return a remembered answer, or ask and remember. Raises what the inner solver raises."""
        path = self._path(request)
        remembered = self._load(path)
        return _answer_of(remembered) if remembered is not None else self._ask(request, path)

    def _ask(self, request: ClosureRequest, path: Path) -> ClosureAnswer:
        try:
            answer = self._inner.solve(request)
        except ResolutionError as error:
            if error.slug == "resolve.no-solution":
                self._store(path, {"error": error.to_dict()})
            raise
        self._store(path, {"packages": [asdict(p) for p in answer.packages]})
        return answer

    def _path(self, request: ClosureRequest) -> Path:
        return self._folder / f"{request.digest().removeprefix('sha256:')}.json"

    def _load(self, path: Path) -> dict[str, Any] | None:
        if self._refresh and not self._offline:
            return None
        try:
            value = json.loads(path.read_bytes())
            age_s = self._now() - float(value["time"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return value if self._offline or 0 <= age_s <= self._ttl_s else None

    def _store(self, path: Path, value: dict[str, Any]) -> None:
        temporary = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_text(json.dumps({"time": self._now(), **value}), "utf-8")
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)


def _answer_of(value: dict[str, Any]) -> ClosureAnswer:
    error = value.get("error")
    if error is not None:
        raise ResolutionError(
            error["slug"],
            error["message"],
            value=error["value"],
            expected=error["expected"],
            hint=error["hint"],
        )
    return ClosureAnswer(
        tuple(ClosurePackage(p["name"], p["version"], tuple(_file(f) for f in p["files"])) for p in value["packages"])
    )


def _file(value: dict[str, Any]) -> IndexFile:
    return IndexFile(**{**value, "hashes": tuple(value.get("hashes", ()))})
