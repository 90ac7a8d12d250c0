"""Version files of the Ascend layers: pure parsers, one per kind of file. They never raise.

A text of another kind gives None, so a file that lies in the wrong place is not taken for a version. Sources: files shown in
public issues, documents and scripts, collected 2026-12-01.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = [
    "AscendInstall",
    "VersionFile",
    "key_values",
    "parse_ascend_install",
    "parse_component_info",
    "parse_driver_info",
    "parse_firmware_info",
    "parse_nnal_info",
    "parse_ops_install",
    "parse_toolkit_install",
    "parse_version_cfg",
]

_VERSION = re.compile(r"\d+(\.[0-9A-Za-z_-]+)+")
_FIVE_NUMBERS = re.compile(r"\d+(\.\d+){4}")
_EQUALS = re.compile(r"\s*([A-Za-z]\w*)\s*=\s*(.*?)\s*")
_COLON = re.compile(r"\s*([A-Za-z][\w -]*?)\s+:\s+(.*?)\s*")
_CFG = re.compile(r"^(\w+?)_(running|upgrade|installed)_version=((?:\[[^\]\n]*\][, ]*)+)\s*$", re.MULTILINE)
_CFG_ENTRY = re.compile(r"\[([^:\]]+):([^\]]+)\]")
_DRIVER_MARKS = frozenset({"ascendhal_version", "compatible_version_fw", "Innerversion", "tsfw_version"})
_FIRMWARE_MARKS = frozenset({"firmware_version", "compatible_version_drv"})
_OTHER_MARKS = frozenset({"version_dir", "package_name"})
_KEPT = (
    "compatible_version_fw",
    "compatible_version_drv",
    "compatible_version",
    "Innerversion",
    "innerversion",
    "package_version",
    "package_name",
    "arch",
)
_INSTALL_KEPT = (
    "UserName",
    "UserGroup",
    "Driver_Install_Type",
    "Driver_Install_For_All",
    "Driver_Install_Status",
    "Firmware_Install_Type",
)


@dataclass(frozen=True)
class VersionFile:
    """What a version file states: the public version, and what compatibility rules read, under the vendor's own keys."""

    version: str | None
    details: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class AscendInstall:
    """What /etc/ascend_install.info records: the roots of driver and firmware, None where not recorded."""

    driver_root: str | None = None
    firmware_root: str | None = None
    details: dict[str, str] = field(default_factory=dict)


def key_values(text: str) -> dict[str, str]:
    """Return the `key=value` lines; other lines are skipped, the first of a key wins, quotes are taken off."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _EQUALS.fullmatch(line)
        if match is not None:
            found.setdefault(match.group(1), match.group(2).strip('"'))
    return found


def parse_driver_info(text: str) -> VersionFile | None:
    """Parse driver/version.info. The release is `package_version` where it exists, else `Version`.

    `ascendhal_version` is another number; a `Version` that repeats it (7.35.23) is not a driver release.
    """
    keys = key_values(text)
    bare = keys.get("Version", "")
    if not bare and "package_version" not in keys:
        return None
    if keys.keys() & (_FIRMWARE_MARKS | _OTHER_MARKS):
        return None
    if not keys.keys() & _DRIVER_MARKS and _FIVE_NUMBERS.fullmatch(bare):
        return None
    internal = bare == keys.get("ascendhal_version")
    return VersionFile(_version(keys.get("package_version")) or (None if internal else _version(bare)), _details(keys))


def parse_firmware_info(text: str) -> VersionFile | None:
    """Parse firmware/version.info. The version is the firmware's own five numbers (`7.7.0.1.231`).

    `package_version` beside it is the driver bundle the firmware came with; drivers list the five numbers as accepted.
    """
    keys = key_values(text)
    if keys.keys() & (_DRIVER_MARKS | _OTHER_MARKS):
        return None
    own = _version(keys.get("Version"))
    if not keys.keys() & _FIRMWARE_MARKS and not (own and _FIVE_NUMBERS.fullmatch(own)):
        return None
    return VersionFile(own or _version(keys.get("package_version")), _details(keys))


def parse_ascend_install(text: str) -> AscendInstall | None:
    """Parse /etc/ascend_install.info; a root that is not a plain absolute path counts as not recorded."""
    keys = key_values(text)
    if not any(key.startswith(("Driver_Install_", "Firmware_Install_")) for key in keys):
        return None
    return AscendInstall(
        driver_root=_root(keys.get("Driver_Install_Path_Param")),
        firmware_root=_root(keys.get("Firmware_Install_Path_Param")),
        details={key: keys[key] for key in _INSTALL_KEPT if key in keys},
    )


def parse_toolkit_install(text: str) -> VersionFile | None:
    """Parse ascend_toolkit_install.info of the CANN toolkit, in contrast to that of nnae, nnrt or the ops."""
    keys = key_values(text)
    package = keys.get("package_name")
    if "version" not in keys or ("toolkit" not in package.lower() if package else "innerversion" not in keys):
        return None
    return VersionFile(_version(keys["version"]), _details(keys))


def parse_ops_install(text: str) -> VersionFile | None:
    """Parse ascend_ops_install.info; the package's name says the chip (`Ascend-cann-910b-ops`)."""
    keys = key_values(text)
    package = keys.get("package_name", "").lower()
    if "version" not in keys or not re.search(r"(ops|kernels)\b", package):
        return None
    return VersionFile(_version(keys["version"]), _details(keys))


def parse_component_info(text: str) -> str | None:
    """Return the CANN version that a component's version.info states as `version_dir`; its `Version` is internal."""
    return _version(key_values(text).get("version_dir"))


def parse_version_cfg(text: str) -> dict[str, tuple[str, ...]]:
    """Return the CANN versions of each component (`runtime`, `opp_kernel`) of a version.cfg, as running if stated."""
    found: dict[str, tuple[str, ...]] = {}
    for wanted in ("running", "installed", "upgrade"):
        for component, state, entries in _CFG.findall(text):
            public = tuple(version.strip() for _, version in _CFG_ENTRY.findall(entries))
            if state == wanted and public:
                found.setdefault(component, public)
    return found


def parse_nnal_info(text: str) -> VersionFile | None:
    """Parse nnal/atb/latest/version.info, whose lines are `key : value` (in contrast to MindIE's file of that form)."""
    lines = (_COLON.fullmatch(line) for line in text.splitlines())
    keys = {match.group(1): match.group(2) for match in lines if match is not None}
    if "Ascend-cann-atb" not in keys:
        return None
    kept = {key: keys[key] for key in ("Ascend-cann-atb Version", "Platform") if key in keys}
    return VersionFile(_version(keys["Ascend-cann-atb"]), kept)


def _details(keys: Mapping[str, str]) -> dict[str, str]:
    return {key: keys[key] for key in _KEPT if keys.get(key)}


def _version(text: str | None) -> str | None:
    return text if text and _VERSION.fullmatch(text) else None


def _root(text: str | None) -> str | None:
    plain = (text or "").rstrip("/")
    return plain if plain.startswith("/") and ".." not in plain.split("/") else None
