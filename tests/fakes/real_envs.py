"""Real environments for tests, and installs into them by real uv and real pip, offline, from folders."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from uv import find_uv_bin

__all__ = ["clean_environ", "make_env", "pip_install", "pip_uninstall", "uv_install", "uv_uninstall"]


def clean_environ(home: Path) -> dict[str, str]:
    """Return an environment in which neither the machine's pip nor uv configuration is seen."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "UV_", "VIRTUAL_ENV", "PYTHON"))}
    home.mkdir(parents=True, exist_ok=True)
    return {
        **kept,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / "config"),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "UV_NO_CONFIG": "1",
        "UV_CACHE_DIR": str(home / "uv-cache"),
    }


def make_env(path: Path) -> Path:
    """Make a virtual environment by the standard library; pip is put into it when it is first used."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(path)], check=True, capture_output=True)
    return path


def uv_install(env: Path, links: Path, *requirements: str, options: tuple[str, ...] = ()) -> None:
    """Install by real uv from a folder of wheels."""
    argv = ["pip", "install", "--no-index", "--find-links", str(links), *options, *requirements]
    _run([find_uv_bin(), *argv, "--python", str(env / "bin/python")], env)


def uv_uninstall(env: Path, *names: str) -> None:
    """Uninstall by real uv."""
    _run([find_uv_bin(), "pip", "uninstall", *names, "--python", str(env / "bin/python")], env)


def pip_install(env: Path, links: Path, *requirements: str, options: tuple[str, ...] = ()) -> None:
    """Install by the environment's real pip from a folder of wheels."""
    _pip(env, "install", "--no-index", "--find-links", str(links), *options, *requirements)


def pip_uninstall(env: Path, *names: str) -> None:
    """Uninstall by the environment's real pip."""
    _pip(env, "uninstall", "-y", *names)


def _pip(env: Path, *arguments: str) -> None:
    python = str(env / "bin/python")
    if not list(env.glob("lib/python*/site-packages/pip")):
        _run([python, "-m", "ensurepip"], env)
    _run([python, "-m", "pip", *arguments], env)


def _run(argv: list[str], env: Path) -> None:
    done = subprocess.run(argv, env=clean_environ(env.parent / "home"), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
