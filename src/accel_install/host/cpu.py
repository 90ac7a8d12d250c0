"""The machine word of a directory that stands for a machine: read from the header of its own programs."""

from __future__ import annotations

from pathlib import Path

__all__ = ["ELF_WITNESSES", "elf_arch"]

ELF_WITNESSES = (
    "/bin/sh",
    "/usr/bin/env",
    "/lib64/ld-linux-x86-64.so.2",
    "/lib/ld-linux-aarch64.so.1",
    "/lib64/ld-linux-aarch64.so.1",
)
_MACHINES = {  # e_machine of elf.h, as `uname -m` spells it
    0x3E: "x86_64",
    0xB7: "aarch64",
    0xF3: "riscv64",
    0x102: "loongarch64",
    0x15: "ppc64le",
}
_HEADER_BYTES = 20
_LITTLE_ENDIAN_64 = b"\x7fELF\x02\x01"


def elf_arch(path: Path) -> str | None:
    """Return the architecture of a 64-bit little-endian ELF file, as `uname -m` would say, or None."""
    try:
        with path.open("rb") as stream:
            header = stream.read(_HEADER_BYTES)
    except OSError:
        return None
    if len(header) < _HEADER_BYTES or not header.startswith(_LITTLE_ENDIAN_64):
        return None
    return _MACHINES.get(int.from_bytes(header[18:20], "little"))
