"""Ascend layers and chips of a machine: version files first, npu-smi second. Every answer names its file or tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from accel_install.facts import ascend_files as files
from accel_install.facts.ascend_smi import SmiAnswer, parse_npu_smi
from accel_install.facts.chips import family_of
from accel_install.facts.models import AcceleratorFacts, LayerFacts, LayersFacts
from accel_install.host.base import Host

__all__ = ["ascend_layers", "ask_npu_smi", "merge_chips"]

_ROOT = "/usr/local/Ascend"
_INSTALL_INFO = "/etc/ascend_install.info"
_INSTALL_INFO_LIMIT_BYTES = 1024
_TOOLKITS = (f"{_ROOT}/cann", f"{_ROOT}/ascend-toolkit/latest")
_ARCH_DIRS = ("aarch64-linux", "x86_64-linux", "arm64-linux")
_KEPT = ("compatible_version_fw", "compatible_version_drv", "compatible_version", "Innerversion", "innerversion", "package_version")
_SMI_DIRS = ("/usr/local/sbin", "/usr/local/bin")
_SMI_TIMEOUT_S = 20
_KERNELS = "opp/built-in/op_impl/ai_core/tbe/kernel"


def ascend_layers(host: Host, container: bool | None) -> tuple[LayersFacts, dict[str, str]]:
    """Return the installed layers and the reasons for what is unknown. What is plainly absent is None and not unknown."""
    unknown: dict[str, str] = {}
    root = _driver_root(host)
    layers = LayersFacts(
        driver=_versioned(host, f"{root}/driver", files.driver_version, "layers.driver", unknown),
        firmware=_versioned(host, f"{root}/firmware", files.firmware_version, "layers.firmware", unknown),
        sdk=_toolkit(host, unknown),
        ops=_ops(host, unknown),
        nnal=_nnal(host, unknown),
    )
    if layers.firmware is None and "layers.firmware" not in unknown and container:
        unknown["layers.firmware"] = "no firmware/version.info; inside a container the file is often absent"
    return layers, unknown


def _driver_root(host: Host) -> str:
    keys = files.key_values(host.read_text(_INSTALL_INFO, _INSTALL_INFO_LIMIT_BYTES))
    path = keys.get("Driver_Install_Path_Param", "")
    return path.rstrip("/") if path.startswith("/") and ".." not in path else _ROOT


def _versioned(
    host: Host, folder: str, parse: Callable[[Mapping[str, str]], str | None], name: str, unknown: dict[str, str]
) -> LayerFacts | None:
    path = f"{folder}/version.info"
    text = host.read_text(path)
    if text is None:
        if host.exists(path):
            unknown[name] = f"{path} cannot be read"
        elif host.exists(folder) and host.list_dir(folder):
            unknown[name] = f"{folder} exists without version.info: a broken or partial installation"
        return None
    return _layer(parse(files.key_values(text)), folder, path, files.key_values(text), name, unknown)


def _layer(
    version: str | None, folder: str, path: str, keys: Mapping[str, str], name: str, unknown: dict[str, str]
) -> LayerFacts:
    if version is None:
        unknown[f"{name}.version"] = f"{path} states no version"
    return LayerFacts(version=version, path=folder, source=path, details={k: keys[k] for k in _KEPT if k in keys})


def _toolkit(host: Host, unknown: dict[str, str]) -> LayerFacts | None:
    for folder in _TOOLKITS:
        if not host.exists(folder):
            continue
        for arch in _ARCH_DIRS:
            path = f"{folder}/{arch}/ascend_toolkit_install.info"
            keys = files.key_values(host.read_text(path))
            if keys:
                return _with_components(host, _layer(files.toolkit_version(keys), folder, path, keys, "layers.sdk", unknown))
        return _toolkit_by_cfg(host, folder, unknown)
    return None


def _toolkit_by_cfg(host: Host, folder: str, unknown: dict[str, str]) -> LayerFacts | None:
    path = f"{folder}/version.cfg"
    components = files.version_cfg(host.read_text(path))
    version = components.get("toolkit") or components.get("runtime")
    if version is None:
        unknown["layers.sdk"] = f"{folder} exists, but neither install.info nor version.cfg says its version"
        return None
    return LayerFacts(version=version, path=folder, source=path)


def _with_components(host: Host, layer: LayerFacts) -> LayerFacts:
    """Note components whose own version differs from the install.info (seen: 9.2.0 beside 9.1.0 everywhere else)."""
    names = ("compiler", "runtime", "opp", "toolkit")
    found = {n: files.key_values(host.read_text(f"{layer.path}/{n}/version.info")).get("version_dir") for n in names}
    other = {n: v for n, v in found.items() if v is not None and v != layer.version}
    if not other:
        return layer
    text = ", ".join(f"{n} {v}" for n, v in other.items())
    return layer.model_copy(update={"details": {**layer.details, "disagreement": f"{layer.source} says {layer.version}; {text}"}})


def _ops(host: Host, unknown: dict[str, str]) -> LayerFacts | None:
    for folder in _TOOLKITS:
        if not host.exists(folder):
            continue
        for path in (f"{folder}/{a}/ascend_ops_install.info" for a in _ARCH_DIRS):
            keys = files.key_values(host.read_text(path))
            if keys:
                return _layer(files.toolkit_version(keys), folder, path, keys, "layers.ops", unknown)
        return _ops_by_kernels(host, folder, unknown)
    return None


def _ops_by_kernels(host: Host, folder: str, unknown: dict[str, str]) -> LayerFacts | None:
    kernels = [n for n in host.list_dir(f"{folder}/{_KERNELS}") if n.startswith("ascend")]
    if not kernels:
        return None
    path = f"{folder}/version.cfg"
    version = files.version_cfg(host.read_text(path)).get("opp_kernel")
    keys = {"chips": ", ".join(kernels)}
    if version is None:
        unknown["layers.ops.version"] = f"kernels for {keys['chips']} are there, but {path} does not say their version"
    return LayerFacts(version=version, path=f"{folder}/{_KERNELS}", source=path, details=keys)


def _nnal(host: Host, unknown: dict[str, str]) -> LayerFacts | None:
    folder = f"{_ROOT}/nnal/atb/latest"
    if not host.exists(folder):
        return None
    path = f"{folder}/version.info"
    keys = files.key_values(host.read_text(path))
    if not keys:
        unknown["layers.nnal"] = f"{folder} exists, but {path} is absent or unreadable"
        return None
    return _layer(files.atb_version(keys), folder, path, keys, "layers.nnal", unknown)


def ask_npu_smi(host: Host) -> tuple[SmiAnswer, str | None]:
    """Run npu-smi with a time limit. Return its answer, and why there is none: absent, failing and hanging differ."""
    tool = host.which("npu-smi", extra_dirs=_SMI_DIRS)
    if tool is None:
        return SmiAnswer(), "npu-smi was not found"
    if tool.is_dir():
        return SmiAnswer(), f"{tool} is a folder: a wrong mapping into this container"
    result = host.run([str(tool), "info"], timeout_s=_SMI_TIMEOUT_S)
    if result.timed_out:
        return SmiAnswer(), f"npu-smi did not answer within {_SMI_TIMEOUT_S} s (a wedged driver hangs it)"
    answer = parse_npu_smi(result.stdout + "\n" + result.stderr)
    if answer.failure is not None:
        return answer, answer.failure
    if not answer.chips:
        said = (result.stderr or result.stdout).strip().splitlines()
        return answer, f"npu-smi ended with {result.returncode} and listed no chip: {said[-1] if said else 'no output'}"
    return answer, None


def merge_chips(
    cards: list[AcceleratorFacts], smi: SmiAnswer, reason: str | None
) -> tuple[list[AcceleratorFacts], dict[str, str]]:
    """Join what the bus and npu-smi say, by bus id; without a readable bus (containers) npu-smi stands alone."""
    by_bus = {chip.bus_id: (n, chip) for n, chip in enumerate(smi.chips) if chip.bus_id}
    unknown: dict[str, str] = {}
    if not cards:
        found = [AcceleratorFacts(vendor="huawei", family=_family(smi, c.name), bus_id=c.bus_id) for c in smi.chips]
        return [_named(card, n, smi) for n, card in enumerate(found)], {}
    merged = []
    for place, card in enumerate(cards):
        hit = by_bus.get(card.bus_id or "")
        merged.append(card if hit is None else _named(card, hit[0], smi))
        if hit is None:
            why = reason or "npu-smi does not list this bus id"
            unknown |= {f"accelerators.{place}.{f}": why for f in ("model", "index", "memory_bytes", "health")}
    return merged, unknown


def _family(smi: SmiAnswer, name: str) -> str | None:
    """A3 prints only `Ascend910`: its table is told by the device number that every chip has."""
    if name.strip().lower() == "ascend910":
        return "910-93" if all(c.device is not None for c in smi.chips) else None
    return family_of(name)


def _named(card: AcceleratorFacts, place: int, smi: SmiAnswer) -> AcceleratorFacts:
    chip = smi.chips[place]
    return card.model_copy(
        update={
            "model": chip.name,
            "family": card.family or _family(smi, chip.name),
            "index": chip.device if chip.device is not None else place,
            "memory_bytes": chip.memory_bytes,
            "health": chip.health,
        }
    )
