"""CANN toolkit, its ops (kernels) and NNAL of a machine, in the layouts before and after 8.5.

Before: `ascend-toolkit/latest`; from 8.5 on: `cann` links to `cann-<version>`, and `ascend-toolkit/latest` to `cann`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from accel_install.facts.ascend import ASCEND_ROOT, LayerAnswer
from accel_install.facts.ascend_files import (
    VersionFile,
    parse_component_info,
    parse_nnal_info,
    parse_ops_install,
    parse_toolkit_install,
    parse_version_cfg,
)
from accel_install.facts.models import LayerFacts
from accel_install.host.base import Host

__all__ = ["nnal_layer", "ops_layer", "sdk_layer", "toolkit_folder"]

_ARCH_DIRS = ("aarch64-linux", "x86_64-linux", "arm64-linux")
_COMPONENTS = ("compiler", "runtime", "opp", "toolkit")
_KERNELS = "opp/built-in/op_impl/ai_core/tbe/kernel"
_PARTIAL = ("nnae", "nnrt")


def toolkit_folder(host: Host, environ: Mapping[str, str]) -> str | None:
    """Return the toolkit's folder: the system's, else the one the environment names, else the user's, else None."""
    return next((folder for folder in _toolkit_folders(environ) if host.exists(folder)), None)


def sdk_layer(host: Host, folder: str | None) -> LayerAnswer:
    """Return the CANN toolkit below a folder.

    The install.info decides; where its components state another version, that stands in `details["disagreement"]`.
    """
    if folder is None:
        partial = [name for name in _PARTIAL if host.exists(f"{ASCEND_ROOT}/{name}/latest")]
        reason = f"only {' and '.join(partial)} is there, not the toolkit; it cannot be upgraded to one"
        return None, {"layers.sdk": reason} if partial else {}
    components = _components(host, folder)
    for arch in _arch_dirs(host):
        path = f"{folder}/{arch}/ascend_toolkit_install.info"
        found = parse_toolkit_install(host.read_text(path) or "")
        if found is not None:
            return _checked(host, folder, path, found, components)
    return _by_components(host, folder, components)


def ops_layer(host: Host, folder: str | None) -> LayerAnswer:
    """Return the ops package (kernels before 8.5): its install.info, else the kernel folders and version.cfg."""
    if folder is None:
        return None, {}
    chips = [name for name in host.list_dir(f"{folder}/{_KERNELS}") if name.startswith("ascend")]
    details = {"chips": ", ".join(chips)} if chips else {}
    for arch in _arch_dirs(host):
        path = f"{folder}/{arch}/ascend_ops_install.info"
        found = parse_ops_install(host.read_text(path) or "")
        if found is not None:
            layer = LayerFacts(version=found.version, path=folder, source=path, details={**found.details, **details})
            return layer, {} if found.version else {"layers.ops.version": f"{path} states no version"}
    version, source = _ops_version(host, folder)
    if version is None and not chips:
        return None, {}
    where = f"{folder}/{_KERNELS}" if chips else folder
    unknown = {} if version else {"layers.ops.version": f"kernels for {details['chips']} are there, no file says their version"}
    return LayerFacts(version=version, path=where, source=source or where, details=details), unknown


def nnal_layer(host: Host, environ: Mapping[str, str]) -> LayerAnswer:
    """Return NNAL (ATB): its version file, and which C++ ABIs it offers (they must match torch's)."""
    folder = next((f for f in _nnal_folders(environ) if host.exists(f)), None)
    if folder is None:
        return None, {}
    path = f"{folder}/version.info"
    found = parse_nnal_info(host.read_text(path) or "")
    if found is None:
        return None, {"layers.nnal": f"{folder} is there, but {path} is absent or no version file of NNAL"}
    abis = [name[-1] for name in host.list_dir(f"{folder}/atb") if name in ("cxx_abi_0", "cxx_abi_1")]
    details = {**found.details, **({"cxx_abi": ", ".join(abis)} if abis else {}), **_set_env(host, folder)}
    layer = LayerFacts(version=found.version, path=folder, source=path, details=details)
    return layer, {} if found.version else {"layers.nnal.version": f"{path} states no version"}


def _toolkit_folders(environ: Mapping[str, str]) -> Iterator[str]:
    yield from (f"{ASCEND_ROOT}/cann", f"{ASCEND_ROOT}/ascend-toolkit/latest")
    yield from (path for name in ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH") if _absolute(path := environ.get(name, "")))
    if _absolute(home := environ.get("HOME", "")):
        yield from (f"{home}/Ascend/cann", f"{home}/Ascend/ascend-toolkit/latest")


def _nnal_folders(environ: Mapping[str, str]) -> Iterator[str]:
    yield f"{ASCEND_ROOT}/nnal/atb/latest"
    if _absolute(named := environ.get("ATB_HOME_PATH", "")):
        yield str(PurePosixPath(named).parent.parent)  # <latest>/atb/cxx_abi_<n>
    if _absolute(home := environ.get("HOME", "")):
        yield f"{home}/Ascend/nnal/atb/latest"


def _absolute(path: str) -> bool:
    return path.startswith("/") and ".." not in path.split("/")


def _arch_dirs(host: Host) -> list[str]:
    """Return the per-arch folders, this machine's first: a toolkit for cross builds holds another one, too."""
    return sorted(_ARCH_DIRS, key=lambda name: name != f"{host.arch()}-linux")


def _components(host: Host, folder: str) -> dict[str, str]:
    found = {n: parse_component_info(host.read_text(f"{folder}/{n}/version.info") or "") for n in _COMPONENTS}
    return {name: version for name, version in found.items() if version is not None}


def _checked(host: Host, folder: str, path: str, found: VersionFile, components: Mapping[str, str]) -> LayerAnswer:
    details = {**found.details, **_set_env(host, folder)}
    other = ", ".join(f"{name} {version}" for name, version in components.items() if version != found.version)
    if other and found.version:
        details["disagreement"] = f"{path} says {found.version}; its components say {other}"
    layer = LayerFacts(version=found.version, path=folder, source=path, details=details)
    return layer, {} if found.version else {"layers.sdk.version": f"{path} states no version"}


def _by_components(host: Host, folder: str, components: Mapping[str, str]) -> LayerAnswer:
    """Without an install.info take version.cfg, then the components' own files."""
    path = f"{folder}/version.cfg"
    listed = parse_version_cfg(host.read_text(path) or "")
    versions = listed.get("toolkit") or listed.get("runtime")
    details = _set_env(host, folder)
    if versions:
        if len(set(versions)) > 1:
            details["side_by_side"] = ", ".join(versions)
        return LayerFacts(version=versions[-1], path=folder, source=path, details=details), {}
    if components:
        name = next((n for n in ("toolkit", "runtime") if n in components), min(components))
        if len(set(components.values())) > 1:
            details["disagreement"] = ", ".join(f"{n} {v}" for n, v in components.items())
        source = f"{folder}/{name}/version.info"
        return LayerFacts(version=components[name], path=folder, source=source, details=details), {}
    reason = f"{folder} is there, but neither install.info, version.cfg nor a component says its version"
    return None, {"layers.sdk": reason}


def _ops_version(host: Host, folder: str) -> tuple[str | None, str | None]:
    path = f"{folder}/version.cfg"
    listed = parse_version_cfg(host.read_text(path) or "").get("opp_kernel")
    if listed:
        return listed[-1], path
    path = f"{folder}/opp_kernel/version.info"
    version = parse_component_info(host.read_text(path) or "")
    return (version, path) if version is not None else (None, None)


def _set_env(host: Host, folder: str) -> dict[str, str]:
    """Find the script that sets the layer's variables: in the folder from 8.5 on, beside `latest` before."""
    candidates = (f"{folder}/set_env.sh", f"{PurePosixPath(folder).parent}/set_env.sh")
    return next(({"set_env": path} for path in candidates if host.exists(path)), {})
