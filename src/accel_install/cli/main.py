"""Dispatch: build a typer app that holds the called command only, run it, turn every outcome into an exit code.

The other commands stand in the help page as lines of the registry; their modules are not imported.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from accel_install.cli.registry import COMMANDS, CommandInfo
from accel_install.errors import AccelError, ExitCode

__all__ = ["run"]


def run(argv: Sequence[str]) -> int:
    """Run the command line and return the exit code. Never lets an exception through."""
    os.environ.setdefault("TYPER_USE_RICH", "0")
    signal.signal(signal.SIGTERM, _terminated)
    try:
        return _invoke(argv)
    except AccelError as error:
        from accel_install.cli.output import report_error

        return report_error(error, as_json="--json" in argv)
    except KeyboardInterrupt:
        from accel_install.cli.output import report_error
        from accel_install.errors import InterruptedRunError

        stopped = InterruptedRunError("run.interrupted", "interrupted", hint="accel-install status, then accel-install resume")
        return report_error(stopped, as_json="--json" in argv)
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - the reader is gone; keep the interpreter quiet at exit
        return 0
    except Exception as error:
        from accel_install.cli.output import report_bug

        return report_bug(error, as_json="--json" in argv)


def _terminated(number: int, frame: FrameType | None) -> None:
    """End as Ctrl-C does; a run that acts has its own, more careful handler."""
    raise KeyboardInterrupt


def _invoke(argv: Sequence[str]) -> int:
    import typer

    called = next((a for a in argv if not a.startswith("-")), None)
    app = typer.Typer(
        name="accel-install",
        help="From bare metal to a proven accelerator stack, with pins that hold.",
        rich_markup_mode=None,
        add_completion=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_root_callback(typer))
    for info in COMMANDS:
        app.command(info.name, help=info.help)(_load(info) if info.name == called else _placeholder)
    try:
        result: Any = app(list(argv), prog_name="accel-install", standalone_mode=False)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    except Exception as error:
        return _usage_exit(error, argv)
    if result == int(ExitCode.INTERRUPTED):  # typer swallows Ctrl-C and answers its code; people need the word, too
        raise KeyboardInterrupt
    return result if isinstance(result, int) else 0


def _root_callback(typer: Any) -> Callable[..., None]:
    def root(version: bool = typer.Option(False, "--version", help="Show the version and exit.", is_eager=True)) -> None:
        if version:
            from accel_install.version import __version__

            sys.stdout.write(f"accel-install {__version__}\n")
            raise SystemExit(0)

    return root


def _load(info: CommandInfo) -> Callable[..., Any]:
    command: Callable[..., Any] = importlib.import_module(f"accel_install.cli.commands.{info.module}").command
    return command


def _placeholder() -> None:
    raise AssertionError("placeholders stand only in the help page")


def _usage_exit(error: Exception, argv: Sequence[str]) -> int:
    """Turn typer's own exceptions into exit codes; anything else goes on as it is."""
    if hasattr(error, "format_message"):
        from accel_install.cli.output import report_error
        from accel_install.errors import UsageError

        command = next((a for a in argv if not a.startswith("-")), None)
        known = command in {c.name for c in COMMANDS}
        page = f"accel-install {command} --help" if known else "accel-install --help"
        wrong = UsageError("usage.wrong", str(error.format_message()), value=" ".join(argv) or None, hint=page)
        return report_error(wrong, as_json="--json" in argv)
    if type(error).__name__ == "Exit":
        return int(getattr(error, "exit_code", 0))
    if type(error).__name__ == "Abort":  # typer's word for Ctrl-C
        raise KeyboardInterrupt from error
    raise error
