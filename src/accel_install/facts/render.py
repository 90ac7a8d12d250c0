"""Facts as lines for people. Pure."""

from __future__ import annotations

from collections import Counter

from accel_install.facts.models import MachineFacts

__all__ = ["facts_rows"]


def facts_rows(facts: MachineFacts) -> list[tuple[str, str]]:
    """Return (name, value) rows; what is unknown says why."""
    rows = [
        ("system", facts.os.name or _why(facts, "os")),
        ("arch", facts.arch or _why(facts, "arch")),
        ("libc", _libc(facts)),
        ("kernel", facts.kernel or _why(facts, "kernel")),
        ("memory", f"{facts.memory_bytes / 1e9:.1f} GB" if facts.memory_bytes else _why(facts, "memory_bytes")),
        ("container", {True: "yes", False: "no", None: _why(facts, "container")}[facts.container]),
        ("python", _python(facts)),
        ("accelerators", _accelerators(facts)),
    ]
    for name in ("driver", "firmware", "sdk", "ops", "nnal"):
        layer = getattr(facts.layers, name)
        if layer is None:
            unknown = facts.unknown.get(f"layers.{name}")
            rows.append((name, f"unknown: {unknown}" if unknown else "not installed"))
        else:
            rows.append((name, f"{layer.version or _why(facts, f'layers.{name}.version')}  ({layer.source})"))
    rows += [(f"free {f.mount}", f"{(f.free_bytes or 0) / 1e9:.1f} GB") for f in facts.filesystems]
    shown = {"os", "arch", "glibc", "kernel", "memory_bytes", "container", "python", "accelerators"}
    rest = {k: v for k, v in facts.unknown.items() if k not in shown and not k.startswith("layers.")}
    rows += [(f"unknown {reason}", ", ".join(keys)) for reason, keys in _by_reason(rest).items()]
    return rows


def _why(facts: MachineFacts, field: str) -> str:
    return f"unknown: {facts.unknown.get(field, 'not stated')}"


def _libc(facts: MachineFacts) -> str:
    if facts.glibc:
        return f"glibc {facts.glibc}"
    return f"musl {facts.musl}" if facts.musl else _why(facts, "glibc")


def _python(facts: MachineFacts) -> str:
    python = facts.python
    return f"{python.version} ({python.abi}, {python.executable})" if python.version else _why(facts, "python")


def _accelerators(facts: MachineFacts) -> str:
    if not facts.accelerators:
        return _why(facts, "accelerators") if "accelerators" in facts.unknown else "none"
    kinds = Counter((a.model or f"{a.family} ({a.pci_id})", a.health or "health unknown") for a in facts.accelerators)
    return ", ".join(f"{count} x {model}, {health}" for (model, health), count in kinds.items())


def _by_reason(unknown: dict[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, reason in unknown.items():
        found.setdefault(reason, []).append(key)
    return found
