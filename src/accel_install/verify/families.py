"""Distributions that provide the same import module: only the right one may be there. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from packaging.utils import canonicalize_name

from accel_install.recipe.models import ExclusiveFamily
from accel_install.verify.culprit import Context, requirers, stamp
from accel_install.verify.environment import InstalledDist
from accel_install.verify.findings import Finding

__all__ = ["KNOWN_FAMILIES", "as_families", "check_families", "check_known_families", "family_of"]

KNOWN_FAMILIES: Mapping[str, frozenset[str]] = {
    "triton": frozenset(
        {
            "triton",
            "triton-ascend",
            "triton-rocm",
            "triton-xpu",
            "pytorch-triton",
            "pytorch-triton-rocm",
            "pytorch-triton-xpu",
            "flagtree",
        }
    ),
}
"""Providers of one import module, for environments without a promise (their RECORDs share paths)."""


def as_families(given: Iterable[ExclusiveFamily | Mapping[str, Any]]) -> list[ExclusiveFamily]:
    """Return families from recipe models or from the plain objects of plans and locks, names canonical."""
    models = (f if isinstance(f, ExclusiveFamily) else ExclusiveFamily.model_validate(dict(f)) for f in given)
    return [
        f.model_copy(
            update={
                "members": sorted({str(canonicalize_name(m)) for m in f.members}),
                "provider": str(canonicalize_name(f.provider)) if f.provider else None,
            }
        )
        for f in models
    ]


def family_of(name: str, families: Iterable[ExclusiveFamily]) -> ExclusiveFamily | None:
    """Return the family a distribution belongs to."""
    return next((f for f in families if name in f.members or name == f.provider), None)


def check_families(
    installed: Sequence[InstalledDist],
    pins: Mapping[str, str],
    families: Sequence[ExclusiveFamily],
    context: Context,
) -> list[Finding]:
    """Find members of a family that should not be there. A member that is pinned is a wanted upstream."""
    findings = []
    for family in families:
        present = _present(installed, {*family.members, *([family.provider] if family.provider else [])})
        intruders = [d for d in present if d.name != family.provider and d.name not in pins]
        if intruders:
            findings.append(_conflict(family, present, intruders, installed, context))
    return findings


def _present(installed: Iterable[InstalledDist], names: Iterable[str]) -> list[InstalledDist]:
    wanted = frozenset(names)
    return list({d.name: d for d in installed if d.name in wanted}.values())


def _conflict(
    family: ExclusiveFamily,
    present: Sequence[InstalledDist],
    intruders: Sequence[InstalledDist],
    installed: Sequence[InstalledDist],
    context: Context,
) -> Finding:
    provider = family.provider
    here = " and ".join(f"{d.name} {d.version}" for d in present)
    return Finding(
        slug="ownership.family-conflict",
        severity="fault",
        subject=provider or family.module,
        expected=f"only {provider} provides module {family.module}" if provider else f"nobody provides {family.module}",
        actual=here,
        culprit="; ".join(_why_here(d, installed, context) for d in intruders),
        remedy="accel-install repair  (removes every claimant, then installs "
        + (f"{provider} once, last, without dependencies)" if provider else "none)"),
        packages=sorted({d.name for d in present} | ({provider} if provider else set())),
    )


def _why_here(intruder: InstalledDist, installed: Sequence[InstalledDist], context: Context) -> str:
    wanting = requirers(installed, intruder.name, context.markers)
    when = f"{intruder.name} {intruder.version} installed {stamp(intruder.mtime)}"
    prefix = f"{context.step}: " if context.step else ""
    if not wanting:
        return f"{prefix}{when}; no installed package requires it"
    named = ", ".join(dict.fromkeys(f"{d.name} {d.version} requires {r.name}{r.specifier}" for d, r in wanting))
    return f"{prefix}{named} ({when})"


def check_known_families(installed: Sequence[InstalledDist], context: Context) -> list[Finding]:
    """Find several providers of one module where nothing says which is right."""
    findings = []
    for module, members in KNOWN_FAMILIES.items():
        present = _present(installed, members)
        if len(present) > 1:
            findings.append(
                Finding(
                    slug="ownership.family-conflict",
                    severity="fault",
                    subject=module,
                    expected=f"one provider of module {module}",
                    actual=" and ".join(f"{d.name} {d.version}" for d in present),
                    culprit="; ".join(_why_here(d, installed, context) for d in present),
                    remedy="uninstall all of them, then install the one of the accelerator alone",
                    packages=sorted(d.name for d in present),
                )
            )
    return findings
