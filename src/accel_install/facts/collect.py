"""All facts of a machine. Each collector stands alone: what fails becomes unknown with its reason, nothing is raised."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from accel_install.errors import AccelError
from accel_install.facts import system
from accel_install.facts.ascend import ascend_layers, ask_npu_smi, merge_chips
from accel_install.facts.models import AcceleratorFacts, LayersFacts, MachineFacts, PythonFacts
from accel_install.facts.pci import pci_accelerators
from accel_install.facts.python_probe import PythonProbe, find_python
from accel_install.host.base import Host

__all__ = ["collect"]

_PREFIXES = ("ASCEND_", "CUDA_", "MUSA_", "HIP_", "ROCR_", "MLU_", "TORCH_", "PYTORCH_", "HCCL_", "NCCL_")
_NAMES = ("ATB_HOME_PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "NEUWARE_HOME", "MACA_PATH")


def collect(host: Host, python: str | None = None, environ: Mapping[str, str] | None = None) -> MachineFacts:
    """Learn what a machine is.

    Args:
        host: the machine, or a directory that stands for it.
        python: the wanted interpreter (`3.11`, a path), None for the one on PATH.
        environ: this process's variables; used for the real machine only.
    """
    unknown: dict[str, str] = {}
    os_facts, os_unknown = system.os_facts(host)
    container = system.is_container(host)
    python_facts, probe = _python(host, python, unknown)
    glibc, musl = _libc(host, probe, unknown)
    accelerators, layers = _ascend(host, container, unknown)
    facts = MachineFacts(
        os=os_facts,
        arch=host.arch(),
        glibc=glibc,
        musl=musl,
        kernel=host.kernel_release(),
        memory_bytes=system.memory_bytes(host),
        filesystems=system.filesystems(host),
        container=container,
        python=python_facts,
        accelerators=accelerators,
        layers=layers,
        environment=_environment(environ or {}) if host.root == Path("/") else {},
    )
    plain = {
        "arch": "nothing below the root says it" if facts.arch is None else None,
        "kernel": "no /proc/sys/kernel/osrelease" if facts.kernel is None else None,
        "memory_bytes": "no /proc/meminfo" if facts.memory_bytes is None else None,
        "container": "no /proc/1/cgroup" if container is None else None,
    }
    unknown |= {name: reason for name, reason in plain.items() if reason is not None}
    return facts.model_copy(update={"unknown": dict(sorted({**os_unknown, **unknown}.items()))})


def _python(host: Host, wanted: str | None, unknown: dict[str, str]) -> tuple[PythonFacts, PythonProbe | None]:
    try:
        probe = find_python(host, wanted)
    except AccelError as error:
        unknown["python"] = f"{error.message}: {error.value}" if error.value else error.message
        return PythonFacts(), None
    facts = PythonFacts(
        executable=probe.executable, version=probe.version, abi=probe.abi, free_threaded=probe.free_threaded
    )
    return facts, probe


def _libc(host: Host, probe: PythonProbe | None, unknown: dict[str, str]) -> tuple[str | None, str | None]:
    if probe is not None and probe.libc[1] is not None:
        name, version = probe.libc
        return (version, None) if name == "glibc" else (None, version)
    glibc, musl, reason = system.libc_below_root(host)
    if glibc is None and musl is None:
        unknown["glibc"] = reason
    return glibc, musl


def _ascend(
    host: Host, container: bool | None, unknown: dict[str, str]
) -> tuple[list[AcceleratorFacts], LayersFacts]:
    cards = pci_accelerators(host)
    smi, reason = ask_npu_smi(host)
    merged, card_unknown = merge_chips(cards, smi, reason)
    layers, layer_unknown = ascend_layers(host, container)
    unknown |= {**card_unknown, **layer_unknown}
    if not merged and not host.exists("/sys/bus/pci/devices"):
        unknown["accelerators"] = f"no /sys/bus/pci/devices; {reason}" if reason else "no /sys/bus/pci/devices"
    return merged, layers


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Keep the variables that steer accelerators; nothing that could be a secret."""
    kept = {k: v for k, v in environ.items() if k in _NAMES or k.startswith(_PREFIXES)}
    return {k: v for k, v in sorted(kept.items()) if not any(w in k for w in ("TOKEN", "KEY", "SECRET", "PASS"))}
