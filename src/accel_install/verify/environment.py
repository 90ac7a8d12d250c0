"""Reading a Python environment from its files: interpreter, site folders, distributions. Runs nothing.

What the distributions should be lives in `pins`; whether their files are whole in `integrity`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from accel_install.verify.distribution import InstalledDist, RecordEntry

__all__ = [
    "EnvironmentInfo",
    "InstalledDist",
    "RecordEntry",
    "environment_info",
    "find_leftovers",
    "read_environment",
    "site_dirs_of",
]


@dataclass(frozen=True)
class EnvironmentInfo:
    """An environment as its files describe it.

    `path` is the environment itself (a container of generations is resolved to the one that `current` names).
    `python_version` is what pyvenv.cfg says (`3.11.7`), else `major.minor` of the library folder, else None.
    """

    path: Path
    python_version: str | None
    free_threaded: bool
    site_dirs: tuple[Path, ...]
    system_site: bool = False

    @property
    def exists(self) -> bool:
        """Say whether there is an environment at all."""
        return bool(self.site_dirs)


def environment_info(env: Path) -> EnvironmentInfo:
    """Read an environment folder, or a folder of generations that has `current`; absent parts stay empty."""
    path = _environment_root(env)
    settings = _pyvenv_settings(path / "pyvenv.cfg")
    version = settings.get("version_info") or settings.get("version")
    libraries = _library_dirs(path, version)
    if version is None and libraries:
        version = libraries[0].name.removeprefix("python").rstrip("t")
    return EnvironmentInfo(
        path=path,
        python_version=_numeric(version),
        free_threaded=bool(libraries) and libraries[0].name.endswith("t"),
        site_dirs=_site_dirs(libraries),
        system_site=settings.get("include-system-site-packages", "").lower() == "true",
    )


def site_dirs_of(env: Path) -> list[Path]:
    """Return the site folders of an environment in import order (lib64 where it is a folder of its own)."""
    return list(environment_info(env).site_dirs)


def read_environment(site_dirs: Sequence[Path]) -> list[InstalledDist]:
    """Return every distribution in the folders, by canonical name; the copy that is imported comes first.

    Metadata and RECORD are read when they are asked for. Damaged ones are included, with `problems`.
    """
    found: list[InstalledDist] = []
    for site in site_dirs:
        for entry in _entries(site):
            if entry.endswith((".dist-info", ".egg-info")) and not entry.startswith("~"):
                found.append(InstalledDist(site / entry))
    order = {site: n for n, site in enumerate(site_dirs)}
    return sorted(found, key=lambda d: (d.name, order[d.site_dir], d.dist_info.name))


def find_leftovers(site_dirs: Sequence[Path]) -> dict[Path, str]:
    """Return what an interrupted pip left behind (`~orch`), with the rest of the canonical name (`orch`).

    pip renames what it removes: the first letter becomes `~` (pip's `AdjacentTempDirectory`).
    """
    return {site / entry: _leftover_tail(entry) for site in site_dirs for entry in _entries(site) if entry.startswith("~")}


def _leftover_tail(entry: str) -> str:
    stem = entry.removesuffix(".dist-info").removesuffix(".egg-info").lstrip("~")
    return str(canonicalize_name(stem.split("-")[0])) if stem else ""


def _environment_root(env: Path) -> Path:
    current = env / "current"
    if not (env / "pyvenv.cfg").is_file() and not (env / "lib").is_dir() and current.is_dir():
        return current.resolve()
    return env


def _pyvenv_settings(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _numeric(version: str | None) -> str | None:
    """Cut `3.11.7.final.0` down to `3.11.7` (virtualenv writes five parts)."""
    if version is None:
        return None
    parts = [p for p in version.split(".")[:3] if p.isdigit()]
    return ".".join(parts) or None


def _library_dirs(path: Path, version: str | None) -> list[Path]:
    found = [path / lib / name for lib in ("lib", "lib64") for name in _entries(path / lib) if name.startswith("python3.")]
    wanted = "python" + ".".join((version or "").split(".")[:2])
    fitting = [d for d in found if d.name.rstrip("t") == wanted]
    return fitting or found


def _site_dirs(libraries: Sequence[Path]) -> tuple[Path, ...]:
    seen: dict[str, Path] = {}
    for library in libraries:
        for leaf in ("site-packages", "dist-packages"):
            site = library / leaf
            if site.is_dir():
                seen.setdefault(os.path.realpath(site), site)
    return tuple(seen.values())


def _entries(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - names are wanted, not paths
    except OSError:
        return []
