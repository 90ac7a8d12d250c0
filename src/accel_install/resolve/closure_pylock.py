"""Reading the solver's answer: a pylock.toml (PEP 751) as names, versions and files. Pure."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from packaging.utils import canonicalize_name

from accel_install.resolve.closure import ClosureAnswer, ClosurePackage
from accel_install.resolve.models import IndexFile

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["parse_pylock"]


def parse_pylock(text: str) -> ClosureAnswer:
    """Return the packages of a pylock.toml, by name.

    A package that was fixed by a direct URL has an `archive` and may lack a version; its version is then empty.

    Raises:
        ValueError: the text is not TOML or not a pylock.
    """
    try:
        document = tomllib.loads(text)
        packages = [_package(entry) for entry in document["packages"]]
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a pylock.toml: {error}") from error
    return ClosureAnswer(tuple(sorted(packages, key=lambda p: p.name)))


def _package(entry: Mapping[str, Any]) -> ClosurePackage:
    files = [_file(f) for f in entry.get("wheels", ())]
    if "archive" in entry:
        files.append(_file(entry["archive"]))
    return ClosurePackage(canonicalize_name(entry["name"]), str(entry.get("version", "")), tuple(files))


def _file(entry: Mapping[str, Any]) -> IndexFile:
    url = str(entry.get("url") or entry.get("path") or "")
    filename = str(entry.get("name") or unquote(urlsplit(url).path.rpartition("/")[2]))
    uploaded = entry.get("upload-time")
    size = entry.get("size")
    return IndexFile(
        filename=filename,
        url=url,
        sha256=entry.get("hashes", {}).get("sha256"),
        size_bytes=size if isinstance(size, int) else None,
        upload_time=uploaded.isoformat() if uploaded is not None else None,
    )
