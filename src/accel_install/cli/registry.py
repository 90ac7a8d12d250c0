"""The table of commands: name, module, one line of help. The help page is made from it without importing any command."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["COMMANDS", "CommandInfo"]


@dataclass(frozen=True)
class CommandInfo:
    """A command: `module` below `accel_install.cli.commands` offers a typer app or function named `command`."""

    name: str
    module: str
    help: str


COMMANDS: tuple[CommandInfo, ...] = (
    CommandInfo("detect", "detect", "What this machine is: chips, driver, SDK, interpreter. Changes nothing."),
    CommandInfo("recipes", "recipes", "List recipes; `recipes show NAME`, `recipes check FILE`."),
    CommandInfo("plan", "plan", "The whole stack as steps, wheels and reasons. Changes nothing."),
    CommandInfo("resolve", "resolve", "Wheels for any requirement, target and index, with reasons. No recipe needed."),
    CommandInfo("apply", "apply", "Execute a recipe, a saved plan, or `--locked LOCK`. Safe to repeat."),
    CommandInfo("resume", "resume", "Go on after a crash, a reboot or an interruption."),
    CommandInfo("status", "status", "Where the stack stands."),
    CommandInfo("verify", "verify", "Whether what was pinned still holds."),
    CommandInfo("repair", "repair", "Re-pin and heal what verify found."),
    CommandInfo("lock", "lock", "Write the machine lockfile; `lock check`, `lock diff A B`."),
    CommandInfo("rehearse", "rehearse", "The whole run on a scratch machine with stand-in vendor packages."),
)
