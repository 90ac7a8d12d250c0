"""uv as the installer of wheels: how it is found, what of our environment it must not see."""

from __future__ import annotations

import os
from pathlib import Path

from accel_install.errors import PreflightError

__all__ = ["CLEARED", "uv_bin"]

_PREFIXES = ("UV_", "PIP_", "PYTHON", "VIRTUAL_ENV", "CONDA_")
CLEARED = tuple(name for name in os.environ if name.startswith(_PREFIXES))


def uv_bin() -> str:
    """Return the path of the uv that came with this tool.

    Raises:
        PreflightError: it is not there.
    """
    from uv import find_uv_bin

    try:
        return str(Path(find_uv_bin()))
    except FileNotFoundError as error:
        raise PreflightError(
            "preflight.no-uv", "uv was not found beside this tool", value=str(error), hint="install accel-install again"
        ) from error
