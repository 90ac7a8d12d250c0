"""The step graph of a recipe. The only user of networkx, which is imported late: it costs more than all else here."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence

from accel_install.recipe.models import StepSpec

__all__ = ["circles", "ordered_steps", "problems", "warm_up"]


def warm_up() -> None:
    """Begin to import networkx in the background, while the network is waited for."""
    threading.Thread(target=importlib.import_module, args=("networkx",), daemon=True).start()


def problems(steps: Sequence[StepSpec]) -> list[str]:
    """Return what is wrong with the graph: needs on unknown steps, one circle of each knot. Empty when it is sound.

    A knot of n steps can hold more circles than anyone can read (or count), so one of each is named.
    """
    known = {s.id for s in steps}
    unknown = [f"step {s.id} needs {n}, which does not exist" for s in steps for n in s.needs if n not in known]
    return unknown + [f"steps need each other in a circle: {' -> '.join(circle)}" for circle in circles(steps)]


def circles(steps: Sequence[StepSpec]) -> list[list[str]]:
    """Return one circle of step ids, its first repeated at the end, for every set of steps that need each other."""
    if _is_layered(steps):
        return []
    import networkx as nx

    known = {s.id: n for n, s in enumerate(steps)}
    graph: nx.DiGraph[str] = nx.DiGraph((n, s.id) for s in steps for n in s.needs if n in known)
    found = []
    for knot in nx.strongly_connected_components(graph):
        start = min(knot, key=known.__getitem__)
        if len(knot) > 1 or graph.has_edge(start, start):
            edges = nx.find_cycle(nx.DiGraph([e for e in graph.edges if knot.issuperset(e)]), start)
            found.append([edges[0][0], *(edge[1] for edge in edges)])
    return sorted(found, key=lambda circle: known[circle[0]])


def _is_layered(steps: Sequence[StepSpec]) -> bool:
    """Say whether every step names only steps above it: the usual case, and no circle is possible (saves the import)."""
    place = {s.id: n for n, s in enumerate(steps)}
    return len(place) == len(steps) and all(place.get(need, -1) < n for n, s in enumerate(steps) for need in s.needs)


def ordered_steps(steps: Sequence[StepSpec]) -> list[StepSpec]:
    """Return the steps so that each comes after what it needs, otherwise in file order.

    Raises:
        ValueError: the graph has a cycle, or a step needs one that does not exist (loaders report both before).
    """
    import networkx as nx

    place = {s.id: n for n, s in enumerate(steps)}
    by_id = {s.id: s for s in steps}
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(place)
    graph.add_edges_from((n, s.id) for s in steps for n in s.needs)
    missing = set(graph) - set(place)
    if missing:
        raise ValueError(f"steps need what does not exist: {', '.join(sorted(missing))}")
    try:
        return [by_id[i] for i in nx.lexicographical_topological_sort(graph, key=place.__getitem__)]
    except nx.NetworkXUnfeasible as error:
        raise ValueError("the steps need each other in a circle") from error
