"""What a recipe's shape cannot say: references that lead nowhere, bad requirements, graphs with cycles. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from accel_install.recipe.dag import problems as graph_problems
from accel_install.recipe.models import Constraint, Override, Recipe

__all__ = ["check"]

Found = tuple[tuple[str | int, ...], str]


def check(recipe: Recipe) -> list[Found]:
    """Return (key path, message) for every problem, in no particular order. Empty when the recipe is sound."""
    return [
        *_steps(recipe),
        *_packages(recipe),
        *_requirements(recipe),
        *_bounds("constraints", recipe.constraints),
        *_bounds("overrides", recipe.overrides),
        *_names(recipe),
        *_rows(recipe),
    ]


def _steps(recipe: Recipe) -> Iterator[Found]:
    seen: set[str] = set()
    for n, step in enumerate(recipe.steps):
        if step.id in seen:
            yield ("steps", n, "id"), f"step id `{step.id}` stands twice"
        seen.add(step.id)
        for m, name in enumerate(step.packages):
            if name not in recipe.packages:
                yield ("steps", n, "packages", m), f"`{name}` is not among `packages`"
        for need in step.needs:
            if need not in {s.id for s in recipe.steps}:
                yield ("steps", n, "needs"), f"step {step.id} needs `{need}`, which does not exist"
    if sum(s.closure for s in recipe.steps) > 1:
        yield ("steps",), "more than one step installs the closure"
    yield from ((("steps",), text) for text in graph_problems(recipe.steps) if "circle" in text)


def _packages(recipe: Recipe) -> Iterator[Found]:
    known = {"default", *recipe.indexes}
    for name, spec in recipe.packages.items():
        if canonicalize_name(name) != name:
            yield ("packages", name), f"`{name}` is not canonical; write `{canonicalize_name(name)}`"
        wanted = [spec.index] if isinstance(spec.index, str) else list(spec.index.values())
        for index in [*wanted, *spec.version_index.values()]:
            if index not in known:
                yield ("packages", name, "index"), f"index `{index}` is not among `indexes`"
        for specifier in spec.version_index:
            if not _is_specifier(specifier):
                yield ("packages", name, "version_index"), f"`{specifier}` is not a version specifier"


def _requirements(recipe: Recipe) -> Iterator[Found]:
    for n, text in enumerate(recipe.requirements):
        if not _is_requirement(text):
            yield ("requirements", n), f"`{text}` is not a requirement (PEP 508)"


def _bounds(key: str, items: Sequence[Constraint | Override]) -> Iterator[Found]:
    for n, item in enumerate(items):
        if not _is_requirement(item.requirement):
            yield (key, n, "requirement"), f"`{item.requirement}` is not a requirement (PEP 508)"
        if item.when_version is not None and not _is_specifier(item.when_version):
            yield (key, n, "when_version"), f"`{item.when_version}` is not a version specifier"


def _names(recipe: Recipe) -> Iterator[Found]:
    for n, item in enumerate(recipe.excluded):
        if canonicalize_name(item.name) != item.name:
            yield ("excluded", n, "name"), f"`{item.name}` is not canonical; write `{canonicalize_name(item.name)}`"
    for n, family in enumerate(recipe.exclusive):
        if family.provider is not None and family.provider not in family.members:
            yield ("exclusive", n, "provider"), f"`{family.provider}` is not among the members"


def _rows(recipe: Recipe) -> Iterator[Found]:
    if recipe.serving is None and not recipe.rows:
        yield ("rows",), "a recipe without `serving` needs rows of its own"
    ids = {r.id for r in recipe.rows}
    if recipe.default_row is not None and recipe.rows and recipe.default_row not in ids:
        yield ("default_row",), f"there is no row `{recipe.default_row}`"


def _is_requirement(text: str) -> bool:
    try:
        Requirement(text)
    except InvalidRequirement:
        return False
    return True


def _is_specifier(text: str) -> bool:
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        return False
    return True
