"""What a recipe's shape cannot say: references that lead nowhere, bad requirements and patterns, graphs with cycles. Pure.

Whether a step kind exists is not known here: kinds belong to the executor, a layer above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import Formatter

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from accel_install.facts.models import LayersFacts
from accel_install.recipe.dag import circles
from accel_install.recipe.models import Constraint, Override, Recipe, Row, StepSpec

__all__ = ["Found", "check"]

Found = tuple[tuple[str | int, ...], str]

_SCHEMA = 1
_LAYERS = tuple(LayersFacts.model_fields)
_PLACEHOLDERS = frozenset({"chip", "version", "arch", "arch_dash"})


def check(recipe: Recipe) -> list[Found]:
    """Return (key path, message) for every problem, in no particular order. Empty when the recipe is sound."""
    return [
        *_schema(recipe),
        *_steps(recipe),
        *_packages(recipe),
        *_requirements(recipe),
        *_bounds("constraints", recipe.constraints),
        *_bounds("overrides", recipe.overrides),
        *_names(recipe),
        *_rows(recipe),
    ]


def _schema(recipe: Recipe) -> Iterator[Found]:
    if recipe.schema_version != _SCHEMA:
        yield ("schema",), f"schema {recipe.schema_version} is not known here; this tool reads schema {_SCHEMA}"


def _steps(recipe: Recipe) -> Iterator[Found]:
    seen: set[str] = set()
    known = {s.id for s in recipe.steps}
    for n, step in enumerate(recipe.steps):
        if step.id in seen:
            yield ("steps", n, "id"), f"step id `{step.id}` stands twice"
        seen.add(step.id)
        for m, name in enumerate(step.packages):
            if name not in recipe.packages:
                yield ("steps", n, "packages", m), f"`{name}` is not among `packages`"
        for m, need in enumerate(step.needs):
            if need not in known:
                yield ("steps", n, "needs", m), f"step {step.id} needs `{need}`, which does not exist"
        yield from ((("steps", n, *where), text) for where, text in _layer(step))
    if sum(s.closure for s in recipe.steps) > 1:
        yield ("steps",), "more than one step installs the closure"
    ids = [s.id for s in recipe.steps]
    for circle in circles(recipe.steps):
        yield ("steps", ids.index(circle[0]), "needs"), f"steps need each other in a circle: {' -> '.join(circle)}"


def _layer(step: StepSpec) -> Iterator[Found]:
    if step.layer is not None and step.layer not in _LAYERS:
        yield ("layer",), f"layer `{step.layer}` is not one of {', '.join(_LAYERS)}"
    files = step.params.get("files", [])
    if not isinstance(files, list):
        yield ("params", "files"), "`files` is a list of file name patterns"
        return
    for n, pattern in enumerate(files):
        fault = _pattern_fault(pattern)
        if fault is not None:
            yield ("params", "files", n), fault


def _pattern_fault(pattern: object) -> str | None:
    """Return what is wrong with the file name pattern of a vendor package."""
    if not isinstance(pattern, str):
        return f"`{pattern}` is not a file name pattern"
    try:
        names = {name for _, name, _, _ in Formatter().parse(pattern) if name is not None}
    except ValueError as error:
        return f"`{pattern}` is not a file name pattern: {error}"
    unknown = sorted(names - _PLACEHOLDERS)
    if unknown:
        return f"`{pattern}` has the unknown placeholder `{unknown[0]}`; known: {', '.join(sorted(_PLACEHOLDERS))}"
    return None


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
    for n, foreign in enumerate(recipe.foreign):
        if not foreign.pattern.strip("*? "):
            yield ("foreign", n, "pattern"), f"pattern `{foreign.pattern}` names every package or none"
    for n, family in enumerate(recipe.exclusive):
        if family.provider is not None and family.provider not in family.members:
            yield ("exclusive", n, "provider"), f"`{family.provider}` is not among the members"


def _rows(recipe: Recipe) -> Iterator[Found]:
    if recipe.serving is None and not recipe.rows:
        yield ("rows",), "a recipe without `serving` needs rows of its own"
    ids = [r.id for r in recipe.rows]
    if recipe.default_row is not None and recipe.rows and recipe.default_row not in ids:
        yield ("default_row",), f"there is no row `{recipe.default_row}`"
    for n, row in enumerate(recipe.rows):
        if row.id in ids[:n]:
            yield ("rows", n, "id"), f"row id `{row.id}` stands twice"
        yield from ((("rows", n, *where), text) for where, text in _versions(row, recipe))


def _versions(row: Row, recipe: Recipe) -> Iterator[Found]:
    if row.glibc is not None and not _is_version(row.glibc):
        yield ("glibc",), f"`{row.glibc}` is not a version of glibc"
    for name in recipe.packages:
        version = row.version_of(name)
        if version is not None and not _is_version(version) and not _is_specifier(version):
            yield ("components", name), f"`{version}` is not a version of {name} (PEP 440)"


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


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True
