"""`npu-smi info`, parsed by its separators and header words, never by columns. Pure; never raises.

Layouts: A2 (HBM column), A3 (Phy-ID column, two chips per NPU), 310P (Device column, no HBM). Widths differ by release.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["SmiAnswer", "SmiChip", "parse_npu_smi"]

_TITLE = re.compile(r"npu-smi\s+(\S+)\s+Version:\s*(\S+)")
_FAILURE = re.compile(r"(dcmi mod\w+ init\w* failed.*?ret is (-\d+))", re.IGNORECASE | re.DOTALL)
_BUS_ID = re.compile(r"^[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]$", re.IGNORECASE)
_PAIR = re.compile(r"(\d+)\s*/\s*(\d+)")
_MIB = 1 << 20
_FAILURES = {
    "-8005": "the driver is not loaded, no device is there, or permission is missing",
    "-8020": "a device is held by another container",
}


@dataclass(frozen=True)
class SmiChip:
    """A chip as the table shows it. `device` is its number for torch where the table has one (Phy-ID, Device)."""

    npu: int
    chip: int
    device: int | None
    name: str
    health: str | None
    bus_id: str | None
    memory_bytes: int | None


@dataclass(frozen=True)
class SmiAnswer:
    """What npu-smi said: versions, chips in the order of the table, or the failure in words."""

    tool_version: str | None = None
    driver_version: str | None = None
    chips: list[SmiChip] = field(default_factory=list)
    failure: str | None = None


def parse_npu_smi(text: str) -> SmiAnswer:
    """Parse the output of `npu-smi info`. Text of another tool gives an empty answer."""
    failure = _FAILURE.search(text)
    if failure is not None:
        why = _FAILURES.get(failure.group(2), "the driver's management interface does not start")
        return SmiAnswer(failure=f"npu-smi: ret is {failure.group(2)}: {why}")
    title = _TITLE.search(text)
    if title is None:
        return SmiAnswer()
    return SmiAnswer(title.group(1), title.group(2), _chips(text))


def _chips(text: str) -> list[SmiChip]:
    chips: list[SmiChip] = []
    upper: list[list[str]] | None = None
    for line in text.splitlines():
        cells = [cell.split() for cell in line.strip().strip("|").split("|")] if line.lstrip().startswith("|") else []
        if len(cells) < 3:
            if "Process id" in line:
                break
            continue
        if _is_process_header(cells):
            break
        upper = _take(cells, upper, chips)
    return chips


def _is_process_header(cells: list[list[str]]) -> bool:
    return any("Process" in cell for cell in cells)


def _take(cells: list[list[str]], upper: list[list[str]] | None, chips: list[SmiChip]) -> list[list[str]] | None:
    """Take one row: the first of a chip names it, the second has bus id and memory."""
    first, second, third = cells[0], cells[1], cells[2]
    if not first or not first[0].isdigit():
        return None
    if upper is None:
        return cells if len(first) > 1 and not first[1].isdigit() else None
    bus = second[0] if second and _BUS_ID.match(second[0]) else None
    device = int(first[1]) if len(first) > 1 and first[1].isdigit() else None
    chips.append(
        SmiChip(
            npu=int(upper[0][0]),
            chip=int(first[0]),
            device=device,
            name=" ".join(upper[0][1:]),
            health=upper[1][0] if upper[1] else None,
            bus_id=bus.lower() if bus else None,
            memory_bytes=_memory(" ".join(third)),
        )
    )
    return None


def _memory(text: str) -> int | None:
    """Return the total of the last used/total pair: HBM where there is one, else the chip's memory."""
    pairs = _PAIR.findall(text)
    total = int(pairs[-1][1]) if pairs else 0
    return total * _MIB if total else None
