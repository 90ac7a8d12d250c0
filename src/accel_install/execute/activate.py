"""The switch: `current`, and `--env PATH`, become symlinks to the generation that was built and tried. Idempotent."""

from __future__ import annotations

import os
from pathlib import Path

from accel_install.execute.context import RunContext
from accel_install.host.durable import replace_symlink

__all__ = ["ACTIVATE", "activate", "is_active"]

ACTIVATE = "activate"


def _links(ctx: RunContext, env: Path) -> list[tuple[Path, str]]:
    links = [(ctx.generations.current_link, env.name)]
    if ctx.options.env is not None:
        links.append((ctx.options.env, str(env)))
    return links


def is_active(ctx: RunContext) -> bool:
    """Say whether the generation of this plan is live already, or nothing is to be switched."""
    env = ctx.env()
    if env is None or ctx.options.in_place or not any(s.kind == "python_env" for s in ctx.plan.steps):
        return True
    return all(link.is_symlink() and os.readlink(link) == target for link, target in _links(ctx, env))  # noqa: PTH115


def activate(ctx: RunContext) -> None:
    """Make the generation live by replacing symlinks, each in one step."""
    env = ctx.require_env()
    for link, target in _links(ctx, env):
        link.parent.mkdir(parents=True, exist_ok=True)
        replace_symlink(link, target)
