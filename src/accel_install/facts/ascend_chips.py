"""Ascend chips of a machine: the PCI bus first, npu-smi second, device nodes where neither is to be seen.

Every chip is one accelerator, also where two sit on one card. A tool that is absent, one that fails and one that prints `NA`
are three different reasons.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accel_install.errors import AccelError
from accel_install.facts.ascend_smi import SmiAnswer, SmiChip, parse_npu_smi
from accel_install.facts.chips import family_of
from accel_install.facts.models import AcceleratorFacts
from accel_install.host.base import Host

__all__ = ["Chip", "SmiReport", "ask_npu_smi", "join_chips", "node_chips"]

_SMI_DIRS = ("/usr/local/sbin", "/usr/local/bin")
_SMI_TIMEOUT_S = 20
_SMI_FIELDS = ("model", "index", "memory_bytes", "health")
_LIBRARIES = ("driver/lib64", "driver/lib64/common", "driver/lib64/driver")
_NODE = re.compile(r"davinci(\d+)")

Chip = tuple[AcceleratorFacts, dict[str, str]]
"""An accelerator, and the reasons for its unknown fields by field name."""


@dataclass(frozen=True)
class SmiReport:
    """npu-smi's answer, and why there is none: `reason` is None when it listed chips."""

    answer: SmiAnswer
    reason: str | None = None
    present: bool = True


def ask_npu_smi(host: Host, driver_root: str, environ: Mapping[str, str]) -> SmiReport:
    """Run `npu-smi info` with a time limit and the driver's libraries on the loader's path.

    Args:
        host: the machine; below a root only its own tool is run.
        driver_root: folder that holds `driver`.
        environ: variables of this process; its LD_LIBRARY_PATH is kept behind the driver's.
    """
    tool = host.which("npu-smi", extra_dirs=_SMI_DIRS)
    if tool is None:
        folder = next((f"{d}/npu-smi" for d in _SMI_DIRS if _is_folder(host, f"{d}/npu-smi")), None)
        reason = f"{folder} is a folder: a wrong mapping into this container" if folder else "npu-smi was not found"
        return SmiReport(SmiAnswer(), reason, present=False)
    result = host.run([str(tool), "info"], timeout_s=_SMI_TIMEOUT_S, env=_loader_path(host, driver_root, environ))
    if result.timed_out:
        return SmiReport(SmiAnswer(), f"npu-smi did not answer within {_SMI_TIMEOUT_S} s (a wedged driver hangs it)")
    answer = parse_npu_smi(f"{result.stdout}\n{result.stderr}")
    if answer.chips:
        return SmiReport(answer)
    said = (result.stderr.strip() or result.stdout.strip()).splitlines()
    ending = f"npu-smi ended with {result.returncode} and listed no chip: {said[-1].strip() if said else 'no output'}"
    return SmiReport(answer, answer.failure or ending)


def join_chips(cards: Sequence[Chip], smi: SmiReport, *, container: bool) -> list[Chip]:
    """Join bus and tool by bus id.

    A card that two chips share is listed twice. In a container sysfs shows all cards of the host: there the tool decides
    which are ours. Chips that the bus does not show (no sysfs, bus id `NA`) stand on the tool's word alone.
    """
    answer = smi.answer
    by_bus: dict[str | None, list[SmiChip]] = {}
    for chip in answer.chips:
        by_bus.setdefault(chip.bus_id, []).append(chip)
    nameless = by_bus.pop(None, [])
    joined: list[Chip] = []
    alone: list[Chip] = []
    for card in cards:
        chips = by_bus.pop(card[0].bus_id, [])
        joined += [_named(card, chip, answer) for chip in chips]
        if not chips:
            alone.append(card)
    if len(nameless) == len(alone):
        joined += [_named(card, chip, answer) for card, chip in zip(alone, nameless, strict=True)]
        alone, nameless = [], []
    unseen = [chip for chips in by_bus.values() for chip in chips]
    joined += [_named(_off_bus(chip), chip, answer) for chip in [*unseen, *nameless]]
    if not (container and answer.chips):
        joined += [_untold(card, smi.reason or "npu-smi does not list this bus id") for card in alone]
    return sorted(joined, key=lambda item: (item[0].bus_id or "~", item[0].index or 0))


def node_chips(host: Host, reason: str) -> list[Chip]:
    """Return one chip per /dev/davinci<N>, of which nothing else is known: mapped into a container without the tool."""
    numbers = sorted(int(m.group(1)) for name in host.list_dir("/dev") if (m := _NODE.fullmatch(name)))
    fields = ("family", "model", "pci_id", "bus_id", "memory_bytes", "health")
    return [(AcceleratorFacts(vendor="huawei", index=n), dict.fromkeys(fields, reason)) for n in numbers]


def _loader_path(host: Host, root: str, environ: Mapping[str, str]) -> dict[str, str]:
    folders = [str(host.path(f"{root}/{name}")) for name in _LIBRARIES if host.exists(f"{root}/{name}")]
    inherited = environ.get("LD_LIBRARY_PATH")
    return {"LD_LIBRARY_PATH": ":".join([*folders, *([inherited] if inherited else [])])} if folders else {}


def _is_folder(host: Host, path: str) -> bool:
    try:
        return host.path(path).is_dir()
    except (OSError, AccelError):
        return False


def _off_bus(chip: SmiChip) -> Chip:
    why = "npu-smi names a bus id that sysfs does not show" if chip.bus_id else "npu-smi prints no bus id"
    unknown = {"pci_id": why} if chip.bus_id else {"pci_id": why, "bus_id": why}
    return AcceleratorFacts(vendor="huawei", bus_id=chip.bus_id), unknown


def _named(card: Chip, chip: SmiChip, answer: SmiAnswer) -> Chip:
    facts, unknown = card
    told = {
        "model": chip.name,
        "health": chip.health,
        "memory_bytes": chip.memory_bytes,
        "index": _index(chip, answer),
        "family": family_of(chip.name or "") or facts.family or _family_by_layout(answer),
    }
    reasons = {name: f"npu-smi prints no {name} for this chip" for name, value in told.items() if value is None}
    if told["index"] is None:
        reasons["index"] = "the table of npu-smi has no device numbers"
    if told["family"] is None:
        reasons["family"] = f"npu-smi prints only `{chip.name}`, which several families share"
    kept = {name: reason for name, reason in unknown.items() if name not in told}
    return facts.model_copy(update=told), {**kept, **reasons}


def _untold(card: Chip, reason: str) -> Chip:
    facts, unknown = card
    why = reason if facts.vendor == "huawei" else f"no tool of vendor {facts.vendor or facts.pci_id} is read"
    return facts, {**unknown, **dict.fromkeys(_SMI_FIELDS, why)}


def _index(chip: SmiChip, answer: SmiAnswer) -> int | None:
    """Return the device number: its own column, or on A2, where each NPU is one chip, the NPU id (/dev/davinci<id>)."""
    if chip.device is not None:
        return chip.device
    single = len({c.npu for c in answer.chips}) == len(answer.chips)
    return chip.npu if answer.layout == "hbm" and single else None


def _family_by_layout(answer: SmiAnswer) -> str | None:
    """Only A3 has the Phy-ID column; its chips are called plain `Ascend910`."""
    return "910-93" if answer.layout == "phy-id" else None
