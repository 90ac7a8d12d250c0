"""Reading environments without running them: real ones, containers of generations, and damaged ones."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fakes"))

from real_envs import make_env, uv_install
from tiny_wheels import make_wheel

from accel_install.verify.environment import environment_info, find_leftovers, read_environment, site_dirs_of


def _fake_env(path: Path, version: str = "3.11.7", lib: str = "python3.11") -> Path:
    site = path / "lib" / lib / "site-packages"
    site.mkdir(parents=True)
    (path / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {version}\n")
    return site


def _dist(site: Path, folder: str, metadata: str | None = None, record: str | None = None) -> Path:
    info = site / folder
    info.mkdir()
    if metadata is not None:
        (info / "METADATA").write_text(metadata)
    if record is not None:
        (info / "RECORD").write_text(record)
    return info


def test_real_environment_is_read(tmp_path: Path) -> None:
    make_wheel(tmp_path / "w", "torch_npu", "2.10.0.post4", ["torch==2.10.0", 'x; extra == "y"'])
    env = make_env(tmp_path / "env")
    uv_install(env, tmp_path / "w", "torch-npu", options=("--no-deps",))
    info = environment_info(env)
    assert info.python_version == ".".join(map(str, sys.version_info[:3]))
    (dist,) = read_environment(info.site_dirs)
    assert (dist.name, dist.version, dist.installer) == ("torch-npu", "2.10.0.post4", "uv")
    assert dist.requires == ("torch==2.10.0", 'x; extra == "y"')
    assert "torch_npu/__init__.py" in {entry.path for entry in dist.record or ()}
    assert dist.problems == ()


def test_container_of_generations_resolves_current_once(tmp_path: Path) -> None:
    site = _fake_env(tmp_path / "gen-2")
    (tmp_path / "current").symlink_to("gen-2")
    assert site_dirs_of(tmp_path) == [site]
    assert environment_info(tmp_path).path == tmp_path / "gen-2"


def test_lib64_as_link_counts_once_and_as_folder_counts_too(tmp_path: Path) -> None:
    site = _fake_env(tmp_path / "a")
    (tmp_path / "a/lib64").symlink_to("lib")
    assert site_dirs_of(tmp_path / "a") == [site]
    site = _fake_env(tmp_path / "b")
    other = tmp_path / "b/lib64/python3.11/site-packages"
    other.mkdir(parents=True)
    assert site_dirs_of(tmp_path / "b") == [site, other]


def test_library_of_the_stated_version_wins_and_threads_are_seen(tmp_path: Path) -> None:
    _fake_env(tmp_path, "3.13.1", "python3.13t")
    (tmp_path / "lib/python3.9/site-packages").mkdir(parents=True)
    info = environment_info(tmp_path)
    assert [d.parent.name for d in info.site_dirs] == ["python3.13t"]
    assert info.free_threaded


def test_absent_environment_has_no_folders(tmp_path: Path) -> None:
    assert not environment_info(tmp_path / "none").exists


@pytest.mark.parametrize("spelling", ["torch_npu-2.9.0.dist-info", "Torch.NPU-2.9.0.dist-info"])
def test_any_spelling_is_one_package(tmp_path: Path, spelling: str) -> None:
    site = _fake_env(tmp_path)
    _dist(site, spelling, "Name: torch_npu\nVersion: 2.9.0\n\nVersion: 9\n", "")
    (dist,) = read_environment([site])
    assert (dist.name, dist.version) == ("torch-npu", "2.9.0")


def test_damaged_ones_are_flagged_and_legacy_ones_are_not(tmp_path: Path) -> None:
    site = _fake_env(tmp_path)
    _dist(site, "torch-2.1.0.dist-info", "Name: torch\nVersion: 2.1.0\n")
    _dist(site, "vllm-0.9.1.dist-info", None, "vllm/__init__.py,,\n")
    (site / "old-1.0-py3.11.egg-info").write_text("Name: old\nVersion: 1.0\n")
    by_name = {d.name: d for d in read_environment([site])}
    assert by_name["torch"].problems == ("no RECORD",)
    assert by_name["vllm"].problems == ("no METADATA",)
    assert by_name["vllm"].version == "0.9.1"
    assert (by_name["old"].problems, by_name["old"].version) == ((), "1.0")


def test_record_with_quoted_comma_and_empty_fields(tmp_path: Path) -> None:
    site = _fake_env(tmp_path)
    record = '"a,b.py",sha256=abc,12\npkg/c.py,sha256=d,3\npkg/RECORD,,\n\n'
    _dist(site, "pkg-1.dist-info", "Name: pkg\nVersion: 1\n", record)
    (dist,) = read_environment([site])
    assert [tuple(e) for e in dist.record or ()] == [
        ("a,b.py", "sha256=abc", 12),
        ("pkg/c.py", "sha256=d", 3),
        ("pkg/RECORD", "", None),
    ]


def test_leftovers_of_an_interrupted_pip(tmp_path: Path) -> None:
    site = _fake_env(tmp_path)
    _dist(site, "~orch-2.1.0.dist-info", "Name: torch\nVersion: 2.1.0\n", "")
    (site / "~orch").mkdir()
    assert read_environment([site]) == []
    assert set(find_leftovers([site]).values()) == {"orch"}
