"""Recipes from files: where they lie, how they are named, and every problem of a file at once with its place."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from accel_install.digests import digest_of
from accel_install.errors import RecipeError
from accel_install.recipe.check import check
from accel_install.recipe.models import Recipe
from accel_install.recipe.yaml_loader import KeyPath, Located, Problem, load_yaml

__all__ = ["LoadedRecipe", "RecipeInfo", "list_recipes", "load_recipe", "recipes_dir"]


@dataclass(frozen=True)
class RecipeInfo:
    """A recipe as the list shows it."""

    name: str
    title: str
    path: Path


@dataclass(frozen=True)
class LoadedRecipe:
    """A recipe, its file, and the digest of its content (not of its spelling)."""

    recipe: Recipe
    path: Path
    digest: str


def recipes_dir() -> Path:
    """Return the folder of the shipped recipes: in the installed package, else in the source tree.

    `ACCEL_INSTALL_RECIPES` names another one.
    """
    chosen = os.environ.get("ACCEL_INSTALL_RECIPES")
    if chosen:
        return Path(chosen)
    package = Path(__file__).resolve().parents[1]
    shipped = package / "_recipes"
    return shipped if shipped.is_dir() else package.parents[1] / "recipes"


def list_recipes() -> list[RecipeInfo]:
    """Return the shipped recipes by name. A damaged one is listed with that as its title."""
    infos = []
    for path in sorted((recipes_dir() / "platforms").glob("*.yaml")):
        value = load_yaml(path).value
        title = value.get("title") if isinstance(value, dict) else None
        infos.append(RecipeInfo(path.stem, str(title or "(damaged file: accel-install recipes check)"), path))
    return infos


def load_recipe(name_or_path: str) -> LoadedRecipe:
    """Load a recipe by name, or from a file (ends in .yaml or .yml, or is an existing path).

    Raises:
        RecipeError: `recipe.unknown`, or `recipe.malformed` with all problems, each with file, line and column.
    """
    path = _path_of(name_or_path)
    located = load_yaml(path, shown_as=str(path))
    if located.problems or not isinstance(located.value, dict):
        found = located.problems or [Problem(located.file, 1, 1, "is not a mapping of keys")]
        raise _malformed(path, found)
    recipe = _validated(located, path)
    shipped = path.parent == recipes_dir() / "platforms"  # those are checked by the tests, and every start would pay for it
    found = [] if shipped else [located.problem(where, message) for where, message in check(recipe)]
    if found:
        raise _malformed(path, found)
    return LoadedRecipe(recipe, path, digest_of(recipe.model_dump(mode="json", by_alias=True)))


def _path_of(name_or_path: str) -> Path:
    if name_or_path.endswith((".yaml", ".yml")) or os.sep in name_or_path or Path(name_or_path).is_file():
        path = Path(name_or_path)
        if not path.is_file():
            raise RecipeError("recipe.unknown", "there is no such recipe file", value=name_or_path, hint="accel-install recipes")
        return path
    shipped = recipes_dir() / "platforms" / f"{name_or_path}.yaml"
    if name_or_path and shipped.is_file():
        return shipped
    names = [p.stem for p in sorted((recipes_dir() / "platforms").glob("*.yaml"))]
    near = difflib.get_close_matches(name_or_path, names, n=1)
    raise RecipeError(
        "recipe.unknown",
        f"there is no recipe `{name_or_path}`",
        value=name_or_path,
        expected=", ".join(names),
        hint=f"accel-install plan {near[0]}" if near else "accel-install recipes",
    )


def _validated(located: Located, path: Path) -> Recipe:
    try:
        return Recipe.model_validate(located.value)
    except ValidationError as error:
        problems = [
            located.problem(_key_path(item["loc"]), _message(item["loc"], item["msg"]))
            for item in error.errors(include_url=False, include_context=False, include_input=False)
        ]
        raise _malformed(path, problems) from None


def _key_path(loc: tuple[int | str, ...]) -> KeyPath:
    return tuple(loc)


def _message(loc: tuple[int | str, ...], text: str) -> str:
    plain = text.replace("Extra inputs are not permitted", "unknown key").replace("Field required", "is missing")
    return f"`{'.'.join(str(part) for part in loc)}`: {plain[0].lower()}{plain[1:]}"


def _malformed(path: Path, problems: list[Problem]) -> RecipeError:
    ordered = sorted(problems, key=lambda p: (p.line, p.column, p.message))
    return RecipeError(
        "recipe.malformed",
        f"{path.name} has {len(ordered)} problem{'s' if len(ordered) != 1 else ''}",
        value="\n    ".join(["", *map(str, ordered)]) if len(ordered) > 1 else str(ordered[0]),
        expected="a recipe as the shipped ones are (accel-install recipes show ascend-910b --json)",
        hint=f"accel-install recipes check {path}",
        details={"problems": [{"file": p.file, "line": p.line, "column": p.column, "message": p.message} for p in ordered]},
    )
