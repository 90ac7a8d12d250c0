"""Which chip is which: PCI ids and model names to families. Tables and one pure look-up.

Sources: vendor deployer (PCI table), vllm-ascend issue 6676 (SoC names), read 2026-12-01. Huawei's ids are not in pci.ids.
"""

from __future__ import annotations

import re

__all__ = ["FAMILIES", "family_of", "known_models", "pci_chip"]

_PCI: dict[tuple[str, str], tuple[str, str]] = {
    ("19e5", "d100"): ("huawei", "310"),
    ("19e5", "d105"): ("huawei", "310b"),
    ("19e5", "d107"): ("huawei", "310b"),
    ("19e5", "d500"): ("huawei", "310p"),
    ("19e5", "d801"): ("huawei", "910"),
    ("19e5", "d802"): ("huawei", "910b"),
    ("19e5", "d803"): ("huawei", "910-93"),
    ("19e5", "d806"): ("huawei", "950"),
}

FAMILIES: dict[str, tuple[str, ...]] = {
    "910b": ("910B", "910B1", "910B2", "910B2C", "910B3", "910B4", "910B4-1"),
    "910-93": ("910_9362", "910_9372", "910_9381", "910_9382", "910_9391", "910_9392"),
    "310p": ("310P", "310P1", "310P3", "310P5", "310P7"),
    "310b": ("310B", "310B1", "310B4"),
    "910": ("910A", "910ProA", "910ProB"),
    "950": ("950PR", "950DT"),
}

_PATTERNS = (
    (re.compile(r"^910b[1-4]?c?(-\d)?$"), "910b"),
    (re.compile(r"^(910[_-]93(\d\d)?|a3)$"), "910-93"),
    (re.compile(r"^310p\d?$"), "310p"),
    (re.compile(r"^310b\d?$"), "310b"),
    (re.compile(r"^910(a|proa|prob)$"), "910"),
    (re.compile(r"^(950(pr|dt)?(_\d+)?|a5)$"), "950"),
)


def pci_chip(vendor: str, device: str) -> tuple[str, str] | None:
    """Return (vendor name, family) of a PCI vendor and device id (hex without 0x, lower case), or None."""
    return _PCI.get((vendor, device))


def family_of(model: str) -> str | None:
    """Return the family of a model name in any spelling (`910B2`, `Ascend910B2`, `ascend910_9391`), or None."""
    plain = re.sub(r"^ascend[ _-]?", "", model.strip().lower())
    return next((family for pattern, family in _PATTERNS if pattern.match(plain)), None)


def known_models() -> list[str]:
    """Return the model names that messages offer."""
    return [model for models in FAMILIES.values() for model in models]
