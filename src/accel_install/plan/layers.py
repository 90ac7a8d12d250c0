"""System-layer steps of a plan: which version, which artifact, what is there. Pure; facts and rows come in as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from accel_install.facts.models import MachineFacts
from accel_install.facts.target import Target
from accel_install.plan.models import Artifact, Probe
from accel_install.plan.probes import layer_probe_of
from accel_install.recipe.hdk import accepted_hdk, layer_problems
from accel_install.recipe.models import Row, StepSpec

__all__ = ["FoundArtifact", "LayerWish", "artifacts_for", "layer_probe", "layer_wish"]


@dataclass(frozen=True)
class FoundArtifact:
    """A vendor package found in the folder given by `--artifacts`."""

    name: str
    path: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True)
class LayerWish:
    """The version a layer should have, the versions that may stay, and what is not documented."""

    version: str | None
    accepts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def layer_wish(spec: StepSpec, row: Row, all_rows: Sequence[Row]) -> LayerWish:
    """Return what the row asks of the layer that a step installs.

    Driver and firmware are not part of most rows: the SDK's published list of driver bundles (HDK) decides which may
    stay, and its matched bundle is what a bare machine gets. A link that nobody documents is a warning.
    """
    if spec.layer == "driver":
        return _driver_wish(row, all_rows)
    if spec.layer == "firmware":
        measured = row.version_of("firmware")
        note = () if measured else ("no row documents a firmware version: the driver's own accepted range decides",)
        return LayerWish(measured, (), note)
    component = spec.component or ""
    version = row.version_of(component)
    if version is None and component == "nnal" and row.version_of("cann") is not None:
        return LayerWish(
            row.version_of("cann"), (), (f"row {row.id} names no NNAL: the version of CANN is assumed (unverified)",)
        )
    missing = () if version else (f"row {row.id} names no {component} version: nobody documents the link (unverified)",)
    return LayerWish(version, (), missing)


def _driver_wish(row: Row, all_rows: Sequence[Row]) -> LayerWish:
    cann = row.version_of("cann")
    measured = row.version_of("driver")
    if cann is None:
        return LayerWish(measured, (), (f"row {row.id} names no CANN version: any driver is a guess (unverified)",))
    answer = accepted_hdk(cann, all_rows)
    version = measured or (answer.matched[0] if answer.matched else None)
    warnings: tuple[str, ...] = ()
    if not answer.accepts and not answer.matched:
        warnings = (f"nobody documents which driver CANN {cann} accepts (unverified)",)
    return LayerWish(version, tuple(dict.fromkeys([*answer.accepts, *answer.matched])), warnings)


def layer_probe(spec: StepSpec, facts: MachineFacts, row: Row, all_rows: Sequence[Row]) -> Probe:
    """Turn the facts about a layer into a probe; what is documented not to work with the row's SDK differs."""
    probe = layer_probe_of(spec.layer or "", facts)
    problems = _documented_problems(spec.layer or "", facts, row, all_rows) if probe.state == "present" else []
    return probe.model_copy(update={"state": "differs", "problems": problems}) if problems else probe


def _documented_problems(layer: str, facts: MachineFacts, row: Row, rows: Sequence[Row]) -> list[str]:
    """Faults between layers count against the one that would be replaced: the firmware for its range, else the driver."""
    if layer not in ("driver", "firmware"):
        return []
    texts = [text for severity, text in layer_problems(facts.layers, row.version_of("cann"), rows) if severity == "fault"]
    about_firmware = [t for t in texts if "firmware" in t.lower()]
    return about_firmware if layer == "firmware" else [t for t in texts if t not in about_firmware]


def artifact_patterns(spec: StepSpec, target: Target, version: str | None, chip: str) -> list[str]:
    """Return the vendor file names a step may use, `*` standing for an unknown version."""
    values: Mapping[str, str] = {
        "chip": chip,
        "version": version or "*",
        "arch": target.arch,
        "arch_dash": target.arch.replace("_", "-"),
    }
    return [pattern.format(**values) for pattern in spec.params.get("files", [])]


def artifacts_for(
    spec: StepSpec, target: Target, version: str | None, chip: str, found: Sequence[FoundArtifact]
) -> list[Artifact]:
    """Return the artifact of a step: the supplied file when one fits, else the file name to supply."""
    patterns = artifact_patterns(spec, target, version, chip)
    for pattern in patterns:
        for item in found:
            if fnmatchcase(item.name.lower(), pattern.lower()):
                return [Artifact(name=item.name, path=item.path, sha256=item.sha256, size_bytes=item.size_bytes)]
    return [Artifact(name=patterns[0])] if patterns else []
