"""Version files of the Ascend layers. Pure parsers of key=value and key : value texts; they never raise."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["atb_version", "driver_version", "firmware_version", "key_values", "toolkit_version", "version_cfg"]

_VERSION = re.compile(r"^v?\d+(\.[0-9A-Za-z_-]+)+$")
_CFG = re.compile(r"^(\w+?)_(running|installed)_version=((?:\[[^\]]*\],?)+)", re.MULTILINE)
_CFG_ENTRY = re.compile(r"\[([^:\]]+):([^\]]+)\]")


def key_values(text: str | None) -> dict[str, str]:
    """Return `key=value` or `key : value` pairs; other lines are skipped, the first of a key wins."""
    found: dict[str, str] = {}
    for line in (text or "").splitlines():
        match = re.match(r"\s*([A-Za-z][\w .-]*?)\s*(?:=|\s:\s)\s*(.*?)\s*$", line)
        if match is not None:
            found.setdefault(match.group(1), match.group(2))
    return found


def _as_version(text: str | None) -> str | None:
    return text if text and _VERSION.match(text) else None


def driver_version(keys: Mapping[str, str]) -> str | None:
    """Return the driver's release: `package_version` where it exists, else `Version` (in contrast to `ascendhal_version`).

    Some files have an internal `Version=7.35.23` and the release only in `package_version`.
    """
    return _as_version(keys.get("package_version")) or _as_version(keys.get("Version"))


def firmware_version(keys: Mapping[str, str]) -> str | None:
    """Return the firmware's own version (`7.7.0.1.231`), in contrast to the driver package it came with."""
    return _as_version(keys.get("Version"))


def toolkit_version(keys: Mapping[str, str]) -> str | None:
    """Return the public version of an install.info (`8.3.RC2`), or of a component's version.info (`version_dir`)."""
    return _as_version(keys.get("version")) or _as_version(keys.get("version_dir"))


def version_cfg(text: str | None) -> dict[str, str]:
    """Return the CANN version of each component named in a version.cfg (`runtime`, `opp_kernel`, ...)."""
    found: dict[str, str] = {}
    for component, _, entries in _CFG.findall(text or ""):
        versions = [public for _, public in _CFG_ENTRY.findall(entries)]
        if versions:
            found.setdefault(component, versions[-1])
    return found


def atb_version(keys: Mapping[str, str]) -> str | None:
    """Return the NNAL version that an atb version.info states (`Ascend-cann-atb : 8.2.RC2`)."""
    return _as_version(keys.get("Ascend-cann-atb")) or _as_version(keys.get("version"))
