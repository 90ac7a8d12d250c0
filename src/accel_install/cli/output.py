"""What goes to stdout and stderr: JSON documents, error blocks, the word about a bug. One document per run with `--json`."""

from __future__ import annotations

import json
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from accel_install.errors import AccelError, ExitCode
from accel_install.version import __version__

__all__ = ["DOCUMENT_SCHEMA", "print_json", "report_bug", "report_error", "say", "write_file"]

DOCUMENT_SCHEMA = 1


def say(text: str = "") -> None:
    """Write one line for people to stdout."""
    sys.stdout.write(text + "\n")


def print_json(document: dict[str, Any]) -> None:
    """Write the JSON document of this run to stdout, with schema and tool version."""
    full = {"schema": DOCUMENT_SCHEMA, "tool_version": __version__, **document}
    sys.stdout.write(json.dumps(full, indent=2, ensure_ascii=False) + "\n")


def write_file(path: Path, data: bytes) -> None:
    """Write a result file at once or not at all.

    Raises:
        PreflightError: the place cannot be written.
    """
    from accel_install.errors import PreflightError
    from accel_install.host.durable import write_atomic

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, data)
    except OSError as error:
        raise PreflightError(
            "preflight.output-not-writable",
            f"the result file cannot be written: {error.strerror}",
            value=str(path),
            expected="a path in a writable folder",
            hint="choose another place with -o FILE",
        ) from error


def report_error(error: AccelError, *, as_json: bool, document: dict[str, Any] | None = None) -> int:
    """Show an expected error on stderr, and with `as_json` as the run's document on stdout. Return its exit code."""
    sys.stderr.write(error.render() + "\n")
    if as_json:
        print_json({**(document or {}), "error": error.to_dict()})
    return int(error.exit_code)


def report_bug(error: Exception, *, as_json: bool) -> int:
    """Say that the tool itself failed, without a traceback on the screen; the traceback is kept in a file."""
    with tempfile.NamedTemporaryFile("w", prefix="accel-install-bug-", suffix=".txt", delete=False) as stream:
        traceback.print_exception(error, file=stream)
    message = f"internal error: {type(error).__name__}: {error}"
    bug = AccelError("bug.internal", message, value=stream.name, hint="report it with the file named above")
    sys.stderr.write(bug.render() + "\n")
    if as_json:
        print_json({"error": {**bug.to_dict(), "exit_code": int(ExitCode.BUG)}})
    return int(ExitCode.BUG)
