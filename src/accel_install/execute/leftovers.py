"""What a killed uv leaves in an environment: files it was copying, under names of its own that no RECORD claims."""

from __future__ import annotations

import os
import re
from pathlib import Path

from accel_install.verify.environment import read_environment, site_dirs_of
from accel_install.verify.ownership import file_of

__all__ = ["sweep_uv_temporaries"]

_NAME = re.compile(r"^\.tmp[A-Za-z0-9]{6}$")  # seen after SIGKILL with uv 0.13.9 and --link-mode copy


def sweep_uv_temporaries(env: Path) -> None:
    """Remove them. The machine lock is held, and no uv of ours runs."""
    sites = site_dirs_of(env)
    places = [*sites, env / "bin"]
    found = [
        Path(folder) / name for place in places for folder, _, names in os.walk(place) for name in names if _NAME.match(name)
    ]
    if not found:
        return
    claimed = {file_of(dist, entry) for dist in read_environment(sites) for entry in dist.record or ()}
    for path in found:
        if path not in claimed:
            path.unlink(missing_ok=True)
