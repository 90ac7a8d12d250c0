"""The distribution, from an os-release file (source: os-release(5)). A pure parser; it never raises."""

from __future__ import annotations

import shlex

from accel_install.facts.models import OsFacts

__all__ = ["os_unknowns", "parse_os_release"]


def parse_os_release(text: str) -> OsFacts:
    """Return the distribution that the text states; a text of another kind gives empty facts."""
    keys = _assignments(text)
    os_id = keys.get("ID", "").lower() or None
    if os_id is None and "VERSION_ID" not in keys:
        return OsFacts()
    name = keys.get("PRETTY_NAME") or keys.get("NAME")
    return OsFacts(id=os_id, version_id=keys.get("VERSION_ID") or None, name=name or None)


def os_unknowns(facts: OsFacts, source: str) -> dict[str, str]:
    """Return the reasons for what an os-release file does not state (rolling releases have no VERSION_ID)."""
    missing = {"os.id": (facts.id, "ID"), "os.version_id": (facts.version_id, "VERSION_ID")}
    return {field: f"{source} holds no {key}" for field, (value, key) in missing.items() if value is None}


def _assignments(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in text.splitlines():
        key, separator, value = line.strip().partition("=")
        if separator and key.isidentifier():
            found[key] = _unquoted(value)
    return found


def _unquoted(value: str) -> str:
    try:
        return " ".join(shlex.split(value))
    except ValueError:
        return value.strip("\"'")
