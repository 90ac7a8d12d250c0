"""A cut of power: a copy of the mounted disk image holds what the disk held at that moment; the tool goes on there.

Needs root and loop devices. ext4 with `noauto_da_alloc` and a long commit time shows every missing flush (a file that was not
flushed is empty afterwards).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from local_stack import Stack, local_stack, tree_of

_SIZE = "400M"
_OPTIONS = "loop,commit=300,noauto_da_alloc"


def mount(image: Path, place: Path) -> None:
    subprocess.run(["mount", "-o", _OPTIONS, image, place], check=True, capture_output=True)


def unmount(place: Path) -> None:
    subprocess.run(["umount", place], check=False, capture_output=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """An image with ext4, and where it is mounted."""
    if os.geteuid() != 0 or shutil.which("mke2fs") is None:
        pytest.skip("needs root and mke2fs")
    image, place = tmp_path / "disk.img", tmp_path / "disk"
    place.mkdir()
    subprocess.run(["truncate", "-s", _SIZE, image], check=True)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", image], check=True)
    try:
        mount(image, place)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no loop devices here: {error.stderr!r}")
    yield image, place
    unmount(place)


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    with local_stack(tmp_path / "stack") as made:
        yield made


def cut_at_every_record(process: subprocess.Popen[bytes], journal: Path, image: Path, every: int) -> list[Path]:
    """Copy the disk each time the journal has grown by some records, and once at the end."""
    copies: list[Path] = []
    seen = 0
    while True:
        ended = process.poll() is not None
        count = journal.read_bytes().count(b"\n") if journal.exists() else 0
        if count >= seen + every or ended:
            copies.append(image.with_name(f"cut-{len(copies):02}.img"))
            subprocess.run(["cp", "--sparse=always", image, copies[-1]], check=True)
            seen = count
        if ended:
            return copies
        time.sleep(0.001)


def test_after_a_cut_at_any_record_resume_ends_in_the_same_tree(
    tool, tool_env: dict[str, str], stack: Stack, disk: tuple[Path, Path]
) -> None:
    image, place = disk
    state, cache = place / "state", {"ACCEL_INSTALL_CACHE_DIR": str(place / "cache")}
    argv = [sys.executable, "-m", "accel_install", "apply", stack.recipe, *stack.options, "--state-dir", state]
    process = subprocess.Popen(argv, env={**tool_env, **cache}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    copies = cut_at_every_record(process, state / "journal.jsonl", image, every=2)
    assert process.returncode == 0 and len(copies) > 5
    wanted = tree_of(state / "envs")
    unmount(place)
    for copy in copies:
        mount(copy, place)
        resumed = tool("resume", *stack.options, "--state-dir", state, env=cache)
        assert resumed.returncode == 0, resumed.stderr
        if "nothing was run here" in resumed.stdout:
            assert tool("apply", stack.recipe, *stack.options, "--state-dir", state, env=cache).returncode == 0
        assert tree_of(state / "envs") == wanted, copy.name
        unmount(place)
        copy.unlink()
