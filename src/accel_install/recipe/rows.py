"""Compatibility rows: loaded, ordered, completed, and judged as far as no index is needed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version
from pydantic import ValidationError

from accel_install.errors import RecipeError
from accel_install.facts.target import Target
from accel_install.recipe.load import recipes_dir
from accel_install.recipe.models import Recipe, Row
from accel_install.recipe.yaml_loader import load_yaml

__all__ = ["complete_row", "load_rows", "published_partner", "rows_for", "static_misfit", "warnings_for"]

_FAMILY_PLATFORM = "torch-family"


def load_rows(platform: str) -> tuple[Row, ...]:
    """Return the rows of a platform and the torch-family rows.

    Raises:
        RecipeError: a compatibility file is damaged (`recipe.malformed`).
    """
    return _load_rows(recipes_dir() / "compatibility", platform)


@lru_cache(maxsize=8)
def _load_rows(folder: Path, platform: str) -> tuple[Row, ...]:
    rows: list[Row] = []
    for name in dict.fromkeys([platform, _FAMILY_PLATFORM]):
        path = folder / f"{name}.yaml"
        if path.is_file():
            rows += [_row(item, str(path)) for item in _items(path)]
    return tuple(rows)


def _items(path: Path) -> list[Any]:
    located = load_yaml(path)
    items = located.value.get("rows") if isinstance(located.value, dict) else None
    if located.problems or not isinstance(items, list):
        texts = [str(p) for p in located.problems] or [f"{path}: has no list of `rows`"]
        raise RecipeError("recipe.malformed", f"{path.name} is no file of compatibility rows", value="; ".join(texts))
    return items


def _row(item: Any, file: str) -> Row:
    try:
        return Row.model_validate(item)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = item.get("id") if isinstance(item, dict) else item
        raise RecipeError(
            "recipe.malformed", f"a compatibility row is malformed: {first['msg']}", value=f"{file}: {name}: {first['loc']}"
        ) from None


def rows_for(recipe: Recipe) -> tuple[Row, ...]:
    """Return the recipe's rows in the order in which they are tried.

    Finals before pre-releases, the newest release of the serving package first, then the newest date.
    """
    if recipe.serving is None:
        return tuple(recipe.rows)
    candidates = recipe.rows or [r for r in load_rows(recipe.platform) if r.version_of(recipe.serving) is not None]
    serving = recipe.serving
    return tuple(sorted(candidates, key=lambda r: _order(r, serving), reverse=True))


def _order(row: Row, serving: str) -> tuple[bool, Version, str, bool]:
    version = _version(row.version_of(serving))
    return (not version.is_prerelease, version, row.date, row.status == "verified")


def _version(text: str | None) -> Version:
    try:
        return Version(text or "0")
    except InvalidVersion:
        return Version("0")


def complete_row(row: Row, all_rows: Sequence[Row]) -> Row:
    """Return the row with torchvision and torchaudio from the torch-family row of its torch, where it names none."""
    torch = row.version_of("torch")
    family = next((r for r in all_rows if r.platform == _FAMILY_PLATFORM and r.version_of("torch") == torch), None)
    if torch is None or family is None:
        return row
    added = {k: v for k, v in family.components.items() if k not in row.components}
    return row.model_copy(update={"components": {**row.components, **added}}) if added else row


def static_misfit(row: Row, recipe: Recipe, target: Target, by_id: bool = False) -> str | None:
    """Return why a row cannot fit a target, without asking an index; None when nothing speaks against it.

    Rows that are only `unverified` are taken by id alone, never by default.
    """
    if row.status == "unverified" and not by_id:
        return "the row is unverified; it is taken only by --row"
    if row.arches and target.arch not in row.arches:
        return f"it is for {', '.join(row.arches)}; the target is {target.arch}"
    pythons = [*row.python, *row.python_resolved]
    if pythons and target.python_label not in pythons:
        return f"it is for Python {', '.join(dict.fromkeys(pythons))}; the target has {target.python_label}"
    if row.glibc is not None:
        return _libc_misfit(row, recipe, target)
    return None


def _libc_misfit(row: Row, recipe: Recipe, target: Target) -> str | None:
    plugin = f"{recipe.serving} {row.version_of(recipe.serving)}" if recipe.serving else row.id
    if target.libc != "glibc":
        return f"{plugin} needs glibc >= {row.glibc}, the target has {target.libc} {target.libc_version}"
    if _version(target.libc_version) < _version(row.glibc):
        return f"{plugin} needs glibc >= {row.glibc}, the target has {target.libc_version}"
    return None


def published_partner(row: Row, all_rows: Sequence[Row], component: str = "torch-npu") -> str | None:
    """Return the CANN version that a published row pairs with this row's `component`, when it differs from the row's own."""
    version, cann = row.version_of(component), row.version_of("cann")
    if version is None or cann is None:
        return None
    partners = [
        r.version_of("cann")
        for r in all_rows
        if r.status == "published" and r.version_of(component) == version and r.version_of("cann") is not None
    ]
    return None if not partners or cann in partners else partners[0]


def warnings_for(row: Row, target: Target) -> list[str]:
    """Return what people should know before they rely on a row."""
    notes = []
    partner = published_partner(row, load_rows(row.platform))
    if partner is not None:
        notes.append(
            f"row {row.id}: CANN {row.version_of('cann')} with torch-npu {row.version_of('torch-npu')} is {_proof(row)}, "
            f"not the published pair; the published partner is CANN {partner}"
        )
    if row.status == "unverified":
        notes.append(f"row {row.id} is unverified: {row.note or row.source}")
    if row.status == "verified" and target.python_label not in row.python and target.python_label in row.python_resolved:
        notes.append(
            f"row {row.id} was measured with Python {', '.join(row.python)}; for {target.python_label} it was only resolved"
        )
    return notes


def _proof(row: Row) -> str:
    return f"measured on one machine ({row.date})" if row.status == "verified" else f"{row.status} only"
