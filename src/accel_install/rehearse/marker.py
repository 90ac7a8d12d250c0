"""How a scratch machine is told from a real one: only there may acts that cannot be confined to a root be carried out.

Both the variable and the file must be there, so that nobody enables it by accident.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

__all__ = ["MARKER_FILE", "MARKER_VARIABLE", "is_rehearsal_root"]

MARKER_FILE = ".accel-install-rehearsal"
MARKER_VARIABLE = "ACCEL_INSTALL_REHEARSAL"


def is_rehearsal_root(root: Path, environ: Mapping[str, str]) -> bool:
    """Say whether a root was made by a rehearsal, whose vendor packages are stand-ins."""
    return root != Path("/") and environ.get(MARKER_VARIABLE) == "1" and (root / MARKER_FILE).is_file()
