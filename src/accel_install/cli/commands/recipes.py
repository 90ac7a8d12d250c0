"""`accel-install recipes`: list them, show one, check a file."""

from __future__ import annotations

from typing import Annotated

import typer

from accel_install.cli.options import Json
from accel_install.cli.output import print_json, say
from accel_install.errors import UsageError
from accel_install.recipe.load import LoadedRecipe, list_recipes, load_recipe
from accel_install.recipe.rows import rows_for

__all__ = ["command"]


def command(
    action: Annotated[str | None, typer.Argument(help="`show` or `check`; without it, the list.")] = None,
    name: Annotated[str | None, typer.Argument(help="A recipe's name or file.")] = None,
    json: Json = False,
) -> None:
    """List recipes; `recipes show NAME`, `recipes check FILE`."""
    if action is None:
        _list(json)
        return
    if action not in ("show", "check") or name is None:
        raise UsageError(
            "usage.recipes", "`recipes` takes nothing, `show NAME` or `check FILE`", value=action, hint="accel-install recipes"
        )
    loaded = load_recipe(name)
    if action == "check":
        _checked(loaded, json)
    else:
        _show(loaded, json)


def _list(json: bool) -> None:
    infos = list_recipes()
    if json:
        print_json({"recipes": [{"name": i.name, "title": i.title, "path": str(i.path)} for i in infos]})
        return
    width = max((len(i.name) for i in infos), default=0)
    for info in infos:
        say(f"{info.name:<{width}}  {info.title}")


def _checked(loaded: LoadedRecipe, json: bool) -> None:
    rows = rows_for(loaded.recipe)
    if json:
        print_json({"recipe": loaded.recipe.name, "path": str(loaded.path), "digest": loaded.digest, "problems": []})
        return
    say(f"{loaded.path}: no problems; {len(loaded.recipe.steps)} steps, {len(rows)} rows, {loaded.digest}")


def _show(loaded: LoadedRecipe, json: bool) -> None:
    recipe = loaded.recipe
    rows = rows_for(recipe)
    if json:
        print_json(
            {
                "recipe": recipe.model_dump(mode="json", by_alias=True),
                "path": str(loaded.path),
                "digest": loaded.digest,
                "rows": [r.model_dump(mode="json") for r in rows],
            }
        )
        return
    say(f"{recipe.name}: {recipe.title}")
    say(f"file {loaded.path}, {loaded.digest}")
    say("\nsteps")
    for step in recipe.steps:
        say(f"  {step.id:<14} {step.kind:<14} {step.title}")
    say("\nrows, in the order in which they are tried")
    for row in rows:
        versions = ", ".join(f"{k} {v}" for k, v in row.components.items())
        say(f"  {row.id} ({row.status}, {row.date}): {versions}")
        say(f"      source: {row.source}")
