"""Entry point. `--version` is answered before anything else is imported: scripts call it often."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit with its code."""
    if sys.argv[1:] == ["--version"]:
        from accel_install.version import __version__

        sys.stdout.write(f"accel-install {__version__}\n")
        return
    from accel_install.cli.main import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
