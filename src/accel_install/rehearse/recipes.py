"""The recipes a rehearsal runs with: a copy, whose row also admits this machine's own Python.

The stand-in wheels are plain Python, so the interpreter at hand will do; the real row stays as it is.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from accel_install.recipe.load import recipes_dir
from accel_install.recipe.models import Row

__all__ = ["copy_recipes"]


def copy_recipes(folder: Path, row: Row) -> None:
    """Copy the shipped recipes into `folder`; add this Python to the row when it is not listed."""
    shutil.copytree(recipes_dir(), folder)
    label = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if label in [*row.python, *row.python_resolved]:
        return
    path = folder / "compatibility" / f"{row.platform}.yaml"
    block = re.compile(rf'(  id: "{re.escape(row.id)}"\n(?:  .*\n)*?  python: \[)')
    path.write_text(block.sub(rf'\g<1>"{label}", ', path.read_text()))
