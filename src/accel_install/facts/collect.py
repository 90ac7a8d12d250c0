"""All facts of a machine. Each collector stands alone: what fails becomes unknown with its reason, nothing is raised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from accel_install.errors import AccelError
from accel_install.facts import ascend, ascend_sdk, system
from accel_install.facts.ascend_chips import Chip, SmiReport, ask_npu_smi, join_chips, node_chips
from accel_install.facts.ascend_files import AscendInstall
from accel_install.facts.ascend_smi import SmiAnswer
from accel_install.facts.environment import accelerator_variables
from accel_install.facts.libc import Libc, machine_libc
from accel_install.facts.models import (
    AcceleratorFacts,
    FilesystemFacts,
    LayersFacts,
    MachineFacts,
    OsFacts,
    PythonFacts,
)
from accel_install.facts.pci import PCI_DEVICES, pci_accelerator, scan_pci
from accel_install.facts.python_probe import PythonProbe, find_python
from accel_install.host.base import Host

__all__ = ["collect"]

_T = TypeVar("_T")
_NOBODYS = "variables of this process are not those of a machine below a root"


def collect(host: Host, python: str | None = None, environ: Mapping[str, str] | None = None) -> MachineFacts:
    """Learn what a machine is. Never raises for what it finds.

    Args:
        host: the machine, or a directory that stands for it.
        python: the wanted interpreter (`3.11`, a path), None for the one on PATH.
        environ: this process's variables; used for the real machine only.
    """
    return _Collector(host, dict(environ or {})).collect(python)


class _Collector:
    """One run: the host, the variables that belong to it, and the reasons found so far."""

    def __init__(self, host: Host, environ: Mapping[str, str]) -> None:
        self.host = host
        self.real = host.root == Path("/")
        self.environ: Mapping[str, str] = environ if self.real else {}
        self.unknown: dict[str, str] = {}

    def collect(self, python: str | None) -> MachineFacts:
        """Return the facts with all reasons."""
        host = self.host
        os_facts = self._guarded("os", lambda: system.os_facts(host), OsFacts())
        container = self._guarded("container", lambda: system.is_container(host), None)
        probe = self._guarded("python", lambda: self._python(python), None)
        libc = self._guarded("glibc", lambda: machine_libc(host, probe, os_facts), Libc())
        places = system.written_places(self.environ, host.is_privileged() or not self.real)
        accelerators, layers = self._ascend(container is True)
        facts: dict[str, Any] = {
            "os": os_facts,
            "arch": self._stated("arch", host.arch, "nothing below the root says it"),
            "glibc": libc.glibc,
            "musl": libc.musl,
            "kernel": self._stated("kernel", host.kernel_release, "no /proc/sys/kernel/osrelease"),
            "memory_bytes": self._guarded("memory_bytes", lambda: system.memory_bytes(host), None),
            "filesystems": self._guarded("filesystems", lambda: system.filesystems(host, places), list[FilesystemFacts]()),
            "container": container,
            "python": _python_facts(probe),
            "accelerators": accelerators,
            "layers": layers,
            "environment": accelerator_variables(self.environ),
        }
        if not self.real:
            self.unknown["environment"] = _NOBODYS
        return MachineFacts(**facts, unknown=dict(sorted(self.unknown.items())))

    def _guarded(self, name: str, learn: Callable[[], tuple[_T, dict[str, str]]], nothing: _T) -> _T:
        """Run one collector; a failure of any kind makes its field unknown and leaves the others alone."""
        try:
            value, unknown = learn()
        except AccelError as error:
            self.unknown[name] = f"{error.message}: {error.value}" if error.value else error.message
            return nothing
        except Exception as error:
            self.unknown[name] = f"could not be learnt: {type(error).__name__}: {error}"
            return nothing
        self.unknown |= unknown
        return value

    def _stated(self, name: str, read: Callable[[], str | None], reason: str) -> str | None:
        def learn() -> tuple[str | None, dict[str, str]]:
            value = read()
            return value, {} if value is not None else {name: reason}

        return self._guarded(name, learn, None)

    def _python(self, wanted: str | None) -> tuple[PythonProbe | None, dict[str, str]]:
        return find_python(self.host, wanted, self.environ.get("PATH", "")), {}

    def _ascend(self, container: bool) -> tuple[list[AcceleratorFacts], LayersFacts]:
        host, environ = self.host, self.environ
        install = self._guarded("layers", lambda: (ascend.read_install_info(host), {}), AscendInstall())
        root = install.driver_root or ascend.ASCEND_ROOT
        silent = SmiReport(SmiAnswer(), "npu-smi could not be asked", present=False)
        smi = self._guarded("accelerators", lambda: (ask_npu_smi(host, root, environ), {}), silent)
        cards = self._guarded("accelerators", lambda: self._accelerators(smi, container), list[AcceleratorFacts]())
        hidden = container and bool(cards)
        folder = self._guarded("layers.sdk", lambda: (ascend_sdk.toolkit_folder(host, environ), {}), None)
        layers = LayersFacts(
            driver=self._guarded("layers.driver", lambda: ascend.driver_layer(host, install, smi.answer, hidden=hidden), None),
            firmware=self._guarded("layers.firmware", lambda: ascend.firmware_layer(host, install, container=container), None),
            sdk=self._guarded("layers.sdk", lambda: ascend_sdk.sdk_layer(host, folder), None),
            ops=self._guarded("layers.ops", lambda: ascend_sdk.ops_layer(host, folder), None),
            nnal=self._guarded("layers.nnal", lambda: ascend_sdk.nnal_layer(host, environ), None),
        )
        return cards, layers

    def _accelerators(self, smi: SmiReport, container: bool) -> tuple[list[AcceleratorFacts], dict[str, str]]:
        cards = [pci_accelerator(device) for device in scan_pci(self.host)]
        chips: list[Chip] = join_chips(cards, smi, container=container)
        if not chips:
            chips = node_chips(self.host, smi.reason or "npu-smi lists no chip")
        if not chips:
            return [], _unseen(self.host, smi, container)
        reasons = {f"accelerators.{n}.{f}": why for n, (_, unknown) in enumerate(chips) for f, why in unknown.items()}
        return [facts for facts, _ in chips], reasons


def _unseen(host: Host, smi: SmiReport, container: bool) -> dict[str, str]:
    """Tell "none" from "cannot see": without sysfs, or in a container whose tool fails, nothing is known."""
    if not host.exists(PCI_DEVICES):
        return {"accelerators": f"no {PCI_DEVICES}; {smi.reason}"}
    return {"accelerators": str(smi.reason)} if container and smi.present and smi.reason else {}


def _python_facts(probe: PythonProbe | None) -> PythonFacts:
    if probe is None:
        return PythonFacts()
    return PythonFacts(executable=probe.executable, version=probe.version, abi=probe.abi, free_threaded=probe.free_threaded)
