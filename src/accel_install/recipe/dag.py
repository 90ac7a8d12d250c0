"""The step graph of a recipe. The only user of networkx, which is imported late: it costs more than all else here."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence

from accel_install.recipe.models import StepSpec

__all__ = ["ordered_steps", "problems", "warm_up"]


def warm_up() -> None:
    """Begin to import networkx in the background, while the network is waited for."""
    threading.Thread(target=importlib.import_module, args=("networkx",), daemon=True).start()


def problems(steps: Sequence[StepSpec]) -> list[str]:
    """Return what is wrong with the graph: needs on unknown steps, cycles. Empty when it is sound."""
    import networkx as nx

    known = {s.id for s in steps}
    found = [f"step {s.id} needs {n}, which does not exist" for s in steps for n in s.needs if n not in known]
    graph: nx.DiGraph[str] = nx.DiGraph((n, s.id) for s in steps for n in s.needs if n in known)
    found += [f"steps need each other in a circle: {' -> '.join([*c, c[0]])}" for c in nx.simple_cycles(graph)]
    return found


def ordered_steps(steps: Sequence[StepSpec]) -> list[StepSpec]:
    """Return the steps so that each comes after what it needs, otherwise in file order.

    Raises:
        ValueError: the graph has a cycle (loaders report it before).
    """
    import networkx as nx

    place = {s.id: n for n, s in enumerate(steps)}
    by_id = {s.id: s for s in steps}
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(place)
    graph.add_edges_from((n, s.id) for s in steps for n in s.needs)
    try:
        return [by_id[i] for i in nx.lexicographical_topological_sort(graph, key=place.__getitem__)]
    except nx.NetworkXUnfeasible as error:
        raise ValueError("the steps need each other in a circle") from error
