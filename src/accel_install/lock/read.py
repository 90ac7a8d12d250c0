"""Reading a lockfile.

Every problem of the file at once, and no trust in a body that its digest does not cover.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from accel_install.errors import BundleOrLockError
from accel_install.lock.model import LOCK_VERSION, LockFile
from accel_install.lock.write import body_digest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["load_lock", "parse_lock"]

_AGAIN = "restore the file from version control, or write it anew: accel-install lock RECIPE"


def load_lock(path: Path) -> LockFile:
    """Read a lockfile.

    Raises:
        BundleOrLockError: `lock.unreadable` (no such file, no TOML), `lock.bad-schema` (with all problems
        under
            `problems`), `lock.digest-mismatch` (the body was changed after it was written).
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BundleOrLockError(
            "lock.unreadable",
            f"the lockfile cannot be read: {error.strerror or error}",
            value=str(path),
            expected="a lockfile",
            hint="accel-install lock RECIPE writes one",
        ) from error
    return parse_lock(data, str(path))


def parse_lock(data: bytes, name: str) -> LockFile:
    """Parse the bytes of a lockfile; `name` is what messages call it. Raises as `load_lock` does."""
    try:
        document = tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BundleOrLockError(
            "lock.unreadable",
            f"the lockfile is no TOML: {error}",
            value=name,
            expected="UTF-8 TOML",
            hint=_AGAIN,
        ) from error
    _check_version(document, name)
    lock = _validated(document, name)
    _check_digest(document, name)
    return lock


def _check_version(document: dict[str, Any], name: str) -> None:
    version = document.get("version")
    if version != LOCK_VERSION or isinstance(version, bool):
        raise _bad_schema(name, [{"field": "version", "message": f"is {version!r}, this tool reads {LOCK_VERSION}"}])


def _validated(document: dict[str, Any], name: str) -> LockFile:
    problems: list[dict[str, str]] = []
    if not document.get("digest"):
        problems.append({"field": "digest", "message": "is missing"})
    lock: LockFile | None = None
    try:
        lock = LockFile.model_validate(document)
    except ValidationError as error:
        for item in error.errors(include_url=False, include_context=False, include_input=False):
            problems.append({"field": ".".join(str(p) for p in item["loc"]), "message": item["msg"]})
    else:
        problems.extend(_inconsistencies(lock))
    if lock is None or problems:
        raise _bad_schema(name, problems)
    return lock


def _inconsistencies(lock: LockFile) -> list[dict[str, str]]:
    steps = {s.id for s in lock.steps}
    seen: set[str] = set()
    problems = []
    for n, wheel in enumerate(lock.wheels):
        if wheel.name in seen:
            problems.append({"field": f"wheels.{n}.name", "message": f"{wheel.name} is locked twice"})
        if wheel.step not in steps:
            problems.append({"field": f"wheels.{n}.step", "message": f"no step {wheel.step}"})
        seen.add(wheel.name)
    return problems


def _check_digest(document: dict[str, Any], name: str) -> None:
    stated = document["digest"]
    try:
        actual = body_digest(document)
    except TypeError as error:
        raise _bad_schema(name, [{"field": "", "message": f"a value of a kind that locks never hold: {error}"}]) from None
    if stated != actual:
        raise BundleOrLockError(
            "lock.digest-mismatch",
            f"{name} was changed after it was written",
            value=actual,
            expected=str(stated),
            hint=_AGAIN,
        )


def _bad_schema(name: str, problems: list[dict[str, str]]) -> BundleOrLockError:
    listed = "; ".join(f"{p['field']}: {p['message']}" if p["field"] else p["message"] for p in problems)
    return BundleOrLockError(
        "lock.bad-schema",
        f"{name} is not a lockfile of this tool: {listed}",
        value=name,
        expected=f"lockfile version {LOCK_VERSION}",
        hint=_AGAIN,
        details={"problems": problems},
    )
