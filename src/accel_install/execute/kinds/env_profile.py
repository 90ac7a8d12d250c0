"""The environment profile: one file to source, with the vendor scripts in order. Deterministic bytes."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from accel_install.execute.context import RunContext
from accel_install.execute.kinds.base import StepKind
from accel_install.host.base import Host
from accel_install.host.durable import write_atomic
from accel_install.plan.models import Decision, PlanStep, Probe

__all__ = ["KIND", "profile_text"]

# vendor scripts read variables that may be unset; under `set -u` that would end the caller's shell
_DEFAULTED = ("LD_LIBRARY_PATH", "PYTHONPATH", "PATH", "CMAKE_PREFIX_PATH")


class EnvProfile(StepKind):
    """Write `<state-dir>/envs/<stack>/profile.sh`."""

    name = "env_profile"

    def probe(self, ctx: RunContext, step: PlanStep) -> Probe:
        path = ctx.state.profile(ctx.plan.stack)
        try:
            have = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return Probe(state="absent", detail="the profile is not written yet")
        wanted = profile_text(ctx.host, ctx.plan.stack, ctx.plan.environment)
        if have == wanted:
            return Probe(state="present", detail=str(path))
        return Probe(state="differs", detail=f"{path} differs from what this machine needs now")

    def act(self, ctx: RunContext, step: PlanStep, decision: Decision) -> None:
        path = ctx.state.profile(ctx.plan.stack)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, profile_text(ctx.host, ctx.plan.stack, ctx.plan.environment).encode())


KIND = EnvProfile()


def profile_text(host: Host, stack: str, environment: Mapping[str, Any]) -> str:
    """Return the profile: the first existing script of each group, then plain variables.

    Args:
        host: where the scripts are looked for.
        stack: named in the head line.
        environment: `scripts` (groups of alternatives) and `variables` of the recipe.
    """
    lines = [f"# Environment of {stack}, for POSIX shells: . profile.sh"]
    scripts = [_first(host, group) for group in environment.get("scripts", [])]
    if any(scripts):
        lines += [f'export {name}="${{{name}:-}}"' for name in _DEFAULTED]
    for group, script in zip(environment.get("scripts", []), scripts, strict=True):
        lines.append(f". {shlex.quote(script)}" if script else f"# not installed here: {' or '.join(group)}")
    variables: Mapping[str, str] = environment.get("variables", {})
    lines += [f"export {name}={shlex.quote(value)}" for name, value in sorted(variables.items())]
    return "\n".join(lines) + "\n"


def _first(host: Host, group: Sequence[str]) -> str | None:
    return next((script for script in group if host.exists(script)), None)
