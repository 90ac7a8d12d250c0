"""What a machine's lockfile is called. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["lock_filename", "machine_name"]


def machine_name(
    recipe: str,
    target: Mapping[str, str | None],
    *,
    host: str | None = None,
    machine_file: str | None = None,
    described: bool = False,
) -> str:
    """Return the stem of `--machine`, else recipe-arch-python for a described target, else the host name.

    Args:
        recipe: name of the recipe.
        target: the `target` object of a plan.
        host: host name of this machine.
        machine_file: the machine file that was given, if any (a path or its name).
        described: whether the target was described by options.
    """
    if machine_file:
        stem = machine_file.replace("\\", "/").rsplit("/", 1)[-1]
        return _safe(re.sub(r"\.(ya?ml|json)$", "", stem))
    if described or not host:
        return _safe("-".join(p for p in (recipe, target.get("arch"), target.get("python")) if p))
    return _safe(host)


def lock_filename(machine: str) -> str:
    """Return the file name of a machine's lock."""
    return f"{machine}.lock.toml"


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "machine"
