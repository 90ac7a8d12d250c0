"""Where interpreters may lie. Nothing is run here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from accel_install.host.base import Host

__all__ = ["python_candidates"]

_BIN_DIRS = ("/usr/local/bin", "/usr/bin", "/bin")


def python_candidates(host: Host, wanted: str | None, path_variable: str) -> list[Path]:
    """Return interpreters to ask, most likely first, none twice.

    Args:
        host: the machine; below a root only its own folders are searched.
        wanted: a version, a path of the machine, or None.
        path_variable: a PATH whose later folders are searched, too; ignored below a root.
    """
    found: dict[tuple[Path, str], Path] = {}
    for path in _candidates(host, wanted, path_variable):
        found.setdefault((path.parent.resolve(), path.name), path)
    return list(found.values())


def _candidates(host: Host, wanted: str | None, path_variable: str) -> Iterator[Path]:
    real = host.root == Path("/")
    if wanted is not None and "/" in wanted:
        found = host.which(str(Path(wanted).absolute()) if real else wanted)
        if found is not None:
            yield found
        return
    folders = [f for f in path_variable.split(":") if f.startswith("/")] if real else []
    for name in _names(wanted):
        places = [name, *(f"{folder}/{name}" for folder in dict.fromkeys([*folders, *_BIN_DIRS]))]
        yield from (path for path in map(host.which, places) if path is not None)


def _names(wanted: str | None) -> list[str]:
    if wanted is None:
        return ["python3", "python"]
    short = ".".join(wanted.split(".")[:2])
    return list(dict.fromkeys([f"python{short}", f"python{short.rstrip('t')}", "python3", "python"]))
