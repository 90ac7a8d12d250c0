"""Ascend driver and firmware of a machine, from their version files. The SDK side has its own module.

A layer that is plainly not there is None; one that may be there but cannot be read is unknown with its reason.
"""

from __future__ import annotations

from collections.abc import Callable

from accel_install.facts.ascend_files import (
    AscendInstall,
    VersionFile,
    parse_ascend_install,
    parse_driver_info,
    parse_firmware_info,
)
from accel_install.facts.ascend_smi import SmiAnswer
from accel_install.facts.models import LayerFacts
from accel_install.host.base import Host

__all__ = ["ASCEND_ROOT", "INSTALL_INFO", "LayerAnswer", "driver_layer", "firmware_layer", "read_install_info"]

ASCEND_ROOT = "/usr/local/Ascend"
INSTALL_INFO = "/etc/ascend_install.info"
_INSTALL_INFO_LIMIT_BYTES = 1024  # as CANN's own reader, which refuses a symlink too

LayerAnswer = tuple[LayerFacts | None, dict[str, str]]
"""A layer, None when absent, and reasons for what is unknown by dotted field."""


def read_install_info(host: Host) -> AscendInstall:
    """Return what /etc/ascend_install.info records; nothing where it is absent, a symlink or something else."""
    if host.read_link(INSTALL_INFO) is not None:
        return AscendInstall()
    return parse_ascend_install(host.read_text(INSTALL_INFO, _INSTALL_INFO_LIMIT_BYTES) or "") or AscendInstall()


def driver_layer(host: Host, install: AscendInstall, smi: SmiAnswer, *, hidden: bool) -> LayerAnswer:
    """Return the driver. Without its file npu-smi's word counts; `hidden` says that a container may not show the file."""
    folder = f"{install.driver_root or ASCEND_ROOT}/driver"
    layer, unknown = _from_file(host, folder, parse_driver_info, "layers.driver")
    if layer is not None:
        return _with_loaded(layer, smi, install), unknown
    if smi.driver_version is not None:
        reason = unknown.get("layers.driver") or f"no {folder}/version.info"
        return LayerFacts(version=smi.driver_version, source="npu-smi info"), {"layers.driver.path": reason}
    if unknown:
        return None, unknown
    if install.driver_root is not None:
        reason = f"{INSTALL_INFO} records a driver, but {folder}/version.info is absent: a broken installation"
        return None, {"layers.driver": reason}
    if hidden:
        return None, {"layers.driver": f"no {folder}/version.info; a container shows the host's driver only when mapped"}
    return None, {}


def firmware_layer(host: Host, install: AscendInstall, *, container: bool) -> LayerAnswer:
    """Return the firmware, by its own five numbers. In a container an absent file proves nothing."""
    folder = f"{install.firmware_root or install.driver_root or ASCEND_ROOT}/firmware"
    layer, unknown = _from_file(host, folder, parse_firmware_info, "layers.firmware")
    if layer is not None or unknown:
        return layer, unknown
    if container:
        return None, {"layers.firmware": f"no {folder}/version.info (inside a container the file is often absent)"}
    if install.firmware_root is not None:
        reason = f"{INSTALL_INFO} records a firmware, but {folder}/version.info is absent: a broken installation"
        return None, {"layers.firmware": reason}
    return None, {}


def _from_file(
    host: Host, folder: str, parse: Callable[[str], VersionFile | None], name: str
) -> tuple[LayerFacts | None, dict[str, str]]:
    path = f"{folder}/version.info"
    text = host.read_text(path)
    if text is None:
        if host.exists(path):
            return None, {name: f"{path} cannot be read"}
        if host.list_dir(folder):
            return None, {name: f"{folder} is there without version.info: a broken or partial installation"}
        return None, {}
    found = parse(text)
    if found is None:
        return None, {name: f"{path} does not read as the version file of a {name.rpartition('.')[2]}"}
    unknown = {} if found.version else {f"{name}.version": f"{path} states no release"}
    return LayerFacts(version=found.version, path=folder, source=path, details=found.details), unknown


def _with_loaded(layer: LayerFacts, smi: SmiAnswer, install: AscendInstall) -> LayerFacts:
    """Note what the installer recorded, and a driver that runs in another version than the files (reboot pending)."""
    details = {**layer.details, **install.details}
    running, filed = smi.driver_version, layer.version
    if running is not None and filed is not None and not _same_release(running, filed):
        details["disagreement"] = f"{layer.source} says {filed}; npu-smi reports {running} as running (reboot pending?)"
    return layer.model_copy(update={"details": details})


def _same_release(one: str, other: str) -> bool:
    """Compare spellings: the tool may add a build (`25.3.rc1.b020`) that the file leaves out."""
    short, long = sorted((one.lower(), other.lower()), key=len)
    return long == short or long.startswith(short + ".")
