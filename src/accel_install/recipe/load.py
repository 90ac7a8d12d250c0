"""Recipes from files: where they lie, how they are named, and every problem of a file at once with its place."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from pydantic import ValidationError

from accel_install.digests import digest_of
from accel_install.errors import RecipeError
from accel_install.recipe.check import check
from accel_install.recipe.models import Recipe
from accel_install.recipe.salvage import check_the_rest
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
    if not isinstance(located.value, dict):
        raise _malformed(path, located.problems or [Problem(located.file, 1, 1, "is not a mapping of keys")])
    recipe, found = _validated(located)
    if recipe is None or found:
        raise _malformed(path, found)
    return LoadedRecipe(recipe, path, digest_of(recipe.model_dump(mode="json", by_alias=True)))


def _path_of(name_or_path: str) -> Path:
    if name_or_path.endswith((".yaml", ".yml")) or os.sep in name_or_path or _is_file(Path(name_or_path)):
        path = Path(name_or_path)
        if not _is_file(path):
            raise RecipeError("recipe.unknown", "there is no such recipe file", value=name_or_path, hint="accel-install recipes")
        return path
    shipped = recipes_dir() / "platforms" / f"{name_or_path}.yaml"
    if name_or_path and _is_file(shipped):
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


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name too long, a folder that may not be entered
        return False


def _validated(located: Located) -> tuple[Recipe | None, list[Problem]]:
    """Return the recipe, or None, and everything that is wrong with it: syntax, shape, and what the shape cannot say."""
    try:
        recipe = Recipe.model_validate(located.value)
    except ValidationError as error:
        shape = _shape_problems(located, error)
        rest = check_the_rest(located.value, shape)
        found = [located.problem(where, text) for where, text in [*shape.items(), *rest]]
        return None, _without_echo(located.problems, found)
    found = [located.problem(where, text) for where, text in check(recipe)]
    return recipe, _without_echo(located.problems, found)


def _without_echo(syntax: list[Problem], found: list[Problem]) -> list[Problem]:
    """Leave out what stands at the place of a problem of the syntax: the value there was taken out, or is in doubt."""
    places = {(p.line, p.column) for p in syntax}
    return syntax + [p for p in found if (p.line, p.column) not in places]


def _shape_problems(located: Located, error: ValidationError) -> dict[KeyPath, str]:
    """Return one text per place; the alternatives of a union (a text or a list) become one problem."""
    texts: dict[KeyPath, list[str]] = {}
    for item in error.errors(include_url=False, include_context=False):
        loc: KeyPath = tuple(item["loc"])
        length = len(loc) if item["type"] == "missing" else max(n for n in range(len(loc) + 1) if loc[:n] in located.places)
        texts.setdefault(loc[:length], []).append(_message(item["type"], item["msg"], item["input"]))
    return {loc: f"`{'.'.join(str(part) for part in loc)}`: {', or '.join(dict.fromkeys(found))}" for loc, found in texts.items()}


def _message(kind: str, text: str, value: object) -> str:
    plain = {"extra_forbidden": "unknown key", "missing": "is missing"}.get(kind, f"{text[0].lower()}{text[1:]}")
    quoted = kind == "string_type" and isinstance(value, int | float | date) and not isinstance(value, bool)
    return f"{plain} (write {value} in quotes)" if quoted else plain


def _malformed(path: Path, problems: list[Problem]) -> RecipeError:
    ordered = sorted(set(problems), key=lambda p: (p.line, p.column, p.message))
    return RecipeError(
        "recipe.malformed",
        f"{path.name} has {len(ordered)} problem{'s' if len(ordered) != 1 else ''}",
        value="\n    ".join(["", *map(str, ordered)]) if len(ordered) > 1 else str(ordered[0]),
        expected="a recipe as the shipped ones are (accel-install recipes show ascend-910b --json)",
        hint=f"accel-install recipes check {path}",
        details={"problems": [{"file": p.file, "line": p.line, "column": p.column, "message": p.message} for p in ordered]},
    )
