"""What to do about a step, given what is there. Pure: the same functions decide at plan time and right before acting.

A probe says what was seen; nothing here looks at a machine. Reasons are written for the person who reads the plan.
"""

from __future__ import annotations

from collections.abc import Callable

from accel_install.plan.models import Decision, PlanStep, Probe
from accel_install.recipe.vendor_versions import matches_line, same_version

__all__ = [
    "acceptable",
    "decide",
    "decide_check",
    "decide_env",
    "decide_layer",
    "decide_profile",
    "decide_smoke",
    "decide_wheels",
]


def acceptable(installed: str, step: PlanStep) -> bool:
    """Say whether an installed layer version may stay: the wanted one, or one of the lines the rows accept."""
    if step.version is not None and same_version(installed, step.version):
        return True
    return any(matches_line(installed, line) for line in step.accepts)


def decide_layer(step: PlanStep, probe: Probe) -> Decision:
    """Decide about a system layer (driver, firmware, SDK part)."""
    wanted = step.version or "a version that its partner layers accept"
    if probe.state == "absent":
        return Decision(word="do", reason=f"not installed; {wanted} will be installed")
    if probe.state == "unknown":
        return Decision(word="do", reason=f"state unknown ({probe.detail}); planned as on a bare machine: {wanted}")
    if probe.state == "damaged":
        return Decision(word="repair", reason=f"{probe.version or 'installed'}, but damaged: {probe.detail}")
    return _decide_installed_layer(step, probe, wanted)


def _decide_installed_layer(step: PlanStep, probe: Probe, wanted: str) -> Decision:
    installed = probe.version
    owner = f"installed by {'this tool' if probe.owner == 'us' else probe.owner or 'the vendor installer'}"
    if installed is None:
        return Decision(word="adopt", reason=f"present ({probe.detail}), version not readable; {owner}")
    fits = probe.state == "present" and (acceptable(installed, step) or (step.version is None and not step.accepts))
    if not fits:
        stop = step.params.get("stop_first")
        before = f"; stop first: {stop}" if stop else ""
        why = f" ({'; '.join(probe.problems)})" if probe.problems else ""
        return Decision(word="replace", reason=f"from {installed} to {wanted}{why}; {owner}{before}")
    if probe.owner == "us":
        return Decision(word="skip", reason=f"{installed} is installed, by this tool")
    where = f" at {probe.detail}" if probe.detail else ""
    return Decision(word="adopt", reason=f"{installed} fits; {owner}{where}")


def decide_check(step: PlanStep, probe: Probe) -> Decision:
    """Decide about a host check: it never acts, it passes, refuses, or has to wait for the machine."""
    if probe.state == "present":
        return Decision(word="skip", reason=probe.detail or "the host fits")
    if probe.state == "differs":
        return Decision(word="refuse", reason="; ".join(probe.problems) or probe.detail)
    return Decision(word="do", reason="checked on the machine before anything is touched")


def decide_env(step: PlanStep, probe: Probe) -> Decision:
    """Decide about the Python environment (a generation for exactly this set of wheels)."""
    if probe.state == "present":
        return Decision(word="skip", reason=probe.detail or "a generation for this set of wheels exists")
    if probe.state == "differs":
        return Decision(word="replace", reason=f"{probe.detail}; a new generation is built beside it")
    if probe.state == "damaged":
        return Decision(word="repair", reason=probe.detail)
    return Decision(word="do", reason=probe.detail or "a new generation is built")


def decide_wheels(step: PlanStep, probe: Probe) -> Decision:
    """Decide about a set of wheels in the environment."""
    if probe.state == "present":
        return Decision(word="skip", reason=probe.detail or "all as pinned")
    if probe.state in ("differs", "damaged"):
        named = ", ".join(probe.problems[:4]) + (" ..." if len(probe.problems) > 4 else "")
        return Decision(word="repair", reason=f"not as pinned: {named or probe.detail}")
    return Decision(word="do", reason=probe.detail or "not installed yet")


def decide_profile(step: PlanStep, probe: Probe) -> Decision:
    """Decide about the environment profile file."""
    if probe.state == "present":
        return Decision(word="skip", reason=probe.detail or "the profile is as wanted")
    if probe.state == "differs":
        return Decision(word="repair", reason=probe.detail or "the profile differs and is written anew")
    return Decision(word="do", reason=probe.detail or "the profile is written")


def decide_smoke(step: PlanStep, probe: Probe) -> Decision:
    """Decide about the smoke test: it is earned once per set of wheels, never assumed."""
    if probe.state == "present":
        return Decision(word="skip", reason=probe.detail or "passed for exactly this set of wheels")
    return Decision(word="do", reason=probe.detail or "imports and module owners are tried in the new environment")


_BY_KIND: dict[str, Callable[[PlanStep, Probe], Decision]] = {
    "host_check": decide_check,
    "runfile": decide_layer,
    "env_profile": decide_profile,
    "python_env": decide_env,
    "wheels": decide_wheels,
    "wheels_nodeps": decide_wheels,
    "smoke_test": decide_smoke,
}


def decide(step: PlanStep, probe: Probe) -> Decision:
    """Decide about a step of any kind.

    Raises:
        KeyError: the kind is not known.
    """
    return _BY_KIND[step.kind](step, probe)
