"""The target of a plan: what wheel choice and markers are computed for. Never this process's own interpreter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Scope", "Target"]

Scope = Literal["host", "container", "python"]


@dataclass(frozen=True)
class Target:
    """Machine and interpreter that wheels must fit.

    Attributes:
        arch: `aarch64` or `x86_64`, as `uname -m` prints it.
        python: `major.minor`, such as `3.11`.
        free_threaded: whether the interpreter is a free-threaded build (`3.13t`).
        libc: `glibc` or `musl`.
        libc_version: `2.34`.
        accelerator: model as the vendor names it (`910B2`), or None when not stated.
        family: chip family (`910b`), or None.
        scope: which layers the plan covers.
        kernel: kernel release for markers, or None when unknown.
    """

    arch: str
    python: str
    libc: Literal["glibc", "musl"]
    libc_version: str
    free_threaded: bool = False
    accelerator: str | None = None
    family: str | None = None
    scope: Scope = "host"
    kernel: str | None = None

    @property
    def python_tuple(self) -> tuple[int, int]:
        """Return (major, minor)."""
        major, minor = self.python.split(".")[:2]
        return int(major), int(minor)

    @property
    def python_label(self) -> str:
        """Return the version as options spell it, `3.13t` for a free-threaded build."""
        return self.python + ("t" if self.free_threaded else "")

    def markers(self) -> dict[str, str]:
        """Return the PEP 508 marker environment of the target (never of the machine this runs on)."""
        return {
            "implementation_name": "cpython",
            "implementation_version": f"{self.python}.0",
            "os_name": "posix",
            "platform_machine": self.arch,
            "platform_python_implementation": "CPython",
            "platform_release": self.kernel or "",
            "platform_system": "Linux",
            "platform_version": "",
            "python_full_version": f"{self.python}.0",
            "python_version": self.python,
            "sys_platform": "linux",
        }

    def to_dict(self) -> dict[str, str | None]:
        """Return the `target` object of plan JSON: libc under its own name."""
        return {
            "arch": self.arch,
            "python": self.python_label,
            "glibc": self.libc_version if self.libc == "glibc" else None,
            "musl": self.libc_version if self.libc == "musl" else None,
            "accelerator": self.accelerator,
            "family": self.family,
            "scope": self.scope,
        }
