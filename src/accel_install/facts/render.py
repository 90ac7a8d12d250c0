"""Facts as lines for people. Pure; the command line prints them."""

from __future__ import annotations

from collections import Counter

from accel_install.facts.models import AcceleratorFacts, LayerFacts, LayersFacts, MachineFacts

__all__ = ["facts_rows"]

_SHOWN = frozenset({"os", "arch", "glibc", "kernel", "memory_bytes", "container", "python", "accelerators"})


def facts_rows(facts: MachineFacts) -> list[tuple[str, str]]:
    """Return (name, value) rows; what is unknown says why, equal reasons share a row."""
    rows = [
        ("system", facts.os.name or _system(facts)),
        ("arch", facts.arch or _why(facts, "arch")),
        ("libc", _libc(facts)),
        ("kernel", facts.kernel or _why(facts, "kernel")),
        ("memory", _gigabytes(facts.memory_bytes) or _why(facts, "memory_bytes")),
        ("container", _yes_no(facts.container) or _why(facts, "container")),
        ("python", _python(facts)),
        *_accelerators(facts),
    ]
    for name in LayersFacts.model_fields:
        rows += _layer(facts, name, getattr(facts.layers, name))
    rows += [(f"free {f.mount}", _gigabytes(f.free_bytes) or "unknown") for f in facts.filesystems]
    rows += [(f"${name}", value) for name, value in facts.environment.items()]
    rest = {key: why for key, why in facts.unknown.items() if key not in _SHOWN and not key.startswith("layers.")}
    return rows + [("unknown", f"{', '.join(keys)}: {why}") for why, keys in _by_reason(rest).items()]


def _why(facts: MachineFacts, field: str) -> str:
    """Say why a field is unknown: by its own reason, else by that of a parent."""
    parts = field.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    reason = next((facts.unknown[name] for name in names if name in facts.unknown), None)
    return f"unknown: {reason}" if reason else "unknown"


def _system(facts: MachineFacts) -> str:
    return " ".join(part for part in (facts.os.id, facts.os.version_id) if part) or _why(facts, "os")


def _libc(facts: MachineFacts) -> str:
    if facts.glibc:
        return f"glibc {facts.glibc}"
    return f"musl {facts.musl}" if facts.musl else _why(facts, "glibc")


def _gigabytes(count: int | None) -> str | None:
    return None if count is None else f"{count / 1e9:.1f} GB"


def _yes_no(value: bool | None) -> str | None:
    return None if value is None else ("yes" if value else "no")


def _python(facts: MachineFacts) -> str:
    python = facts.python
    if python.version is None:
        return _why(facts, "python")
    about = ", ".join(part for part in (python.abi, python.executable) if part)
    return f"{python.version} ({about})" if about else python.version


def _accelerators(facts: MachineFacts) -> list[tuple[str, str]]:
    if not facts.accelerators:
        known = "accelerators" not in facts.unknown
        return [("accelerators", "none" if known else _why(facts, "accelerators"))]
    kinds = Counter(_card(card) for card in facts.accelerators)
    return [("accelerators", f"{count} x {text}") for text, count in kinds.items()]


def _card(card: AcceleratorFacts) -> str:
    name = card.model or (f"family {card.family}" if card.family else "of unknown model")
    memory = _gigabytes(card.memory_bytes)
    about = (card.vendor, name, card.product, card.pci_id, memory, card.health or "health unknown")
    return ", ".join(part for part in about if part)


def _layer(facts: MachineFacts, name: str, layer: LayerFacts | None) -> list[tuple[str, str]]:
    if layer is None:
        field = f"layers.{name}"
        return [(name, _why(facts, field) if facts.is_unknown(field) else "not installed")]
    version = layer.version or _why(facts, f"layers.{name}.version")
    rows = [(name, f"{version}  ({layer.source})" if layer.source else version)]
    note = layer.details.get("disagreement")
    return [*rows, ("", f"note: {note}")] if note else rows


def _by_reason(unknown: dict[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, reason in unknown.items():
        found.setdefault(reason, []).append(key)
    return found
