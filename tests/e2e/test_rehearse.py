"""The rehearsal: the real command line on a scratch machine, with a kill and an override; nothing is left behind."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path


def test_the_rehearsal_passes_and_leaves_nothing(tool, tmp_path: Path) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    ended = tool("rehearse", "ascend-910b", "--json", env={"TMPDIR": str(scratch)})
    assert ended.returncode == 0, ended.stdout + ended.stderr
    report = json.loads(ended.stdout)
    acts = {act["act"]: act for act in report["acts"]}
    assert report["ok"] and report["stand_ins"]
    assert "kill -9" in acts["apply, killed"]["detail"]
    assert "plugin" in acts["resume"]["detail"]
    assert "2.11.0" in acts["verify finds it"]["detail"]
    assert list(scratch.iterdir()) == []


def test_what_is_faked_is_labelled(tool, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    ended = tool("rehearse", "ascend-910b", "--keep-root", kept)
    assert ended.returncode == 0
    assert "STAND-IN" in ended.stdout
    for path in kept.glob("vendor-packages/*.run"):
        assert b"STAND-IN" in path.read_bytes()[:200]
    assert "STAND-IN" in (kept / "machine/usr/local/sbin/npu-smi").read_text()
    assert tempfile.gettempdir() not in (kept / "machine/usr/local/sbin/npu-smi").read_text()
