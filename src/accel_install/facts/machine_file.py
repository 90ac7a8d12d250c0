"""Machine files: what `detect --save` writes and `--machine` reads. YAML, or JSON, which is YAML too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from accel_install.errors import MachineError, PreflightError
from accel_install.facts.models import MachineFacts
from accel_install.host.durable import write_atomic

__all__ = ["load_machine", "save_machine"]

_LIMIT_BYTES = 2 << 20
_IGNORED = ("schema", "tool_version")
_NOT_STATED = "not stated in the machine file"
_LAYERS = ("driver", "firmware", "sdk", "ops", "nnal")
_FIELDS = ("os", "arch", "kernel", "memory_bytes", "filesystems", "container", "python", "accelerators", "environment")


def save_machine(facts: MachineFacts, path: Path) -> None:
    """Write a machine file.

    Raises:
        PreflightError: the place cannot be written.
    """
    head = "# A machine as accel-install saw it. Edit freely; what is removed counts as unknown.\n"
    text = head + yaml.safe_dump({"schema": 1, **facts.model_dump(mode="json")}, sort_keys=False, allow_unicode=True)
    try:
        write_atomic(path, text.encode())
    except OSError as error:
        raise PreflightError(
            "preflight.output-not-writable", f"the machine file cannot be written: {error.strerror}", value=str(path)
        ) from error


def load_machine(path: Path) -> MachineFacts:
    """Read a machine file; what it lacks is unknown.

    Raises:
        MachineError: `machine.bad-file`, with all problems and their lines.
    """
    try:
        data = path.read_bytes()[: _LIMIT_BYTES + 1]
        node = yaml.compose(data.decode("utf-8"), Loader=yaml.SafeLoader)
        value = yaml.safe_load(data.decode("utf-8"))
    except (OSError, UnicodeDecodeError, RecursionError) as error:
        raise _bad(path, [{"line": 1, "message": f"cannot be read: {error}"}]) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        text = str(getattr(error, "problem", None) or error)
        raise _bad(path, [{"line": mark.line + 1 if mark else 1, "message": f"is not YAML: {text}"}]) from error
    if not isinstance(value, dict):
        raise _bad(path, [{"line": 1, "message": "is not a mapping of keys"}])
    given = {k: v for k, v in value.items() if k not in _IGNORED}
    try:
        facts = MachineFacts.model_validate(given)
    except ValidationError as error:
        raise _bad(path, [_problem(item, node) for item in error.errors(include_url=False)]) from None
    return facts.model_copy(update={"unknown": {**_missing(given), **facts.unknown}})


def _missing(given: dict[Any, Any]) -> dict[str, str]:
    names = [name for name in _FIELDS if given.get(name) is None]
    if given.get("glibc") is None and given.get("musl") is None:
        names.append("glibc")
    layers = given.get("layers") if isinstance(given.get("layers"), dict) else {}
    names += [f"layers.{name}" for name in _LAYERS if name not in (layers or {})]
    return dict.fromkeys(names, _NOT_STATED)


def _problem(item: Any, node: Any) -> dict[str, Any]:
    where = ".".join(str(part) for part in item["loc"])
    return {"line": _line(node, item["loc"]), "message": f"`{where}`: {item['msg']}"}


def _line(node: Any, path: tuple[int | str, ...]) -> int:
    """Return the line of a path, or of its nearest parent."""
    line = node.start_mark.line + 1 if node is not None else 1
    for part in path:
        child = _child(node, part)
        if child is None:
            break
        line, node = child
    return line


def _child(node: Any, part: int | str) -> tuple[int, Any] | None:
    if isinstance(node, yaml.MappingNode):
        return next(((k.start_mark.line + 1, v) for k, v in node.value if k.value == part), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part].start_mark.line + 1, node.value[part]
    return None


def _bad(path: Path, problems: list[dict[str, Any]]) -> MachineError:
    text = "; ".join(f"{path.name}:{p['line']}: {p['message']}" for p in problems)
    return MachineError(
        "machine.bad-file",
        f"the machine file has {len(problems)} problem{'s' if len(problems) != 1 else ''}",
        value=text,
        expected="what `accel-install detect --save FILE` writes",
        hint="accel-install detect --save FILE",
        details={"problems": [{"file": str(path), **p} for p in problems]},
    )
