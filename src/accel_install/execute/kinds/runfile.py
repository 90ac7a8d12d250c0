"""Vendor .run installers: the right file, checked before it runs, licence accepted by name, never killed half-way."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from accel_install.digests import sha256_file
from accel_install.errors import AccelError, PreflightError, StepFailedError
from accel_install.execute.context import RunContext
from accel_install.execute.kinds.base import StepKind
from accel_install.execute.provenance import installed_by_us
from accel_install.execute.vendor_file import file_problems
from accel_install.plan.models import Artifact, Decision, PlanStep, Probe
from accel_install.plan.probes import layer_probe_of

__all__ = ["KIND"]


class RunFile(StepKind):
    """Install or upgrade one system layer from its vendor's package."""

    name = "runfile"
    policy = "wait"
    changes_system = True

    def probe(self, ctx: RunContext, step: PlanStep) -> Probe:
        probe = layer_probe_of(step.layer or "", ctx.facts())
        if probe.version is not None and ctx.journal is not None:
            ours = installed_by_us(ctx.journal.content.records, step.id, probe.version)
            probe = probe.model_copy(update={"owner": "us"}) if ours else probe
        if step.decision == "replace" and probe.version is not None and probe.version == step.installed:
            return probe.model_copy(update={"state": "differs"})  # the plan compared it with its partners
        return probe

    def preflight(self, ctx: RunContext, step: PlanStep, decision: Decision) -> list[AccelError]:
        if not decision.acts:
            return []
        found: list[AccelError] = []
        licence = step.params.get("licence")
        if licence and licence not in ctx.options.accepted_licences:
            found.append(_licence_missing(step, licence))
        if ctx.host.confined:
            found.append(_not_confinable(ctx, step))
        artifact = _artifact(ctx, step)
        return [*found, *(file_problems(artifact) if artifact is not None else [_artifact_missing(ctx, step)])]

    def act(self, ctx: RunContext, step: PlanStep, decision: Decision) -> None:
        artifact = _artifact(ctx, step)
        if artifact is None:
            raise _artifact_missing(ctx, step)
        file = Path(str(artifact.path))
        _check_digest(file, artifact)
        shell = "/bin/sh"
        if step.params.get("check_args"):
            ctx.run_child(step.id, [shell, str(file), *step.params["check_args"]], protected=True)
            ctx.interrupts.check()
        mode = "upgrade_args" if decision.word == "replace" else "install_args"
        place = f"--install-path={ctx.host.path(step.params.get('install_path', '/usr/local'))}"
        ctx.run_child(
            step.id,
            [shell, str(file), *step.params.get(mode, []), place],
            protected=True,
            success_codes=step.params.get("success_codes", [0]),
        )
        os.sync()  # a vendor installer writes anywhere, kernel modules and /etc included
        ctx.forget_facts()

    def verify(self, ctx: RunContext, step: PlanStep) -> list[str]:
        ctx.forget_facts()
        probe = self.probe(ctx, step.model_copy(update={"decision": "do"}))  # as a fresh look, not as the plan saw it
        decision = self.decide(step, probe)
        return [] if decision.word in ("skip", "adopt") else [f"after the installer: {probe.version or probe.detail}"]


KIND = RunFile()


def _artifact(ctx: RunContext, step: PlanStep) -> Artifact | None:
    for artifact in step.artifacts:
        if artifact.path is not None and Path(artifact.path).is_file():
            return artifact
        found = _search(ctx.options.artifacts, artifact.name)
        if found is not None:
            return artifact.model_copy(update={"path": str(found)})
    return None


def _search(folder: Path | None, pattern: str) -> Path | None:
    if folder is None or not folder.is_dir():
        return None
    return next((p for p in sorted(folder.glob(pattern)) if p.is_file()), None)


def _names(artifacts: Sequence[Artifact]) -> str:
    return " or ".join(a.name for a in artifacts) or "a vendor package"


def _check_digest(file: Path, artifact: Artifact) -> None:
    actual = sha256_file(file)
    if artifact.sha256 is not None and actual != artifact.sha256:
        raise StepFailedError(
            "step.artifact-changed",
            f"{file.name} is not the file that was planned",
            value=f"sha256 {actual}",
            expected=f"sha256 {artifact.sha256}",
            hint="plan again, or supply the right file with --artifacts DIR",
        )


def _licence_missing(step: PlanStep, licence: str) -> PreflightError:
    return PreflightError(
        "preflight.licence-not-accepted",
        f"{step.title} comes under a licence that nobody accepted",
        value=licence,
        expected="acceptance by name",
        hint=f'--accept-license "{licence}"',
    )


def _not_confinable(ctx: RunContext, step: PlanStep) -> PreflightError:
    return PreflightError(
        "preflight.not-confinable",
        f"{step.title}: a vendor installer cannot be confined to --root",
        value=str(ctx.host.root),
        expected="the real root, or --scope python",
        hint="accel-install rehearse RECIPE tries the whole run with stand-ins",
    )


def _artifact_missing(ctx: RunContext, step: PlanStep) -> PreflightError:
    return PreflightError(
        "preflight.artifact-missing",
        f"{step.title}: the vendor package is missing",
        value=str(ctx.options.artifacts) if ctx.options.artifacts else "no --artifacts folder was given",
        expected=_names(step.artifacts),
        hint="download it from the vendor, then --artifacts DIR",
    )
