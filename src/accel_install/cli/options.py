"""Options shared by the commands, declared once, and the value they are gathered into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = [
    "Accelerator",
    "AllFiles",
    "Arch",
    "Artifacts",
    "Compare",
    "EnvPath",
    "FindLinks",
    "Glibc",
    "InPlace",
    "Index",
    "Json",
    "Licences",
    "MachineFile",
    "Musl",
    "Offline",
    "OsName",
    "Output",
    "Python",
    "Refresh",
    "Requirements",
    "Root",
    "Row",
    "RunOptions",
    "Scope",
    "StateDirOption",
    "Unattended",
    "Yes",
]

MachineFile = Annotated[
    Path | None, typer.Option("--machine", metavar="FILE", help="Plan for a described machine (YAML or JSON).")
]
Arch = Annotated[str | None, typer.Option("--arch", help="aarch64 or x86_64.")]
Python = Annotated[str | None, typer.Option("--python", metavar="X.Y", help="Target interpreter, such as 3.11 or 3.13t.")]
Glibc = Annotated[str | None, typer.Option("--glibc", metavar="X.Y", help="glibc of the target, such as 2.34.")]
Musl = Annotated[str | None, typer.Option("--musl", metavar="X.Y", help="musl of the target, such as 1.2.")]
OsName = Annotated[str | None, typer.Option("--os", metavar="ID-VERSION", help="Target system, such as openeuler-22.03.")]
Accelerator = Annotated[str | None, typer.Option("--accelerator", metavar="MODEL", help="Target chip, such as 910B2.")]
Row = Annotated[str | None, typer.Option("--row", metavar="ID", help="Another compatibility row than the default.")]
Scope = Annotated[str, typer.Option("--scope", help="host (all layers), container (no driver, firmware), python.")]
Root = Annotated[Path, typer.Option("--root", metavar="DIR", help="Treat DIR as the machine's /.")]
EnvPath = Annotated[Path | None, typer.Option("--env", metavar="PATH", help="The Python environment.")]
InPlace = Annotated[bool, typer.Option("--in-place", help="Adopt the existing environment at --env (weaker: no rollback).")]
Index = Annotated[list[str] | None, typer.Option("--index", metavar="NAME=URL", help="Replace a named index. May be repeated.")]
FindLinks = Annotated[
    list[str] | None,
    typer.Option("--find-links", metavar="URL-or-DIR", help="A flat page or folder of wheels, preferred. May be repeated."),
]
Artifacts = Annotated[Path | None, typer.Option("--artifacts", metavar="DIR", help="Vendor packages (.run) already downloaded.")]
Requirements = Annotated[
    Path | None, typer.Option("--requirements", metavar="FILE", help="Your own requirements, checked and joined.")
]
Compare = Annotated[bool, typer.Option("--compare", help="Also compute what a plain install would download.")]
Offline = Annotated[bool, typer.Option("--offline", help="Touch no network.")]
Refresh = Annotated[bool, typer.Option("--refresh", help="Ask the indexes again despite the cache.")]
Json = Annotated[bool, typer.Option("--json", help="stdout holds JSON only.")]
Output = Annotated[Path | None, typer.Option("-o", metavar="FILE", help="Where the result goes.")]
StateDirOption = Annotated[Path | None, typer.Option("--state-dir", metavar="DIR", help="Journal and state.")]
AllFiles = Annotated[bool, typer.Option("--all-files", help="Every package and every file that was not picked.")]
Licences = Annotated[
    list[str] | None,
    typer.Option("--accept-license", metavar="NAME", help="Accept a vendor licence by name. May be repeated."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before acting.")]
Unattended = Annotated[bool, typer.Option("--unattended", help="Nobody is there: never ask, refuse instead.")]


_LISTS = frozenset({"index", "find_links", "licences"})


@dataclass(frozen=True)
class RunOptions:
    """All shared options of one call, as given."""

    machine: Path | None = None
    arch: str | None = None
    python: str | None = None
    glibc: str | None = None
    musl: str | None = None
    os: str | None = None
    accelerator: str | None = None
    row: str | None = None
    scope: str = "host"
    root: Path = Path("/")
    env: Path | None = None
    in_place: bool = False
    index: list[str] = field(default_factory=list)
    find_links: list[str] = field(default_factory=list)
    artifacts: Path | None = None
    requirements: Path | None = None
    compare: bool = False
    offline: bool = False
    refresh: bool = False
    state_dir: Path | None = None
    licences: list[str] = field(default_factory=list)
    yes: bool = False
    unattended: bool = False
    wait: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> RunOptions:
        """Gather the shared options out of a command's arguments (its `locals()`); a list that was not given is empty."""
        names = {f.name for f in fields(cls)}
        given = {k: v for k, v in values.items() if k in names}
        return cls(**{k: [] if v is None and k in _LISTS else v for k, v in given.items()})
