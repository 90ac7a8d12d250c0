"""What a local version label says about a build: the torch, the C++ ABI and the SDK it was made for. Pure.

Vendors write it in many ways (`cu12torch2.6cxx11abiFALSE`, `metax3.8.1.0torch2.10`, `das.opt1.dtk2604.torch290`,
`git00661e0.abi0.dtk2404`); PEP 440 lower-cases the label, so case never matters. What a label does not say is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from accel_install.recipe.builds import Build, build_of
from accel_install.resolve.versions import parse_version, public_of

__all__ = ["BuildFacts", "BuildTokens", "abi_misfit", "facts_of_torch", "read_tokens"]

_TORCH = re.compile(r"(?:torch|(?<![a-z])pt)[_-]?(\d+(?:\.\d+)*)")
_ABI_WORD = re.compile(r"cxx11[._-]?abi(true|false|[01])?(?![a-z])")
_ABI_DIGIT = re.compile(r"(?<![a-z0-9])abi([01])(?![0-9])")
# the SDKs whose number follows their name; a longer name stands before one that it ends with
_SDK = re.compile(r"(?<![a-z])(cuda|cu|rocm|metax|maca|dtk|musa|ppu)[_-]?(\d+(?:\.\d+)*)")
_SAME_SDK = {"cuda": "cu", "maca": "metax"}
_CALLED = {"cu": "CUDA", "rocm": "ROCm", "metax": "MACA", "dtk": "DTK", "musa": "MUSA", "ppu": "the PPU SDK", "cpu": "CPUs"}
_CPU = re.compile(r"(?<![a-z])cpu(?![a-z])")
_COMPARED_PARTS = 2


@dataclass(frozen=True)
class BuildTokens:
    """What one label says: `torch` are the (major, minor) pairs that its spelling may mean; empty where it is silent."""

    torch: frozenset[tuple[int, int]] = frozenset()
    torch_text: str = ""
    cxx11_abi: bool | None = None
    sdk: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class BuildFacts:
    """What the plan holds to compare with; None and absent names are not compared.

    Attributes:
        torch: the torch version of the plan, label included.
        cxx11_abi: whether that torch uses the C++11 ABI (`torch._C._GLIBCXX_USE_CXX11_ABI`).
        sdk: SDK releases by token name (`cu`, `rocm`, `metax`, ...).
        kind: the token name that torch's own label carries (`cpu` for a CPU build), None when it says nothing.
        arch: the target's.
        builds: what is known of builds whose label is silent.
    """

    torch: str | None = None
    cxx11_abi: bool | None = None
    sdk: Mapping[str, str] = field(default_factory=dict)
    kind: str | None = None
    arch: str = ""
    builds: Sequence[Build] = ()


def facts_of_torch(version: str, arch: str, builds: Sequence[Build]) -> BuildFacts:
    """Return what a torch version (label included) says about the builds that go with it."""
    local = version.partition("+")[2] or None
    tokens = read_tokens(local)
    known = build_of(builds, "torch", public_of(version), local, arch)
    sdk = dict(tokens.sdk) or next((dict(b.sdk) for b in known if b.sdk), {})
    abi = tokens.cxx11_abi
    if abi is None:
        abi = next((b.cxx11_abi for b in known if b.cxx11_abi is not None), None)
    kind = next(iter(tokens.sdk), None) or ("cpu" if _CPU.search((local or "").lower()) else None)
    return BuildFacts(version, abi, sdk, kind, arch, builds)


@lru_cache(maxsize=4096)
def read_tokens(local: str | None) -> BuildTokens:
    """Read a local version label."""
    text = (local or "").lower()
    torch = _TORCH.search(text)
    return BuildTokens(
        torch=_torch_versions(torch.group(1)) if torch else frozenset(),
        torch_text=_torch_text(torch.group(1)) if torch else "",
        cxx11_abi=_abi(text),
        sdk={_SAME_SDK.get(name, name): number for name, number in _SDK.findall(text)},
    )


def _torch_versions(number: str) -> frozenset[tuple[int, int]]:
    """Return what `2.6`, `2.13.0`, `290`, `2110` or `26` may mean; digits without dots are compact (`210`: 2.1.0 or 2.10)."""
    first, _, rest = number.partition(".")
    if len(first) == 1:
        return frozenset({(int(first), int(rest.split(".")[0]))}) if rest else frozenset()
    readings = {(int(first[0]), int(first[1:]))} if len(first) < 4 else set()
    if len(first) > _COMPARED_PARTS:
        readings.add((int(first[0]), int(first[1:-1])))
    return frozenset(readings)


def _torch_text(number: str) -> str:
    return number if number[1:2] in ("", ".") else number.partition(".")[0]


def _abi(text: str) -> bool | None:
    word = _ABI_WORD.search(text)
    if word is not None:
        return word.group(1) not in ("false", "0")  # torch's own `cpu-cxx11-abi` builds name it without a value
    digit = _ABI_DIGIT.search(text)
    return None if digit is None else digit.group(1) == "1"


def abi_misfit(name: str, version: str, facts: BuildFacts | None) -> str | None:
    """Say in which respect a build contradicts the plan, None when it does not.

    Args:
        name: canonical name of the project; torch itself is what is compared with, and never judged.
        version: of the file, label included.
        facts: of the plan's torch.
    """
    if facts is None or name == "torch":
        return None
    local = version.partition("+")[2] or None
    tokens = read_tokens(local)
    return (
        _torch_misfit(tokens, facts)
        or _abi_misfit(tokens, facts)
        or _kind_misfit(tokens, facts)
        or _sdk_misfit(tokens.sdk, facts)
        or (_silent_misfit(name, version, facts) if local is None else None)
    )


def _torch_misfit(tokens: BuildTokens, facts: BuildFacts) -> str | None:
    planned = parse_version(facts.torch) if facts.torch else None
    if planned is None or not tokens.torch or (planned.major, planned.minor) in tokens.torch:
        return None
    return f"built for torch {tokens.torch_text}, the plan has torch {facts.torch}"


def _abi_misfit(tokens: BuildTokens, facts: BuildFacts) -> str | None:
    if tokens.cxx11_abi is None or facts.cxx11_abi is None or tokens.cxx11_abi == facts.cxx11_abi:
        return None
    said = {True: "the C++11 ABI (TRUE)", False: "the old C++ ABI (FALSE)"}
    return f"built with {said[tokens.cxx11_abi]}, torch {facts.torch} uses {said[facts.cxx11_abi]}"


def _kind_misfit(tokens: BuildTokens, facts: BuildFacts) -> str | None:
    if facts.kind is None or not tokens.sdk or facts.kind in tokens.sdk:
        return None
    return f"built for {_called(next(iter(tokens.sdk)))}, torch {facts.torch} is built for {_called(facts.kind)}"


def _sdk_misfit(sdk: Mapping[str, str], facts: BuildFacts) -> str | None:
    for name, number in sdk.items():
        planned = facts.sdk.get(name)
        if planned is not None and not same_release(number, planned):
            return f"built for {_called(name)} {_readable(name, number)}, torch {facts.torch} for {_readable(name, planned)}"
    return None


def _silent_misfit(name: str, version: str, facts: BuildFacts) -> str | None:
    """Judge a build without a label by the table, as far as torch is of the same kind: a CUDA build on an NPU is harmless."""
    known = build_of(facts.builds, name, public_of(version), None, facts.arch)
    return next((said for b in known if (said := _sdk_misfit(b.sdk, facts)) is not None), None)


def _called(name: str) -> str:
    return _CALLED.get(name, name)


def _readable(name: str, number: str) -> str:
    return f"{number[:-1]}.{number[-1]}" if name == "cu" and number.isdigit() and len(number) == 3 else number


def same_release(one: str, other: str) -> bool:
    """Say whether two spellings may mean one release: major and minor of dotted ones, the shorter of compact ones."""
    a, b = _release(one), _release(other)
    if "." in a and "." in b:
        return a.split(".")[:_COMPARED_PARTS] == b.split(".")[:_COMPARED_PARTS]
    a, b = a.replace(".", ""), b.replace(".", "")
    return a.startswith(b) or b.startswith(a)


def _release(number: str) -> str:
    """Return a number without what follows a compact release (`2604.20260325` is DTK 26.04 and a date)."""
    first = number.partition(".")[0]
    return first if len(first) > _COMPARED_PARTS else number
