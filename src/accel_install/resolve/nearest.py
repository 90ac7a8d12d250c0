"""The nearest miss in words: what exists, what does not, and the newest version that would fit. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from accel_install.facts.target import Target
from accel_install.resolve.filename import parse_wheel_name
from accel_install.resolve.models import RejectedFile

__all__ = ["nearest_text"]

_NEAREST_FIRST = ("glibc", "requires-python", "local-version", "yanked", "abi", "python-tag", "platform", "sdist-only")


def nearest_text(rejected: Sequence[RejectedFile], fitting: Sequence[str], wanted: Sequence[str], target: Target) -> str:
    """Say why no file of the wanted version fits, and what would.

    Args:
        rejected: the files of the wanted version with their reasons.
        fitting: versions that have a fitting wheel, newest first.
        wanted: versions the request admits, newest first.
        target: what they must run on.
    """
    words = _miss(rejected, target) if wanted else "this version is not published"
    if fitting:
        words += f"; newest with a wheel for this target: {fitting[0]}"
    return words


def _miss(rejected: Sequence[RejectedFile], target: Target) -> str:
    here = [r for r in rejected if r.filename.endswith(f"_{target.arch}.whl") or "-any." in r.filename]
    if here:
        nearest = min(here, key=lambda r: _place(r.reason))
        if nearest.reason in ("python-tag", "abi"):
            return f"no wheel for {_label(target)} ({', '.join(_pythons(here))} exist)"
        return nearest.detail
    wheels = [r for r in rejected if r.filename.endswith(".whl")]
    if wheels:
        return f"no wheel for {target.arch} ({', '.join(_platforms(wheels))} only)"
    return "published as source only (sdist), which would have to be built"


def _place(reason: str) -> int:
    return _NEAREST_FIRST.index(reason) if reason in _NEAREST_FIRST else len(_NEAREST_FIRST)


def _label(target: Target) -> str:
    return f"cp{target.python.replace('.', '')}{'t' if target.free_threaded else ''}"


def _pythons(rejected: Sequence[RejectedFile]) -> list[str]:
    found = {t.abi if t.abi.startswith("cp") else t.interpreter for r in rejected for t in parse_wheel_name(r.filename).tags}
    return sorted(found, key=lambda text: (len(text), text))


def _platforms(rejected: Sequence[RejectedFile]) -> list[str]:
    found = {t.platform for r in rejected for t in parse_wheel_name(r.filename).tags}
    arches = {next((a for a in ("aarch64", "x86_64") if p.endswith(f"_{a}")), p) for p in found}
    return sorted(arches)
