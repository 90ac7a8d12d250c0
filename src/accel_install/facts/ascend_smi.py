"""`npu-smi info`, parsed by its separators and header words, never by columns. Pure; never raises.

Layouts (widths differ by release): A2 has an HBM column, A3 a Phy-ID column and two chips per NPU, 310P a Device column and
no HBM. Sources: public issues and monitors' test fixtures, collected 2026-12-01.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

__all__ = ["SmiAnswer", "SmiChip", "SmiLayout", "parse_npu_smi", "present"]

SmiLayout = Literal["hbm", "phy-id", "device"]

_Cells = list[list[str]]
_TITLE = re.compile(r"npu-smi\s+(\S+)\s+Version:\s*(\S+)")
_FAILURE = re.compile(r"dcmi mod\w+ initiali[sz]ed? failed\b.*?ret is (-\d+)", re.IGNORECASE | re.DOTALL)
_LIBRARY = re.compile(r"npu-smi: error while loading shared libraries: ([^:\s]+)")
_BUS_ID = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]", re.IGNORECASE)
_PAIR = re.compile(r"(\d+)\s*/\s*(\d+)")
_MIB = 1 << 20
_NOT_A_VALUE = frozenset({"", "-", "na", "n/a", "unknown"})
_CAUSES = {
    "-8005": "the driver is not loaded, there is no device, or permission is missing",
    "-8020": "a device is held by another container",
}


@dataclass(frozen=True)
class SmiChip:
    """A chip as the table shows it; what the table prints as `NA`, `N/A` or `-` is None.

    `device` is its device number where the table has one: `Phy-ID` on A3, `Device` on 310P.
    """

    npu: int
    chip: int
    device: int | None
    name: str | None
    health: str | None
    bus_id: str | None
    memory_bytes: int | None


@dataclass(frozen=True)
class SmiAnswer:
    """What npu-smi said: versions, layout, chips in the order of the table, or its failure in words."""

    tool_version: str | None = None
    driver_version: str | None = None
    layout: SmiLayout | None = None
    chips: tuple[SmiChip, ...] = ()
    failure: str | None = None


def parse_npu_smi(text: str) -> SmiAnswer:
    """Parse the output of `npu-smi info`. Text of another tool gives an empty answer."""
    layout, rows = _table(text)
    chips = tuple(_chips(rows)) if layout is not None else ()
    title = _TITLE.search(text)
    failure = None if chips else _failure(text)
    tool, driver = (present(part) for part in title.groups()) if title else (None, None)
    return SmiAnswer(tool, driver, layout, chips, failure)


def present(word: str | None) -> str | None:
    """Return a printed value, or None when it says that there is none (`NA`, `N/A`, `-`, `unknown`)."""
    return None if word is None or word.strip().lower() in _NOT_A_VALUE else word.strip()


def _failure(text: str) -> str | None:
    if (found := _FAILURE.search(text)) is not None:
        code = found.group(1)
        return f"npu-smi failed, ret is {code}: {_CAUSES.get(code, 'the management interface does not start')}"
    if (found := _LIBRARY.search(text)) is not None:
        return f"npu-smi failed: it cannot load {found.group(1)} (driver/lib64 is not mounted or not on the loader's path)"
    return None


def _table(text: str) -> tuple[SmiLayout | None, list[_Cells]]:
    """Return the layout and the rows below the header, up to the table of processes."""
    layout: SmiLayout | None = None
    named = False
    rows: list[_Cells] = []
    for cells in _rows(text):
        if any("Process" in cell for cell in cells):
            break
        if layout is not None:
            rows.append(cells)
        elif cells[0][:2] == ["NPU", "Name"]:
            named = True
        elif named and cells[0][:1] == ["Chip"]:
            layout = _layout(cells)
    return layout, rows


def _rows(text: str) -> Iterator[_Cells]:
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("|"):
            cells = [cell.split() for cell in stripped.strip("|").split("|")]
            if len(cells) > 1:
                yield cells


def _layout(header: _Cells) -> SmiLayout | None:
    words = [word for cell in header for word in cell]
    if "Phy-ID" in words:
        return "phy-id"
    if "Device" in words:
        return "device"
    return "hbm" if any(word.startswith("HBM-Usage") for word in words) else None


def _chips(rows: list[_Cells]) -> Iterator[SmiChip]:
    """Pair the rows: the first of a chip names it, the second has bus id and memory; a stray row is skipped."""
    upper: _Cells | None = None
    for cells in rows:
        first = cells[0]
        if len(cells) < 3 or not first or not first[0].isdigit():
            upper = None
        elif len(first) > 1 and not first[1].isdigit():
            upper = cells
        elif upper is not None:
            yield _chip(upper, cells)
            upper = None


def _chip(upper: _Cells, lower: _Cells) -> SmiChip:
    first, bus = lower[0], " ".join(lower[1])
    return SmiChip(
        npu=int(upper[0][0]),
        chip=int(first[0]),
        device=int(first[1]) if len(first) > 1 and first[1].isdigit() else None,
        name=present(" ".join(upper[0][1:])),
        health=present(" ".join(upper[1])),
        bus_id=bus.lower() if _BUS_ID.fullmatch(bus) else None,
        memory_bytes=_memory(" ".join(lower[2])),
    )


def _memory(text: str) -> int | None:
    """Return the total of the last used/total pair in bytes: HBM where there is one, else the chip's memory."""
    pairs = _PAIR.findall(text)
    total = int(pairs[-1][1]) if pairs else 0
    return total * _MIB if total else None
