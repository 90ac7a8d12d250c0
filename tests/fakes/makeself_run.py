"""Vendor-like .run files by the real makeself, with a header that hands vendor options to the script."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

__all__ = ["HEADER", "make_run"]

HEADER = Path("/usr/share/makeself/makeself-header.sh")


def make_run(path: Path, script: str, work: Path) -> Path:
    """Build a .run whose `install.sh` is `script`. The stock header refuses unknown options; ours stops parsing at the first."""
    work.mkdir(parents=True, exist_ok=True)
    text = HEADER.read_text()
    start = text.index("    -*)\n")
    end = text.index(";;", start)
    header = work / "header.sh"
    header.write_text(text[:start] + "    -*)\n\tbreak " + text[end:])
    payload = work / "payload"
    payload.mkdir(parents=True, exist_ok=True)
    (payload / "install.sh").write_text(script)
    (payload / "install.sh").chmod(0o755)
    tool = shutil.which("makeself") or shutil.which("makeself.sh")
    assert tool is not None, "makeself is not installed: scripts/test installs it"
    argv = [
        tool,
        "--header",
        str(header),
        "--sha256",
        "--nox11",
        "--nocomp",
        "--quiet",
        str(payload),
        str(path),
        "stand-in",
        "./install.sh",
    ]
    subprocess.run(argv, check=True, capture_output=True)
    return path
