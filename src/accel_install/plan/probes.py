"""Facts about a system layer as a probe. Pure; shared by the plan builder and the step kinds."""

from __future__ import annotations

from accel_install.facts.models import LayerFacts, MachineFacts
from accel_install.plan.models import Probe

__all__ = ["layer_probe_of"]


def layer_probe_of(layer: str, facts: MachineFacts) -> Probe:
    """Return what the facts say of a layer (`driver`, `firmware`, `sdk`, `ops`, `nnal`)."""
    found: LayerFacts | None = getattr(facts.layers, layer, None)
    if found is None:
        reason = facts.unknown.get(f"layers.{layer}") or facts.unknown.get("layers")
        return Probe(state="absent", detail="not found") if reason is None else Probe(state="unknown", detail=reason)
    return Probe(state="present", version=found.version, owner="vendor", detail=found.path or found.source or "")
