"""Accelerators on the PCI bus, from sysfs: no driver is needed yet.

Class 0x1200 is a processing accelerator; a bridge of the same vendor is not (source: vendor deployer, read 2026-12-01).
"""

from __future__ import annotations

from accel_install.facts.chips import pci_chip
from accel_install.facts.models import AcceleratorFacts
from accel_install.host.base import Host

__all__ = ["pci_accelerators"]

_DEVICES = "/sys/bus/pci/devices"
_ACCELERATOR_CLASS = "1200"


def pci_accelerators(host: Host) -> list[AcceleratorFacts]:
    """Return the known accelerators, by bus id. What cannot be read is not there."""
    found = []
    for bus_id in host.list_dir(_DEVICES):
        folder = f"{_DEVICES}/{bus_id}"
        vendor, device, kind = (_hex(host, f"{folder}/{name}") for name in ("vendor", "device", "class"))
        if vendor is None or device is None or kind is None or kind[:4] != _ACCELERATOR_CLASS:
            continue
        chip = pci_chip(vendor, device)
        if chip is not None:
            pci_id = f"{vendor}:{device}"
            found.append(AcceleratorFacts(vendor=chip[0], family=chip[1], pci_id=pci_id, bus_id=bus_id.lower()))
    return sorted(found, key=lambda card: card.bus_id or "")


def _hex(host: Host, path: str) -> str | None:
    text = (host.read_text(path, 64) or "").strip().lower()
    return text[2:] if text.startswith("0x") and len(text) > 2 else None
