"""A simple index of exactly the files of one step, in a folder: what uv is allowed to see."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path

from accel_install.digests import sha256_file
from accel_install.plan.models import PlanWheel
from accel_install.resolve.filename import installable_name

__all__ = ["write_page"]


def write_page(folder: Path, wheels: Sequence[PlanWheel], files: Mapping[str, Path]) -> tuple[Path, Path]:
    """Write the pages and the hashed requirements of a step.

    Args:
        folder: made anew below the run's folder.
        wheels: what the step installs.
        files: verified local file of each, by file name.

    Returns:
        The index folder (to be given as an address) and the requirements file.
    """
    index = folder / "simple"
    lines = []
    for wheel in wheels:
        path = files[wheel.filename]
        digest = wheel.sha256 or sha256_file(path)
        page = index / wheel.name
        page.mkdir(parents=True, exist_ok=True)
        name = installable_name(wheel.filename, wheel.name)
        if name != path.name:  # a vendor's name for the file, which installers refuse
            (page / name).symlink_to(path.absolute())
            path = page / name
        address = html.escape(f"{path.absolute().as_uri()}#sha256={digest}")
        (page / "index.html").write_text(f'<!DOCTYPE html><a href="{address}">{html.escape(name)}</a>\n')
        lines.append(f"{wheel.name}=={wheel.version} --hash=sha256:{digest}\n")
    requirements = folder / "requirements.txt"
    requirements.write_text("".join(lines))
    return index, requirements
