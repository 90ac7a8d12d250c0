"""Real wheels in a real environment: torch's CPU build, torch-npu, transformers; real pip moves a pin; found and repaired."""

from __future__ import annotations

import configparser
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.network, pytest.mark.slow, pytest.mark.xdist_group("network")]

RECIPE = """schema: 1
name: real
title: torch CPU build with torch-npu and transformers
platform: real
requirements: [transformers, torch-npu]
indexes:
  pytorch-cpu: {{url: "https://download.pytorch.org/whl/cpu"}}
packages:
  torch: {{role: torch-family, index: pytorch-cpu}}
  torch-npu: {{role: torch-plugin}}
foreign:
  - {{pattern: "nvidia-*", reason: "no NVIDIA device here"}}
  - {{pattern: "cuda-*", reason: "no NVIDIA device here"}}
  - {{pattern: "triton", reason: "no use on a CPU"}}
rows:
  - platform: real
    id: real-1
    components: {{torch: "{torch}", torch-npu: "{npu}"}}
    source: made for this test
    date: "2026-12-01"
    status: published
steps:
  - {{id: host-check, kind: host_check, title: Host check, params: {{free_bytes: {{env: 3000000000}}}}}}
  - {{id: python-env, kind: python_env, title: Python environment, needs: [host-check]}}
  - {{id: torch-family, kind: wheels, title: torch family, needs: [python-env], packages: [torch, torch-npu], protects: ["*"]}}
  - {{id: closure, kind: wheels, title: transformers and closure, needs: [torch-family], closure: true, protects: ["*"]}}
  - id: verify
    kind: smoke_test
    title: Imports
    needs: [closure]
    # torch-npu loads with torch and fails without CANN, by design
    params: {{imports: [torch, transformers], env: {{TORCH_DEVICE_BACKEND_AUTOLOAD: "0"}}, timeout_s: 300}}
"""
WHEEL = re.compile(r"^torch-(\d+\.\d+\.\d+)(\+cpu)?-cp(\d)(\d+)-")


def pip_find_links() -> list[str]:
    """What pip is configured with on this machine: uv does not read it, so the test does."""
    found = os.environ.get("PIP_FIND_LINKS", "").split()
    for path in (Path.home() / ".config/pip/pip.conf", Path("/etc/pip.conf"), Path("/etc/xdg/pip/pip.conf")):
        parser = configparser.RawConfigParser()
        try:
            parser.read(path)
        except configparser.Error:
            continue
        for section in ("global", "install"):
            found += parser.get(section, "find-links", fallback="").split()
    return [f for f in dict.fromkeys(found) if "://" in f or Path(f).is_dir()]


def local_torch(links: list[str]) -> str | None:
    """Return a version of torch whose CPU wheel for this Python lies in a configured folder."""
    label = (str(sys.version_info[0]), str(sys.version_info[1]))
    for folder in (Path(f) for f in links if "://" not in f):
        for path in sorted(folder.glob("torch-*.whl"), key=lambda p: p.stat().st_size):
            match = WHEEL.match(path.name)
            if match and match.groups()[2:] == label and path.stat().st_size < 400_000_000:
                return match.group(1)
    return None


def test_apply_move_find_repair_with_real_wheels(tool, tmp_path: Path) -> None:
    links = pip_find_links()
    version = local_torch(links) or "2.13.0"
    recipe = tmp_path / "real.yaml"
    recipe.write_text(RECIPE.format(torch=version, npu=version))
    state = tmp_path / "state"
    options = [part for link in links for part in ("--find-links", link)]
    planned = tool("plan", recipe, *options, "--json")
    if planned.returncode == 13 and local_torch(links) is None:
        pytest.skip("NETWORK: no CPU build of torch: not configured in pip, and the PyTorch CPU index does not answer")
    applied = tool("apply", recipe, *options, "--state-dir", state, timeout=900)
    assert applied.returncode == 0, applied.stdout + applied.stderr
    python = state / "envs/real/current/bin/python"
    env = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    said = subprocess.run(
        [python, "-c", "import torch; print(torch.ones(2).sum().item())"], env=env, capture_output=True, text=True
    )
    assert said.stdout == "2.0\n", said.stderr

    argv = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "huggingface-hub<1.6", "tokenizers==0.22.0"]
    moved = subprocess.run(argv, env={**os.environ, "PIP_CONFIG_FILE": os.devnull}, capture_output=True, text=True, timeout=600)
    assert moved.returncode == 0, moved.stderr
    found = tool("verify", "--state-dir", state, "--json")
    assert found.returncode == 21
    subjects = {f["subject"]: f for f in json.loads(found.stdout)["findings"] if f["slug"] == "pins.version-moved"}
    assert "tokenizers" in subjects and subjects["tokenizers"]["actual"] == "0.22.0"
    repaired = tool("repair", "--state-dir", state, "--yes", *options, timeout=900)
    assert repaired.returncode == 0, repaired.stdout + repaired.stderr
    assert tool("verify", "--state-dir", state).returncode == 0
    again = tool("apply", recipe, *options, "--state-dir", state)
    assert "nothing to do" in again.stdout
