"""Which indexes there are: the default one by the user's own configuration, named ones by recipe and options.

The default index is asked for in this order: `--index default=URL`, our configuration, uv's settings, pip's `index-url`, uv's
own default. pip's extra indexes and links are reported and never used: names must not fall through between indexes.
"""

from __future__ import annotations

import configparser
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from accel_install.errors import IndexUnavailableError, UsageError
from accel_install.fetch.urls import scrub
from accel_install.recipe.models import IndexSpec

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["IndexConfig", "discover_indexes"]

_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
_UV_DEFAULT = re.compile(r"default package index \(by\s+default:\s*<([^>]+)>", re.DOTALL)
_UV_ASK_S = 20


@dataclass(frozen=True)
class IndexConfig:
    """Addresses by index name, where the default one comes from, extra pages and folders, and notes for people."""

    default_url: str
    default_origin: str
    named: dict[str, str] = field(default_factory=dict)
    find_links: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def url_of(self, name: str) -> str | None:
        """Return the address of an index, or None when nobody configured one."""
        return self.default_url if name == "default" else self.named.get(name)


def discover_indexes(
    recipe_indexes: Mapping[str, IndexSpec],
    options: Sequence[str],
    *,
    find_links: Sequence[str] = (),
    environ: Mapping[str, str],
    home: Path,
    configured_default: str | None = None,
    cache_dir: Path | None = None,
) -> IndexConfig:
    """Find out all indexes of a call.

    Args:
        recipe_indexes: what the recipe names; an address there is the vendor's own.
        options: `NAME=URL` pairs, later ones win.
        find_links: extra pages and folders.
        environ, home: where uv's and pip's settings are looked for.
        configured_default: `default_index` of our own configuration.
        cache_dir: where uv's own answer is kept.

    Raises:
        UsageError: an option is not `NAME=URL`. IndexUnavailableError: uv does not say its default.
    """
    given = dict(_pair(option) for option in options)
    named = {name: spec.url for name, spec in recipe_indexes.items() if spec.url} | given
    url, origin = _default(given.get("default"), configured_default, environ, home, cache_dir)
    named.pop("default", None)
    links = tuple(_link(link) for link in find_links)
    return IndexConfig(url.rstrip("/") + "/", origin, named, links, tuple(_pip_notes(environ, home)))


def _pair(option: str) -> tuple[str, str]:
    name, found, url = option.partition("=")
    if not found or not _NAME.match(name) or not url:
        raise UsageError(
            "usage.index", "--index takes NAME=URL", value=scrub(option), expected="such as default=https://mirror.example/simple"
        )
    if "://" not in url and not Path(url).is_dir():
        raise UsageError("usage.index", "the address of an index is neither a URL nor a folder", value=scrub(option))
    return name, url if "://" in url else Path(url).absolute().as_uri()


def _link(link: str) -> str:
    if "://" in link:
        return link
    path = Path(link)
    if not path.exists():
        raise UsageError("usage.find-links", "--find-links names neither a URL nor an existing folder", value=link)
    return str(path.absolute())


def _default(
    option: str | None, configured: str | None, environ: Mapping[str, str], home: Path, cache_dir: Path | None
) -> tuple[str, str]:
    sources = (
        (option, "--index default"),
        (configured, "configuration"),
        _uv_setting(environ, home),
        _pip_setting(environ, home),
    )
    for url, origin in sources:
        if url:
            return url, origin
    return _uv_own(cache_dir), "uv's own default"


def _uv_setting(environ: Mapping[str, str], home: Path) -> tuple[str | None, str]:
    for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        if environ.get(name):
            before, _, after = environ[name].partition("=")
            return (environ[name] if "://" in before else after), name  # uv also takes NAME=URL
    config_home = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    files = (
        [Path(environ["UV_CONFIG_FILE"])]
        if environ.get("UV_CONFIG_FILE")
        else [config_home / "uv/uv.toml", Path("/etc/uv/uv.toml")]
    )
    for path in files:
        url = _uv_file(path)
        if url:
            return url, str(path)
    return None, ""


def _uv_file(path: Path) -> str | None:
    try:
        settings: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return None
    indexes = settings.get("index")
    for index in indexes if isinstance(indexes, list) else []:
        if isinstance(index, Mapping) and index.get("default") is True:
            return str(index.get("url") or "") or None
    pip = settings.get("pip")
    found = settings.get("index-url") or (pip.get("index-url") if isinstance(pip, Mapping) else None)
    return found if isinstance(found, str) else None


def _pip_files(environ: Mapping[str, str], home: Path) -> list[Path]:
    """Return pip's configuration files, the strongest first (source: pip documentation, configuration)."""
    config_home = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    own = [Path(environ["PIP_CONFIG_FILE"])] if environ.get("PIP_CONFIG_FILE") else []
    return [*own, config_home / "pip/pip.conf", home / ".pip/pip.conf", Path("/etc/xdg/pip/pip.conf"), Path("/etc/pip.conf")]


def _pip_value(environ: Mapping[str, str], home: Path, key: str) -> tuple[str | None, str]:
    variable = f"PIP_{key.upper().replace('-', '_')}"
    if environ.get(variable):
        return environ[variable], variable
    for path in _pip_files(environ, home):
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, "utf-8")
        except (configparser.Error, UnicodeDecodeError, OSError):
            continue
        for section in ("install", "global"):
            if parser.has_option(section, key):
                return parser.get(section, key).strip(), str(path)
    return None, ""


def _pip_setting(environ: Mapping[str, str], home: Path) -> tuple[str | None, str]:
    url, origin = _pip_value(environ, home, "index-url")
    return url, f"pip ({origin})"


def _pip_notes(environ: Mapping[str, str], home: Path) -> list[str]:
    notes = []
    for key, instead in (("extra-index-url", "--index NAME=URL"), ("find-links", "--find-links")):
        value, origin = _pip_value(environ, home, key)
        if value:
            notes.append(f"pip's {key} ({origin}) is not used: no package falls through to another index; name it with {instead}")
    return notes


def _uv_own(cache_dir: Path | None) -> str:
    """Ask uv for its own default index: its help text names it. The answer is kept for this very binary."""
    from uv import find_uv_bin

    binary = Path(find_uv_bin())
    stat = binary.stat()
    kept = None if cache_dir is None else cache_dir / "uv-default" / f"{stat.st_mtime_ns}-{stat.st_size}"
    if kept is not None and kept.is_file():
        return kept.read_text("utf-8").strip()
    argv = [str(binary), "pip", "compile", "--help", "--no-config", "--color", "never"]
    said = subprocess.run(argv, capture_output=True, text=True, timeout=_UV_ASK_S, check=False).stdout
    match = _UV_DEFAULT.search(said)
    if match is None:
        raise IndexUnavailableError(
            "index.no-default",
            "uv does not say which index is its default",
            value=str(binary),
            expected="a configured default index",
            hint="--index default=URL",
        )
    url = "".join(match.group(1).split())
    _keep(kept, url)
    return url


def _keep(path: Path | None, text: str) -> None:
    from accel_install.host.durable import write_atomic

    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, text.encode())
    except OSError:
        return  # a cache that cannot be written costs time, nothing else
