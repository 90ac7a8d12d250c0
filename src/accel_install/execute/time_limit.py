"""Run a command with a time limit: `python time_limit.py SECONDS COMMAND...`. Standard library only, run as a child.

The journal's child is this process, so a kill of the tool leaves one group behind that ends by itself.
"""

from __future__ import annotations

import subprocess
import sys

__all__: list[str] = []


def main() -> int:
    """Run the command; 124 when the limit ended it, as timeout(1) does."""
    limit_s = float(sys.argv[1])
    try:
        return subprocess.run(sys.argv[2:], timeout=limit_s, check=False).returncode
    except subprocess.TimeoutExpired:
        sys.stderr.write(f"no end after {limit_s:.0f} s\n")
        return 124


if __name__ == "__main__":
    sys.exit(main())
