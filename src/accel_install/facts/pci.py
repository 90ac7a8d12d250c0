"""Accelerators on the PCI bus, from sysfs: no driver is needed yet.

Class 0x1200 is a processing accelerator; bridges and network cards of the same vendors are not (source: the vendor's
deployer, read 2026-12-01). A chip that no table knows is still a fact: it is listed, its family unknown.
"""

from __future__ import annotations

from dataclasses import dataclass

from accel_install.facts.chips import pci_family, pci_product, pci_vendor
from accel_install.facts.models import AcceleratorFacts
from accel_install.host.base import Host

__all__ = ["PCI_DEVICES", "PciDevice", "pci_accelerator", "scan_pci"]

PCI_DEVICES = "/sys/bus/pci/devices"
_ACCELERATOR_CLASS = "1200"
_ID_LIMIT_BYTES = 64


@dataclass(frozen=True)
class PciDevice:
    """A device as sysfs shows it; ids are hex digits without 0x in lower case, `subsystem` is None when not stated."""

    bus_id: str
    vendor: str
    device: str
    subsystem: str | None


def scan_pci(host: Host) -> list[PciDevice]:
    """Return the processing accelerators on the bus by bus id. What cannot be read is not there."""
    devices = (_device(host, name) for name in host.list_dir(PCI_DEVICES))
    return sorted((d for d in devices if d is not None), key=lambda d: d.bus_id)


def pci_accelerator(device: PciDevice) -> tuple[AcceleratorFacts, dict[str, str]]:
    """Return what the ids alone tell of an accelerator, and reasons by field for what they do not."""
    vendor, family = pci_vendor(device.vendor), pci_family(device.vendor, device.device)
    pci_id = f"{device.vendor}:{device.device}"
    unknown = {}
    if vendor is None:
        unknown["vendor"] = f"PCI vendor {device.vendor} is not in the table of accelerator vendors"
    if family is None:
        unknown["family"] = f"PCI id {pci_id} is not in the table of chips"
    product = pci_product(device.vendor, device.device, device.subsystem or "")
    facts = AcceleratorFacts(vendor=vendor, family=family, pci_id=pci_id, bus_id=device.bus_id, product=product)
    return facts, unknown


def _device(host: Host, bus_id: str) -> PciDevice | None:
    folder = f"{PCI_DEVICES}/{bus_id}"
    kind = _hex(host, f"{folder}/class")
    if kind is None or kind[:4] != _ACCELERATOR_CLASS:
        return None
    vendor, device = _hex(host, f"{folder}/vendor"), _hex(host, f"{folder}/device")
    if vendor is None or device is None:
        return None
    return PciDevice(bus_id.lower(), vendor, device, _hex(host, f"{folder}/subsystem_device"))


def _hex(host: Host, path: str) -> str | None:
    text = (host.read_text(path, _ID_LIMIT_BYTES) or "").strip().lower()
    return text[2:] if text.startswith("0x") and len(text) > 2 else None
