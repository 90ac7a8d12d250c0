"""Host check: room, inodes and privilege, before anything is touched. It never acts."""

from __future__ import annotations

from pathlib import Path

from accel_install.errors import AccelError, PreflightError
from accel_install.execute.context import RunContext
from accel_install.execute.kinds.base import StepKind
from accel_install.plan.models import Decision, PlanStep, Probe

__all__ = ["KIND"]

_MIN_INODES = 100_000


class HostCheck(StepKind):
    """Compare free room with what the recipe asks; `env` and `cache` stand for where those lie."""

    name = "host_check"

    def probe(self, ctx: RunContext, step: PlanStep) -> Probe:
        problems = [*_room(ctx, step), *_privilege(ctx, step)]
        if problems:
            return Probe(state="differs", detail="the host does not fit", problems=problems)
        return Probe(state="present", detail=f"room, inodes and privilege suffice on {ctx.plan.target.get('arch')}")

    def preflight(self, ctx: RunContext, step: PlanStep, decision: Decision) -> list[AccelError]:
        return [_refusal(text) for text in self.probe(ctx, step).problems]

    def verify(self, ctx: RunContext, step: PlanStep) -> list[str]:
        return self.probe(ctx, step).problems


KIND = HostCheck()


def _places(ctx: RunContext, step: PlanStep) -> dict[str, tuple[str | Path, int]]:
    """Return what is asked per place; system places count only when a system layer is to be installed."""
    wanted: dict[str, int] = step.params.get("free_bytes", {})
    layers = any(s.layer and s.decision in ("do", "replace", "repair") for s in ctx.plan.steps)
    wheels = ctx.env() is None
    places: dict[str, tuple[str | Path, int]] = {}
    for name, size in wanted.items():
        if name == "env" and wheels:
            places[name] = (ctx.state.path, size)
        elif name == "cache" and wheels and ctx.options.cache_dir is not None:
            places[name] = (ctx.options.cache_dir, size)
        elif name not in ("env", "cache") and layers:
            places[name] = (name, size)
    return places


def _free(ctx: RunContext, place: str | Path) -> tuple[int, int] | None:
    if isinstance(place, str):
        return ctx.host.free_space(place)
    from accel_install.host.local import LocalHost

    return LocalHost().free_space(place)


def _room(ctx: RunContext, step: PlanStep) -> list[str]:
    problems = []
    for name, (place, size) in _places(ctx, step).items():
        free = _free(ctx, place)
        if free is None:
            continue
        if free[0] < size:
            problems.append(f"disk: {name} ({place}) has {free[0] / 1e9:.1f} GB free, {size / 1e9:.1f} GB are needed")
        if name == "env" and 0 < free[1] < _MIN_INODES:
            problems.append(f"disk: {name} ({place}) has {free[1]} inodes free, {_MIN_INODES} are needed")
    return problems


def _privilege(ctx: RunContext, step: PlanStep) -> list[str]:
    scopes = step.params.get("root_for_scopes", [])
    layers = [s.id for s in ctx.plan.steps if s.layer and s.decision in ("do", "replace", "repair")]
    if (
        ctx.plan.target.get("scope") not in scopes
        or not layers
        or ctx.host.is_privileged()
        or (not ctx.host.confined and str(ctx.host.root) != "/")
    ):
        return []
    return [f"privilege: installing {', '.join(layers)} needs root"]


def _refusal(text: str) -> PreflightError:
    if text.startswith("privilege"):
        return PreflightError(
            "preflight.not-root",
            "this user may not install system layers",
            value=text.partition(": ")[2],
            expected="root",
            hint="sudo accel-install apply, or --scope python",
        )
    return PreflightError(
        "preflight.disk-full",
        "there is not enough room",
        value=text.partition(": ")[2],
        expected="the room the recipe asks for",
        hint="free some, or choose other places with --state-dir DIR and ACCEL_INSTALL_CACHE_DIR",
    )
