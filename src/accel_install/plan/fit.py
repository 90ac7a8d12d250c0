"""Whether a recipe is for this machine at all. Pure; says what was expected and which option helps."""

from __future__ import annotations

from accel_install.errors import MachineError
from accel_install.facts.models import MachineFacts
from accel_install.facts.target import Target
from accel_install.recipe.models import Recipe

__all__ = ["check_fit"]

_ARCHES = ("aarch64", "x86_64")


def check_fit(recipe: Recipe, facts: MachineFacts, target: Target, described: bool) -> list[str]:
    """Return warnings about what had to be assumed.

    Raises:
        MachineError: the arch is not supported, or the accelerator is missing or of another family.
    """
    if target.arch not in _ARCHES:
        raise MachineError(
            "machine.arch-unsupported",
            "no wheels of these stacks exist for this architecture",
            value=target.arch,
            expected=" or ".join(_ARCHES),
            hint="--arch aarch64 to plan for another machine",
        )
    if recipe.accelerator is None:
        return []
    if target.family is not None and target.family != recipe.accelerator.family:
        raise MachineError(
            "machine.wrong-accelerator",
            f"recipe {recipe.name} is for another chip family",
            value=f"{target.accelerator or 'accelerator'} (family {target.family})",
            expected=f"family {recipe.accelerator.family}: {', '.join(recipe.accelerator.models)}",
            hint="accel-install recipes",
        )
    return _check_present(recipe, facts, target, described)


def _check_present(recipe: Recipe, facts: MachineFacts, target: Target, described: bool) -> list[str]:
    assert recipe.accelerator is not None  # noqa: S101 - narrowed by the caller
    family = recipe.accelerator.family
    families = sorted({a.family for a in facts.accelerators if a.family is not None})
    if len(families) > 1:
        return [f"this machine holds chips of several families: {', '.join(families)}; planned for {family}"]
    if target.family is not None:
        return []
    if described or facts.is_unknown("accelerators"):
        return [f"accelerator not stated: family {family} of the recipe is assumed"]
    if target.scope != "host":
        return [f"no accelerator is visible: family {family} of the recipe is assumed (scope {target.scope})"]
    raise MachineError(
        "machine.no-accelerator",
        "this machine has no accelerator",
        value="no device on the PCI bus, no vendor tool",
        expected=f"family {family}: {', '.join(recipe.accelerator.models)}",
        hint=f"--accelerator {recipe.accelerator.models[0]} to plan for another machine, or --scope container for an image",
    )
