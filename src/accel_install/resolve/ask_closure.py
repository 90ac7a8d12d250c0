"""The closure around the picks of `resolve --deps`: solved by uv over the given indexes, each file picked by our selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from accel_install.errors import AccelError, IndexUnavailableError
from accel_install.facts.target import Target
from accel_install.resolve.answer import Answer
from accel_install.resolve.ask import Wanted
from accel_install.resolve.closure import ClosureRequest, ClosureSolver
from accel_install.resolve.models import ChosenWheel, RejectedFile, UnresolvedPackage
from accel_install.resolve.offers import Offers, best_of

__all__ = ["with_closure"]


def with_closure(
    found: Answer,
    wanted: Mapping[str, Wanted],
    offers: Offers,
    target: Target,
    addresses: Sequence[str],
    find_links: Sequence[str],
    solver: ClosureSolver,
) -> Answer:
    """Return the answer with the closure's wheels after those that were asked for.

    Args:
        found: the picks, all of them there.
        wanted: for the extras.
        offers: where files of other projects are.
        target: for what.
        addresses: of the given indexes, the first one first.
        find_links: extra pages and folders, paths absolute.
        solver: for the closure.

    Raises:
        AccelError: the solver itself failed (a full disk, say), in contrast to finding no set.
    """
    request = ClosureRequest(
        requirements=tuple(_root(w, wanted) for w in found.wheels),
        target=target,
        default_index=addresses[-1] if addresses else None,
        direct=tuple((w.name, f"{w.url}#sha256={w.sha256}" if w.sha256 else w.url) for w in found.wheels),
        more_indexes=tuple(addresses[:-1]),
        find_links=tuple(find_links),
        no_index=not addresses,
    )
    try:
        solved = solver.solve(request)
    except AccelError as error:
        reason = "index-unreachable" if isinstance(error, IndexUnavailableError) else "conflict"
        if reason == "conflict" and error.slug != "resolve.no-solution":
            raise
        said = f"{error.message}: {error.value}" if error.value else error.message
        names = ", ".join(w.name for w in found.wheels)
        return replace(found, unresolved=(UnresolvedPackage(f"closure of {names}", "", "", reason, said),))
    picked = {w.name for w in found.wheels}
    return _joined(found, {p.name: p.version for p in solved.packages if p.name not in picked}, offers, target)


def _root(wheel: ChosenWheel, wanted: Mapping[str, Wanted]) -> str:
    extras = sorted(wanted[wheel.name].extras)
    return f"{wheel.name}[{','.join(extras)}]=={wheel.version}" if extras else f"{wheel.name}=={wheel.version}"


def _joined(found: Answer, versions: Mapping[str, str], offers: Offers, target: Target) -> Answer:
    wheels: list[ChosenWheel] = []
    holes: list[UnresolvedPackage] = []
    rejected: list[RejectedFile] = []
    for name, offer in offers.of(sorted(versions)).items():
        picked = best_of(offer, f"=={versions[name]}", target)
        if picked.chosen is not None:
            wheels.append(picked.chosen)
        else:
            said = picked.nearest or (offer.trouble or ("", "no file fits the target"))[1]
            holes.append(UnresolvedPackage(name, versions[name], offer.index, "no-wheel", said))
            rejected += picked.rejected
    return replace(
        found,
        wheels=(*found.wheels, *wheels),
        unresolved=(*found.unresolved, *holes),
        rejected=(*found.rejected, *rejected),
    )
