"""The package's own self-extractor for stand-ins: checks before it runs, knows the vendors' options, cleans up."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from accel_install.rehearse.marker import MARKER_FILE, is_rehearsal_root
from accel_install.rehearse.selfextract import build_run_file

SCRIPT = '#!/bin/sh\necho "$1 $2" > "$2/said"; cp "$3/data/x" "$2/x"\n'


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return build_run_file(tmp_path / "p.run", {"data/x": b"\x00payload\n" * 1000}, SCRIPT, "label")


def call(package: Path, *options: str, tmp: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {"PATH": "/usr/bin:/bin", "TMPDIR": str(tmp or package.parent)}
    return subprocess.run(["sh", package, *options], capture_output=True, text=True, env=env)


def test_it_installs_with_vendor_options_and_leaves_no_temporary(package: Path, tmp_path: Path) -> None:
    place, scratch = tmp_path / "place", tmp_path / "scratch"
    place.mkdir()
    scratch.mkdir()
    done = call(package, "--full", "--install-for-all", "--quiet", "--nox11", f"--install-path={place}", tmp=scratch)
    assert done.returncode == 0, done.stderr
    assert (place / "said").read_text() == f"full {place}\n" and (place / "x").read_bytes() == b"\x00payload\n" * 1000
    assert list(scratch.iterdir()) == []


def test_damage_is_found_before_the_script_runs(package: Path, tmp_path: Path) -> None:
    data = bytearray(package.read_bytes())
    data[-10] ^= 255
    package.write_bytes(bytes(data))
    assert call(package, "--check").returncode == 2
    assert call(package, "--install", f"--install-path={tmp_path}").returncode == 2
    assert not (tmp_path / "said").exists()


def test_options(package: Path, tmp_path: Path) -> None:
    assert call(package, "--check").returncode == 0
    assert "label" in call(package, "--info").stdout
    assert call(package, "--no-such").returncode == 1 and call(package).returncode == 1
    assert call(package, "--noexec", f"--extract={tmp_path / 'out'}").returncode == 0
    assert (tmp_path / "out/data/x").is_file() and not (tmp_path / "said").exists()


def test_the_same_input_gives_the_same_bytes(package: Path, tmp_path: Path) -> None:
    again = build_run_file(tmp_path / "q.run", {"data/x": b"\x00payload\n" * 1000}, SCRIPT, "label")
    assert again.read_bytes() == package.read_bytes() and again.stat().st_mode & 0o111


def test_names_and_labels_cannot_escape(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="leave"):
        build_run_file(tmp_path / "x.run", {"../evil": b""}, SCRIPT, "label")
    with pytest.raises(ValueError, match="label"):
        build_run_file(tmp_path / "x.run", {}, SCRIPT, "a' ; rm -rf /")


def test_only_a_marked_root_with_the_variable_is_a_rehearsal(tmp_path: Path) -> None:
    env = {"ACCEL_INSTALL_REHEARSAL": "1"}
    assert not is_rehearsal_root(tmp_path, env)
    (tmp_path / MARKER_FILE).write_text("")
    assert is_rehearsal_root(tmp_path, env) and not is_rehearsal_root(tmp_path, {})
    assert not is_rehearsal_root(Path("/"), env)
