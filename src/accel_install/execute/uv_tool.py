"""uv as the installer of wheels: how it is found, what of our environment it must not see."""

from __future__ import annotations

import os
from pathlib import Path

from accel_install.errors import PreflightError

__all__ = ["CLEARED", "SAME_BYTES", "uv_bin"]

_PREFIXES = ("UV_", "PIP_", "PYTHON", "VIRTUAL_ENV", "CONDA_")
# uv keeps the time of the wheel file in dist-info/uv_cache.json: the same wheels, fetched again, would give another tree (tried)
SAME_BYTES = {"UV_NO_INSTALLER_METADATA": "1"}
CLEARED = tuple(name for name in os.environ if name.startswith(_PREFIXES) and name not in SAME_BYTES)


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
