"""Which chip is which: PCI ids, model names and card ids to families. Tables and pure look-ups, nothing is read here.

Sources: the vendor's deployer (PCI and subsystem ids), vllm-ascend issue 6676 (SoC names), both read 2026-12-01. Huawei's
ids are not in pci.ids.
"""

from __future__ import annotations

import re

__all__ = [
    "FAMILIES",
    "canonical_model",
    "family_of",
    "is_generic_model",
    "known_models",
    "pci_family",
    "pci_product",
    "pci_vendor",
    "vendor_of",
]

_HUAWEI = "19e5"

_VENDORS = {
    _HUAWEI: "huawei",
    "10de": "nvidia",
    "1002": "amd",
    "1ed5": "moore-threads",
    "9999": "metax",
    "cabc": "cambricon",
    "1d94": "hygon",
    "1ded": "t-head",
}

_HUAWEI_FAMILIES = {
    "d100": "310",
    "d105": "310b",
    "d107": "310b",
    "d500": "310p",
    "d801": "910",
    "d802": "910b",
    "d803": "910-93",
    "d806": "950",
}

_PRODUCTS = {
    ("d500", "0100"): "Atlas 300I Pro",
    ("d500", "0110"): "Atlas 300I Duo",
    ("d802", "3002"): "Atlas 800I A2",
    ("d802", "3004"): "Atlas 800I A2",
    ("d802", "3005"): "Atlas 800I A2",
    ("d802", "4000"): "Atlas 300I A2",
    ("d802", "6000"): "Atlas 300T A2",
    ("d803", "0100"): "Atlas 800I A3",
    ("d803", "3003"): "Atlas 800I A3",
    ("d803", "3000"): "Atlas 900 A3 Pod",
    ("d803", "3001"): "Atlas 900 A3 Pod",
    ("d803", "3002"): "Atlas 900 A3 Pod",
    ("d806", "4003"): "Atlas 350 A5",
    ("d806", "4004"): "Atlas 350 A5",
    ("d806", "4005"): "Atlas 350 A5",
}

FAMILIES: dict[str, tuple[str, ...]] = {
    "910b": ("910B", "910B1", "910B2", "910B2C", "910B3", "910B4", "910B4-1"),
    "910-93": ("910_9362", "910_9372", "910_9381", "910_9382", "910_9391", "910_9392"),
    "310p": ("310P", "310P1", "310P3", "310P5", "310P7"),
    "310b": ("310B", "310B1", "310B4"),
    "310": ("310",),
    "910": ("910A", "910ProA", "910ProB"),
    "950": ("950PR", "950DT"),
}

_PATTERNS = (
    (re.compile(r"910b([1-4]|2c|4-1)?|a2"), "910b"),
    (re.compile(r"910[_-]93(\d\d)?|910c|a3"), "910-93"),
    (re.compile(r"310p[1357]?"), "310p"),
    (re.compile(r"310b[1-4]?"), "310b"),
    (re.compile(r"310"), "310"),
    (re.compile(r"910(a|proa|prob)"), "910"),
    (re.compile(r"950((pr|dt)(_\d{4})?)?|a5"), "950"),
)
_PREFIX = re.compile(r"^ascend[ _-]?", re.IGNORECASE)
_GENERIC = frozenset({"910", "910b", "310p", "310b", "950", "910-93", "910_93", "910c", "a2", "a3", "a5"})
_BY_PLAIN_NAME = {model.lower(): model for models in FAMILIES.values() for model in models}


def pci_vendor(vendor: str) -> str | None:
    """Return the vendor's name for a PCI vendor id (four hex digits, lower case), or None."""
    return _VENDORS.get(vendor)


def pci_family(vendor: str, device: str) -> str | None:
    """Return the chip family of a PCI vendor and device id (hex without 0x, lower case), or None."""
    return _HUAWEI_FAMILIES.get(device) if vendor == _HUAWEI else None


def pci_product(vendor: str, device: str, subsystem: str) -> str | None:
    """Return the card or server that a subsystem device id names, in contrast to the chip on it, or None."""
    return _PRODUCTS.get((device, subsystem)) if vendor == _HUAWEI else None


def family_of(model: str) -> str | None:
    """Return the family of a model name in any spelling (`910B2`, `Ascend910B2`, `ascend910_9391`, `A3`), or None.

    `Ascend910` alone is None: first-generation cards and A3 both print it.
    """
    plain = _plain(model)
    return next((family for pattern, family in _PATTERNS if pattern.fullmatch(plain)), None)


def canonical_model(model: str) -> str:
    """Return a model name as the vendor's tool spells it (`ascend910b2` gives `910B2`); unknown names lose blanks only."""
    return _BY_PLAIN_NAME.get(_plain(model), _PREFIX.sub("", model.strip()) or model.strip())


def is_generic_model(model: str | None) -> bool:
    """Say whether a name states at most the family, so that a precise model does not contradict it."""
    return model is None or _plain(model) in _GENERIC


def vendor_of(family: str) -> str | None:
    """Return the vendor that makes a chip family, or None."""
    return "huawei" if family in FAMILIES else None


def known_models(family: str | None = None) -> list[str]:
    """Return the model names of a family, or of all families, in the order messages offer them."""
    chosen = FAMILIES.values() if family is None else [FAMILIES.get(family, ())]
    return [model for models in chosen for model in models]


def _plain(model: str) -> str:
    return _PREFIX.sub("", model.strip()).lower()
