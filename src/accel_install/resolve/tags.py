"""The tags a target accepts, best first, and why a file's tags do not fit. For the target, never for this process. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from packaging.tags import Tag, compatible_tags, cpython_tags

from accel_install.facts.target import Target
from accel_install.resolve.models import Reason

__all__ = ["explain_misfit", "tag_ranks", "target_tags"]

_MANYLINUX = re.compile(r"^manylinux_(\d+)_(\d+)_(.+)$")
_LEGACY = {"manylinux2014": (2, 17), "manylinux2010": (2, 12), "manylinux1": (2, 5)}
_OLDEST_MINOR = {"x86_64": 5}
_OLDEST_MINOR_ELSEWHERE = 17


def _platforms(target: Target) -> list[str]:
    """Return platform tags, newest libc first, `linux_<arch>` last (sources: PEP 600, PEP 656)."""
    major, minor = (int(part) for part in target.libc_version.split(".")[:2])
    if target.libc == "musl":
        found = [f"musllinux_{major}_{m}_{target.arch}" for m in range(minor, -1, -1)]
        return [*found, f"linux_{target.arch}"]
    found = []
    legacy = {version: name for name, version in _LEGACY.items()}
    for m in range(minor, _OLDEST_MINOR.get(target.arch, _OLDEST_MINOR_ELSEWHERE) - 1, -1):
        found.append(f"manylinux_{major}_{m}_{target.arch}")
        if (major, m) in legacy:
            found.append(f"{legacy[(major, m)]}_{target.arch}")
    return [*found, f"linux_{target.arch}"]


@lru_cache(maxsize=32)
def target_tags(target: Target) -> tuple[Tag, ...]:
    """Return every tag the target accepts, best first."""
    version = target.python_tuple
    interpreter = f"cp{version[0]}{version[1]}"
    abi = interpreter + ("t" if target.free_threaded else "")
    platforms = _platforms(target)
    return (
        *cpython_tags(python_version=version, abis=[abi], platforms=platforms),
        *compatible_tags(python_version=version, interpreter=interpreter, platforms=platforms),
    )


@lru_cache(maxsize=32)
def tag_ranks(target: Target) -> dict[Tag, int]:
    """Return the rank of each accepted tag; 0 is best."""
    return {tag: rank for rank, tag in reversed(list(enumerate(target_tags(target))))}


@lru_cache(maxsize=32)
def _accepted(target: Target) -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
    tags = target_tags(target)
    return frozenset(t.interpreter for t in tags), frozenset((t.interpreter, t.abi) for t in tags)


def explain_misfit(tags: Iterable[Tag], target: Target) -> tuple[Reason, str]:
    """Return why none of a file's tags fits, by the tag that comes nearest, and a sentence that says so."""
    judged = [_judge(tag, target) for tag in sorted(tags, key=str)]
    _, reason, detail = max(judged, key=lambda item: item[0])
    return reason, detail


def _judge(tag: Tag, target: Target) -> tuple[tuple[int, int], Reason, str]:
    """Return ((stage reached, closeness), reason, detail); a later stage is nearer to fitting."""
    interpreters, pairs = _accepted(target)
    own = f"cp{target.python.replace('.', '')}"
    label = own + ("t" if target.free_threaded else "")
    version_bound = tag.interpreter.startswith("cp") and tag.interpreter != own and tag.abi != "abi3"
    if tag.interpreter not in interpreters or version_bound:
        return (0, 0), "python-tag", f"built for {_python_of(tag)}, the target is {label}"
    if (tag.interpreter, tag.abi) not in pairs:
        return (1, 0), "abi", f"ABI {tag.abi}, the target has {label}"
    return _judge_platform(tag.platform, target)


def _python_of(tag: Tag) -> str:
    return tag.abi if tag.abi.startswith("cp") else tag.interpreter


def _judge_platform(platform: str, target: Target) -> tuple[tuple[int, int], Reason, str]:
    if not platform.endswith(f"_{target.arch}"):
        return (2, 0), "platform", f"for {platform}, the target is linux {target.arch}"
    needed = _glibc_of(platform, target.arch)
    if needed is None:
        return (2, 1), "platform", f"for {platform}, the target has {target.libc} {target.libc_version}"
    if target.libc != "glibc":
        return (2, 1), "platform", f"needs glibc, the target has musl {target.libc_version}"
    text = f"needs glibc >= {needed[0]}.{needed[1]}, the target has {target.libc_version}"
    return (3, -needed[0] * 1000 - needed[1]), "glibc", text


def _glibc_of(platform: str, arch: str) -> tuple[int, int] | None:
    match = _MANYLINUX.match(platform)
    if match is not None:
        return int(match.group(1)), int(match.group(2))
    return _LEGACY.get(platform[: -len(arch) - 1])
