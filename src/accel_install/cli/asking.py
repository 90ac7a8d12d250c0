"""Wiring of `resolve`: options to target, indexes and requirements, and the closure where it is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from accel_install.cli.options import RunOptions
from accel_install.cli.session import Session
from accel_install.cli.wiring import situation
from accel_install.errors import UsageError
from accel_install.facts.target import Target
from accel_install.fetch.urls import scrub
from accel_install.resolve.answer import Answer

__all__ = ["Asked", "Request", "ask"]


@dataclass(frozen=True)
class Request:
    """The arguments of one `resolve`: requirement lines, `NAME=PKG[,PKG]`, `PKG=LABEL`, and flags."""

    requirements: tuple[str, ...]
    package_index: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    deps: bool = False
    all_files: bool = False


@dataclass(frozen=True)
class Asked:
    """The answer, what it was for, and the names that were asked for (the rest is closure)."""

    answer: Answer
    target: Target
    names: tuple[str, ...]


def ask(given: RunOptions, request: Request) -> Asked:
    """Answer a request.

    Raises:
        UsageError: an argument is malformed. MachineError: the target is not known.
    """
    from accel_install.recipe.builds import load_builds
    from accel_install.resolve.answer import answer
    from accel_install.resolve.ask import wanted_of
    from accel_install.resolve.bound import Pages
    from accel_install.resolve.dead_indexes import DeadIndexes
    from accel_install.resolve.offers import Offers

    session = Session(given)
    about = situation(session)
    names = _index_names(given)
    variants = {str(canonicalize_name(k)): v.lower() for k, v in _pairs(request.variants, "--variant", "PKG=LABEL")}
    _check_lines(request.requirements)
    wanted, notes = wanted_of(request.requirements, about.target, variants)
    client = session.index_client({})
    memory = DeadIndexes(session.cache_dir / "unreachable", client.config.url_of, 0.0)
    offers = Offers(Pages(client, memory), names, _owners(request, names), given.offline)
    found = answer(
        wanted,
        offers,
        about.target,
        load_builds(),
        session.http,
        session.cache_dir,
        offline=given.offline,
        all_files=request.all_files,
    )
    if request.deps and not found.unresolved:
        from accel_install.resolve.ask_closure import with_closure
        from accel_install.resolve.closure_uv import UvSolver

        solver = UvSolver(session.cache_dir, offline=given.offline, refresh=given.refresh)
        addresses = [url for name in names if (url := client.config.url_of(name)) is not None]
        found = with_closure(found, wanted, offers, about.target, addresses, client.config.find_links, solver)
    return Asked(replace(found, warnings=(*notes, *about.notes, *found.warnings)), about.target, tuple(wanted))


def _index_names(given: RunOptions) -> list[str]:
    """Return the given indexes in their order; the default one only when nothing else is given."""
    named = list(dict.fromkeys(option.partition("=")[0] for option in given.index))
    return named or ([] if given.find_links else ["default"])


def _check_lines(lines: Iterable[str]) -> None:
    for line in lines:
        try:
            why = "it names a URL" if Requirement(line).url is not None else ""
        except InvalidRequirement as error:
            why = str(error).splitlines()[0]
        if why:
            raise UsageError(
                "usage.requirement",
                f"a requirement cannot be read: {why}",
                value=scrub(line),
                expected="NAME with extras, version specifiers (=== for a version that is not PEP 440) and a marker",
                hint="accel-install resolve 'torch==2.10.0'",
            )


def _pairs(options: Iterable[str], option: str, shape: str) -> list[tuple[str, str]]:
    found = []
    for text in options:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise UsageError("usage.pair", f"{option} takes {shape}", value=text, expected=shape)
        found.append((name, value))
    return found


def _owners(request: Request, names: list[str]) -> dict[str, str]:
    owners: dict[str, str] = {}
    for index, packages in _pairs(request.package_index, "--package-index", "NAME=PKG[,PKG]"):
        if index not in names:
            raise UsageError(
                "usage.package-index",
                "--package-index names an index that is not given",
                value=index,
                expected=", ".join(names) or "an index",
                hint=f"--index {index}=URL",
            )
        owners.update({str(canonicalize_name(p.strip())): index for p in packages.split(",") if p.strip()})
    return owners
