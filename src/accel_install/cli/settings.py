"""Settings: system file, user file, `ACCEL_INSTALL_*` variables, then options. Later ones win; origins are kept."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs

from accel_install.errors import UsageError

__all__ = ["Settings", "default_state_dir", "home_dir", "load_settings"]

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_KEYS = ("default_index", "cache_dir", "state_dir", "cache_ttl_s")


@dataclass(frozen=True)
class Settings:
    """Settings with their origin (`/etc/accel-install/config.toml`, `ACCEL_INSTALL_CACHE_DIR`, `built-in`)."""

    cache_dir: Path
    state_dir: Path | None
    default_index: str | None
    cache_ttl_s: int
    indexes: dict[str, str] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)


def load_settings(environ: Mapping[str, str], config_files: tuple[Path, ...] | None = None) -> Settings:
    """Read all settings.

    Raises:
        UsageError: a configuration file is not TOML or holds an unknown key.
    """
    files = config_files if config_files is not None else _config_files()
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    indexes: dict[str, str] = {}
    for path in files:
        for key, value in _read(path).items():
            if key == "indexes":
                indexes.update(value)
            else:
                values[key], origins[key] = value, str(path)
    for key in _KEYS:
        name = f"ACCEL_INSTALL_{key.upper()}"
        if environ.get(name):
            values[key], origins[key] = environ[name], name
    return Settings(
        cache_dir=Path(values.get("cache_dir") or platformdirs.user_cache_dir("accel-install")),
        state_dir=Path(values["state_dir"]) if values.get("state_dir") else None,
        default_index=values.get("default_index"),
        cache_ttl_s=_seconds(values.get("cache_ttl_s", 600), origins.get("cache_ttl_s", "built-in")),
        indexes=indexes,
        origins=origins,
    )


def default_state_dir(root: Path, privileged: bool) -> Path:
    """Return where state lives: `/var/lib/accel-install` for root or under `--root`, else the XDG state folder."""
    if root != Path("/"):
        return root / "var/lib/accel-install"
    return Path("/var/lib/accel-install") if privileged else Path(platformdirs.user_state_dir("accel-install"))


def _config_files() -> tuple[Path, ...]:
    return (Path("/etc/accel-install/config.toml"), Path(platformdirs.user_config_dir("accel-install")) / "config.toml")


def _seconds(value: Any, origin: str) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise UsageError(
            "usage.bad-setting", "cache_ttl_s is not a number of seconds", value=f"{value} ({origin})", expected="an integer"
        ) from None


def _read(path: Path) -> dict[str, Any]:
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            "usage.bad-config", f"the configuration file is not TOML: {error}", value=str(path), hint=f"mend {path}"
        ) from error
    unknown = sorted(set(content) - {*_KEYS, "indexes"})
    if unknown:
        raise UsageError(
            "usage.bad-config",
            "the configuration file holds unknown keys",
            value=f"{path}: {', '.join(unknown)}",
            expected=", ".join([*_KEYS, "indexes"]),
        )
    if not isinstance(content.get("indexes", {}), dict):
        raise UsageError("usage.bad-config", "`indexes` is not a table of NAME = URL", value=str(path))
    return content


def home_dir(environ: Mapping[str, str]) -> Path:
    """Return the user's home folder."""
    return Path(environ.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111 - works without HOME, too
