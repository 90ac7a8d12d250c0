"""What is known of a machine: plain values, or unknown with a reason.

The field names are the interface of `detect --json` and of machine files; they are fixed. A field that is None *and*
listed in `unknown` could not be learnt; a field that is None and not listed is known to be absent.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

__all__ = [
    "AcceleratorFacts",
    "FilesystemFacts",
    "LayerFacts",
    "LayersFacts",
    "MachineFacts",
    "OsFacts",
    "PythonFacts",
]


class _Facts(BaseModel):
    model_config = ConfigDict(extra="forbid")


class OsFacts(_Facts):
    """The distribution, from os-release: `id` lower-case (`openeuler`), `version_id` (`22.03`), `name` for people."""

    id: str | None = None
    version_id: str | None = None
    name: str | None = None


class FilesystemFacts(_Facts):
    """Free room of one mount point that the tool writes to."""

    mount: str
    free_bytes: int | None = None
    free_inodes: int | None = None


class PythonFacts(_Facts):
    """The *target's* interpreter, in contrast to the one this tool runs on. `abi` is such as `cp311` or `cp313t`."""

    executable: str | None = None
    version: str | None = None
    abi: str | None = None
    free_threaded: bool | None = None


class AcceleratorFacts(_Facts):
    """One accelerator as torch would count it (a chip, not a card that holds two).

    `family` is the recipe name's chip part (`910b`, `910-93`, `310p`, `950`), `model` what the vendor tool prints
    (`910B2`), `pci_id` `vendor:device` in hex, `bus_id` `0000:c1:00.0`, `index` the device number or None. `product` is the
    card or server that its PCI subsystem names (`Atlas 800I A2`), in contrast to the chip.
    """

    vendor: str | None = None
    family: str | None = None
    model: str | None = None
    pci_id: str | None = None
    bus_id: str | None = None
    index: int | None = None
    memory_bytes: int | None = None
    health: str | None = None
    product: str | None = None


class LayerFacts(_Facts):
    """An installed system layer: its public version, where it lies, which file or tool said so.

    `details` holds what compatibility rules read, under the vendor's own keys (`compatible_version_fw`, `Innerversion`).
    """

    version: str | None = None
    path: str | None = None
    source: str | None = None
    details: dict[str, str] = Field(default_factory=dict)


class LayersFacts(_Facts):
    """The system layers below Python. `ops` is the kernels/ops package of the SDK (in contrast to the toolkit `sdk`)."""

    driver: LayerFacts | None = None
    firmware: LayerFacts | None = None
    sdk: LayerFacts | None = None
    ops: LayerFacts | None = None
    nnal: LayerFacts | None = None


class MachineFacts(_Facts):
    """Everything a plan needs to know of a machine. `unknown` maps dotted field names to the reason."""

    os: OsFacts = Field(default_factory=OsFacts)
    arch: str | None = None
    glibc: str | None = None
    musl: str | None = None
    kernel: str | None = None
    memory_bytes: int | None = None
    filesystems: list[FilesystemFacts] = Field(default_factory=list)
    container: bool | None = None
    python: PythonFacts = Field(default_factory=PythonFacts)
    accelerators: list[AcceleratorFacts] = Field(default_factory=list)
    layers: LayersFacts = Field(default_factory=LayersFacts)
    environment: dict[str, str] = Field(default_factory=dict)
    unknown: dict[str, str] = Field(default_factory=dict)

    def is_unknown(self, field: str) -> bool:
        """Say whether a dotted field, or a parent of it, is listed as unknown."""
        parts = field.split(".")
        return any(".".join(parts[:n]) in self.unknown for n in range(1, len(parts) + 1))
