"""A tiny stack on a loopback index: a recipe with a pinned base, a closure, and a fork that owns a contested module."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tiny_wheels import make_wheel

from accel_install.rehearse.server import LoopbackIndex

__all__ = ["Stack", "local_stack", "tree_of"]

_RECIPE = """schema: 1
name: tiny
title: tiny stack for tests
platform: tiny
requirements: [app]
indexes:
  vendor: {{url: "http://127.0.0.1:9/vendor/simple"}}
packages:
  base: {{role: torch-family}}
  mate: {{role: torch-family}}
  app: {{role: serving}}
  fork: {{role: fork, index: vendor}}
excluded:
  - {{name: upstream, reason: "owns the module contested, which fork provides"}}
exclusive:
  - {{module: contested, provider: fork, members: [fork, upstream], reason: "both own contested/"}}
expected_conflicts:
  - {{package: app, requires: base, reason: "app is built for another base"}}
  - {{package: app, requires: upstream, reason: "fork provides the module"}}
rows:
  - platform: tiny
    id: tiny-1
    components: {{base: "1.0", mate: "1.0", app: "2.0", fork: "3.2.2"}}
    python: ["{python}"]
    source: made for tests
    date: "2026-12-01"
    status: published
steps:
  - {{id: host-check, kind: host_check, title: Host check, params: {{free_bytes: {{env: {env_bytes}, cache: 1000}}}}}}
  - {{id: python-env, kind: python_env, title: Python environment, needs: [host-check]}}
  - {{id: base, kind: wheels, title: base family, needs: [python-env], packages: [base, mate], protects: ["*"]}}
  - {{id: app, kind: wheels, title: app and closure, needs: [base], packages: [app], closure: true, protects: ["*"]}}
  - {{id: fork, kind: wheels_nodeps, title: fork last, needs: [app], packages: [fork], protects: ["*"]}}
  - id: verify
    kind: smoke_test
    title: Imports
    needs: [fork]
    params: {{imports: [base, app, contested], module_owners: {{contested: fork}}, timeout_s: 60}}
"""


@dataclass(frozen=True)
class Stack:
    """The recipe file, the folders of the indexes, and the options that name them."""

    recipe: Path
    folders: dict[str, Path]
    options: tuple[str, ...]


def make_indexes(folder: Path) -> dict[str, Path]:
    """Write the wheels of both indexes."""
    default, vendor = folder / "default", folder / "vendor"
    make_wheel(default, "base", "1.0", files={"base/__init__.py": "x = 1\n", "base/data.txt": "d" * 5000})
    make_wheel(default, "base", "2.0")
    make_wheel(default, "mate", "1.0", ["base==1.0"])
    make_wheel(default, "app", "2.0", ["base==2.0", "upstream==9.0", "leaf>=1", "mate"])
    make_wheel(default, "leaf", "1.5", files={f"leaf/m{n}.py": f"y = {n}\n" for n in range(40)} | {"leaf/__init__.py": ""})
    make_wheel(default, "upstream", "9.0", files={"contested/__init__.py": "owner = 'upstream'\n"})
    make_wheel(default, "mover", "1.0", ["base==2.0"])
    fork = {"contested/__init__.py": "owner = 'fork'\n", "contested/backends/__init__.py": ""}
    make_wheel(vendor, "fork", "3.2.2", ["upstream==9.0"], files=fork)
    return {"default": default, "vendor": vendor}


@contextmanager
def local_stack(folder: Path, env_bytes: int = 1000) -> Iterator[Stack]:
    """Serve the indexes while the context is open."""
    folders = make_indexes(folder / "indexes")
    recipe = folder / "tiny.yaml"
    recipe.write_text(_RECIPE.format(python=f"{sys.version_info[0]}.{sys.version_info[1]}", env_bytes=env_bytes))
    with LoopbackIndex(folders) as index:
        named = tuple(part for name in folders for part in ("--index", f"{name}={index.url(name)}"))
        yield Stack(recipe, folders, named)


def tree_of(folder: Path) -> dict[str, str]:
    """Return every path below a folder with what it is: link target, or mode and digest; caches of Python left out."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        if "__pycache__" in path.parts:
            continue
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file():
            found[name] = f"{path.stat().st_mode:o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        else:
            found[name] = f"{path.stat().st_mode:o}"
    return found
