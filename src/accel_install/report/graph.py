"""A plan as a graph: Graphviz dot and Mermaid. Node names are step ids; labels carry the decision."""

from __future__ import annotations

from accel_install.plan.models import Plan

__all__ = ["to_dot", "to_mermaid"]


def _quote(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


def to_dot(plan: Plan) -> str:
    """Return the plan as a Graphviz digraph."""
    lines = [f'digraph "{_quote(plan.recipe)}" {{', "  rankdir=LR;", "  node [shape=box];"]
    for step in plan.steps:
        lines.append(f'  "{_quote(step.id)}" [label="{_quote(step.title)}\\n{step.decision}"];')
    for step in plan.steps:
        lines.extend(f'  "{_quote(need)}" -> "{_quote(step.id)}";' for need in step.needs)
    return "\n".join([*lines, "}"]) + "\n"


def to_mermaid(plan: Plan) -> str:
    """Return the plan as a Mermaid flowchart."""
    names = {step.id: f"s{n}" for n, step in enumerate(plan.steps)}
    lines = ["flowchart LR"]
    for step in plan.steps:
        label = f"{step.title}<br/>{step.decision}".replace('"', "#quot;")
        lines.append(f'  {names[step.id]}["{label}"]')
    for step in plan.steps:
        lines.extend(f"  {names[need]} --> {names[step.id]}" for need in step.needs)
    return "\n".join(lines) + "\n"
