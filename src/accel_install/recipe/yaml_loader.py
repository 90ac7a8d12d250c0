"""YAML into plain values with the place of every key. No tags, no aliases; duplicate keys are problems.

The fast C parser is used where PyYAML has it; both keep line and column. What the values mean is not judged here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

__all__ = ["Located", "Problem", "load_yaml"]

_LIMIT_BYTES = 2 << 20
_LIMIT_DEPTH = 40
_CORE_TAGS = frozenset(f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float", "str", "timestamp", "seq", "map"))
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """One thing wrong with a file: line and column count from 1."""

    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


@dataclass
class Located:
    """A loaded file: the value, where each key path stands, and problems of the syntax."""

    file: str
    value: Any = None
    places: dict[KeyPath, tuple[int, int]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def place(self, path: KeyPath) -> tuple[int, int]:
        """Return (line, column) of a path, or of its nearest known parent."""
        for length in range(len(path), -1, -1):
            if path[:length] in self.places:
                return self.places[path[:length]]
        return 1, 1

    def problem(self, path: KeyPath, message: str) -> Problem:
        """Return a problem at the place of a path."""
        line, column = self.place(path)
        return Problem(self.file, line, column, message)


def load_yaml(path: Path, shown_as: str | None = None) -> Located:
    """Load a YAML file; every failure becomes a problem, nothing is raised."""
    located = Located(shown_as or str(path))
    try:
        data = path.read_bytes()
    except OSError as error:
        located.problems.append(Problem(located.file, 1, 1, f"cannot be read: {error.strerror}"))
        return located
    if len(data) > _LIMIT_BYTES:
        located.problems.append(Problem(located.file, 1, 1, f"is larger than {_LIMIT_BYTES} bytes"))
        return located
    try:
        node = yaml.compose(data.decode("utf-8"), Loader=_LOADER)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        located.problems.append(_syntax_problem(located.file, error))
        return located
    located.value = _Builder(located).build(node, ())
    return located


def _syntax_problem(file: str, error: Exception) -> Problem:
    mark = getattr(error, "problem_mark", None)
    text = getattr(error, "problem", None) or str(error)
    if mark is None:
        return Problem(file, 1, 1, f"is not YAML: {text}")
    return Problem(file, mark.line + 1, mark.column + 1, f"is not YAML: {text}")


class _Builder:
    """Plain values of a composed tree, each node visited once: an alias could stand for a file without end."""

    def __init__(self, located: Located) -> None:
        self._located = located
        self._plain = yaml.SafeLoader("")
        self._seen: set[int] = set()

    def build(self, node: Any, path: KeyPath) -> Any:
        if node is None:
            return None
        place = (node.start_mark.line + 1, node.start_mark.column + 1)
        self._located.places.setdefault(path, place)
        refused = self._refusal(node, path)
        if refused is not None:
            self._problem(path, refused)
            return None
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*path, n)) for n, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _refusal(self, node: Any, path: KeyPath) -> str | None:
        if id(node) in self._seen:
            return "aliases are not allowed; write the value out"
        self._seen.add(id(node))
        if node.tag not in _CORE_TAGS:
            return f"tag {node.tag} is not allowed"
        return f"is nested deeper than {_LIMIT_DEPTH} levels" if len(path) > _LIMIT_DEPTH else None

    def _problem(self, path: KeyPath, message: str) -> None:
        self._located.problems.append(self._located.problem(path, message))

    def _scalar(self, node: Any, path: KeyPath) -> Any:
        try:
            return self._plain.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            self._problem(path, f"bad value: {error}")
            return None

    def _mapping(self, node: Any, path: KeyPath) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            mark = key_node.start_mark
            if not isinstance(key_node, yaml.ScalarNode):
                found = Problem(self._located.file, mark.line + 1, mark.column + 1, "a key must be a plain word")
                self._located.problems.append(found)
                continue
            key = str(key_node.value)
            where = (*path, key)
            self._located.places[where] = (mark.line + 1, mark.column + 1)
            if key in result:
                self._problem(where, f"key `{key}` stands twice")
            result[key] = self.build(value_node, where)
        return result
