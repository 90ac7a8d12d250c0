"""Machine files: what `detect --save` writes and `--machine` reads. YAML, or JSON, which is YAML too.

Here are reading, writing and line numbers; what the values mean is judged in `machine_problems`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from accel_install.errors import MachineError, PreflightError
from accel_install.facts.machine_problems import Problem, completed, facts_problems, field_problem
from accel_install.facts.models import MachineFacts
from accel_install.host.durable import write_atomic
from accel_install.version import __version__

__all__ = ["load_machine", "save_machine"]

_SCHEMA = 1
_LIMIT_BYTES = 2 << 20
_ENVELOPE = ("schema", "tool_version")
_HEAD = "# A machine as accel-install saw it. Edit freely; what is removed counts as unknown.\n"
_MAX_DEPTH = 12


class _Loader(yaml.SafeLoader):
    """Reads numbers and dates as they are written: `3.10`, `22.03` and `2.30` are versions, not numbers."""


_PLAIN = {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float", "tag:yaml.org,2002:timestamp"}
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _PLAIN]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def save_machine(facts: MachineFacts, path: Path) -> None:
    """Write a machine file.

    Raises:
        PreflightError: the place cannot be written.
    """
    document = {"schema": _SCHEMA, "tool_version": __version__, **facts.model_dump(mode="json")}
    text = _HEAD + yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    try:
        write_atomic(path, text.encode())
    except OSError as error:
        raise PreflightError(
            "preflight.output-not-writable",
            f"the machine file cannot be written: {error.strerror}",
            value=str(path),
            expected="a path in a writable folder",
        ) from error


def load_machine(path: Path) -> MachineFacts:
    """Read a machine file; what it lacks is unknown, never taken from this machine.

    Raises:
        MachineError: `machine.bad-file`, with all problems and their lines.
    """
    node = _compose(path)
    problems = [*_node_problems(node)]
    value = _construct(node, path)
    if not isinstance(value, dict):
        raise _bad(path, [(1, "is not a mapping of keys")])
    if str(value.get("schema", _SCHEMA)) != str(_SCHEMA):
        problems.append((_line(node, ("schema",)), f"`schema` is {value['schema']}, this version reads {_SCHEMA}"))
    given = {key: item for key, item in value.items() if key not in _ENVELOPE}
    found: Sequence[Problem]
    try:
        facts = MachineFacts.model_validate(given)
        found = facts_problems(facts)
    except ValidationError as error:
        found = [field_problem(item) for item in error.errors(include_url=False)]
    problems += [(_line(node, where), message) for where, message in found]
    if problems:
        raise _bad(path, problems)
    return completed(facts, given)


def _compose(path: Path) -> Any:
    try:
        with path.open("rb") as stream:
            data = stream.read(_LIMIT_BYTES + 1)
        if len(data) > _LIMIT_BYTES:
            raise _bad(path, [(1, f"is larger than {_LIMIT_BYTES >> 20} MiB")])
        return yaml.compose(data.decode("utf-8"), Loader=_Loader)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise _bad(path, [(1, f"cannot be read: {reason}")]) from error
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        text = getattr(error, "problem", None) or "it is nested too deeply"
        raise _bad(path, [(mark.line + 1 if mark else 1, f"is not YAML: {text}")]) from error


def _construct(node: Any, path: Path) -> Any:
    if node is None:
        return None
    try:
        return _Loader("").construct_document(node)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        text = getattr(error, "problem", None) or str(error)
        raise _bad(path, [(mark.line + 1 if mark else 1, f"is not plain data: {text}")]) from error


def _node_problems(node: Any, depth: int = 0) -> Iterator[tuple[int, str]]:
    """Find keys given twice, of which YAML would silently take the last, and nesting that no machine file has."""
    if depth > _MAX_DEPTH:
        yield node.start_mark.line + 1, "is nested too deeply"
    elif isinstance(node, yaml.MappingNode):
        seen: set[Any] = set()
        for key, item in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    yield key.start_mark.line + 1, f"key `{key.value}` is given twice"
                seen.add(key.value)
            yield from _node_problems(item, depth + 1)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _node_problems(item, depth + 1)


def _line(node: Any, where: tuple[int | str, ...]) -> int:
    """Return the line of a path, or of its nearest parent."""
    line = node.start_mark.line + 1
    for part in where:
        child = _child(node, part)
        if child is None:
            break
        line, node = child
    return int(line)


def _child(node: Any, part: int | str) -> tuple[int, Any] | None:
    if isinstance(node, yaml.MappingNode):
        return next(((k.start_mark.line + 1, v) for k, v in node.value if k.value == part), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part].start_mark.line + 1, node.value[part]
    return None


def _bad(path: Path, problems: Sequence[tuple[int, str]]) -> MachineError:
    ordered = sorted(problems)
    count = f"{len(ordered)} problem{'s' if len(ordered) != 1 else ''}"
    return MachineError(
        "machine.bad-file",
        f"the machine file has {count}",
        value="; ".join(f"{path.name}:{line}: {message}" for line, message in ordered),
        expected="what `accel-install detect --save FILE` writes",
        hint="accel-install detect --save machine.yaml",
        details={"problems": [{"file": str(path), "line": line, "message": message} for line, message in ordered]},
    )
