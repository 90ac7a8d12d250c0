"""The table of builds: what a wheel's file name does not tell (C++ ABI, CUDA release), with sources."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from accel_install.errors import RecipeError
from accel_install.recipe.load import recipes_dir
from accel_install.recipe.yaml_loader import load_yaml

__all__ = ["Build", "build_of", "load_builds"]


class Build(BaseModel):
    """One entry: `label` is "" for builds without a local label, None for any; empty `arches` means every one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    package: str
    versions: str
    label: str | None = None
    arches: list[str] = Field(default_factory=list)
    cxx11_abi: bool | None = None
    sdk: dict[str, str] = Field(default_factory=dict)
    source: str
    status: Literal["verified", "published", "unverified"]


def load_builds() -> tuple[Build, ...]:
    """Return the shipped table; empty where a folder of recipes has none.

    Raises:
        RecipeError: the file is damaged (`recipe.malformed`).
    """
    return _load(recipes_dir() / "builds.yaml")


@lru_cache(maxsize=4)
def _load(path: Path) -> tuple[Build, ...]:
    if not path.is_file():
        return ()
    located = load_yaml(path)
    items = located.value.get("builds") if isinstance(located.value, dict) else None
    if located.problems or not isinstance(items, list):
        raise RecipeError("recipe.malformed", "the table of builds cannot be read", value=str(path))
    try:
        return tuple(Build.model_validate(item) for item in items)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        said = f"{path}: {first['loc']}: {first['msg']}"
        raise RecipeError("recipe.malformed", "the table of builds is malformed", value=said) from None


def build_of(builds: Sequence[Build], package: str, version: str, local: str | None, arch: str) -> list[Build]:
    """Return the entries about a build, in the table's order.

    Args:
        builds: the table.
        package: canonical name.
        version: public version, without label.
        local: its label, None for none.
        arch: the target's.
    """
    return [b for b in builds if canonicalize_name(b.package) == package and _is_about(b, version, local or "", arch)]


def _is_about(build: Build, version: str, local: str, arch: str) -> bool:
    if build.label is not None and build.label != local:
        return False
    return (not build.arches or arch in build.arches) and SpecifierSet(build.versions).contains(version, prereleases=True)
