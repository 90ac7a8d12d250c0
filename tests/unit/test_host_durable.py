"""Durable files: whole or untouched, exact modes, links replaced in one step."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from accel_install.host import durable
from accel_install.host.clock import now_utc


def _names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_write_atomic_sets_content_and_mode_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o077)
    try:
        durable.write_atomic(tmp_path / "deep/er/file", b"one", mode=0o644)
    finally:
        os.umask(old)
    target = tmp_path / "deep/er/file"
    assert target.read_bytes() == b"one"
    assert target.stat().st_mode & 0o777 == 0o644
    durable.write_atomic(target, b"two", mode=0o755)
    assert (target.read_bytes(), target.stat().st_mode & 0o777) == (b"two", 0o755)
    assert _names(target.parent) == ["file"]


def test_write_atomic_leaves_the_old_file_when_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "file"
    target.write_bytes(b"old")

    def full(fd: int, data: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(durable.os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        durable.write_atomic(target, b"new")
    assert target.read_bytes() == b"old"
    assert _names(tmp_path) == ["file"]


def test_append_cuts_off_what_it_could_not_finish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "journal.jsonl"
    durable.append_durable(log, b"one\n")
    real_write = os.write
    calls = []

    def short_then_full(fd: int, data: bytes) -> int:
        calls.append(1)
        if len(calls) == 1:
            return real_write(fd, bytes(data)[:2])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(durable.os, "write", short_then_full)
        with pytest.raises(OSError, match="No space left"):
            durable.append_durable(log, b"two\n")
    assert log.read_bytes() == b"one\n"
    durable.append_durable(log, b"three\n")
    assert log.read_bytes() == b"one\nthree\n"


def test_short_writes_are_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_write = os.write
    monkeypatch.setattr(durable.os, "write", lambda fd, data: real_write(fd, bytes(data)[:3]))
    durable.write_atomic(tmp_path / "a", b"0123456789")
    durable.append_durable(tmp_path / "b", b"0123456789")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == b"0123456789"


def test_replace_symlink_moves_an_existing_link_and_refuses_a_directory(tmp_path: Path) -> None:
    link = tmp_path / "current"
    durable.replace_symlink(link, "gen-1")
    durable.replace_symlink(link, "gen-2")
    assert link.readlink() == Path("gen-2")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        durable.replace_symlink(tmp_path / "folder", "gen-1")
    assert _names(tmp_path) == ["current", "folder"]


def test_now_utc_is_rfc3339_with_a_zone() -> None:
    from datetime import datetime

    text = now_utc()
    assert text.endswith("Z") and len(text) == len("2026-01-31T09:30:00.125Z")
    assert datetime.fromisoformat(text.replace("Z", "+00:00")).utcoffset() is not None
