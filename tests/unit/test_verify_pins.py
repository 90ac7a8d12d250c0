"""Pins in real environments that real pip and real uv change: what moved, what was lost, who did it."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fakes"))

from real_envs import make_env, pip_install, uv_install, uv_uninstall
from tiny_wheels import make_wheel

from accel_install.recipe.models import ExclusiveFamily
from accel_install.verify.culprit import stamp
from accel_install.verify.environment import find_leftovers, read_environment, site_dirs_of
from accel_install.verify.findings import Finding
from accel_install.verify.pins import check_pins
from accel_install.verify.versions import local_family, same_version

TRITON = ExclusiveFamily(
    module="triton",
    provider="triton-ascend",
    members=["triton", "triton_ascend", "pytorch-triton-rocm"],
    reason="both own the folder triton",
)
NO_DEPS = ("--no-deps",)


def _check(env: Path, pins: dict[str, str], **more: object) -> list[Finding]:
    sites = site_dirs_of(env)
    return check_pins(read_environment(sites), pins, leftovers=find_leftovers(sites), **more)  # type: ignore[arg-type]


def _slugs(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(f.slug, f.subject) for f in findings]


def _age(env: Path, seconds: float) -> float:
    """Make everything that is installed older, and return the time of the newest of it."""
    for site in site_dirs_of(env):
        for info in site.glob("*.dist-info"):
            then = info.stat().st_mtime - seconds
            os.utime(info, (then, then))
    return max(d.mtime for d in read_environment(site_dirs_of(env)))


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    for version in ("2.5.1", "2.7.0"):
        make_wheel(folder, "torch", version)
        make_wheel(folder, "torchaudio", version, [f"torch=={version}"])
    make_wheel(folder, "torchvision", "0.20.1", ["torch==2.5.1"])
    make_wheel(folder, "torch_npu", "2.5.1.post1", ["torch==2.5.1"])
    make_wheel(folder, "vllm", "0.9.1", ["torch==2.7.0", "torchaudio==2.7.0"])
    make_wheel(folder, "innocent", "1.0", ["torch>=2.0"])
    return folder


PINS = {"torch": "2.5.1", "torch_npu": "2.5.1.post1", "torchvision": "0.20.1", "torchaudio": "2.5.1"}


@pytest.fixture
def stack(tmp_path: Path, wheels: Path) -> Path:
    env = make_env(tmp_path / "env")
    uv_install(env, wheels, "innocent", *(f"{n}=={v}" for n, v in PINS.items()))
    return env


def test_untouched_stack_has_no_findings(stack: Path) -> None:
    assert _check(stack, PINS, exclusive=[TRITON]) == []


@pytest.mark.parametrize("install", [uv_install, pip_install])
def test_torch_moved_by_another_package_names_it(stack: Path, wheels: Path, install: object) -> None:
    last_good = _age(stack, 3600)
    install(stack, wheels, "vllm==0.9.1")  # type: ignore[operator]
    found = _check(stack, PINS, last_good=last_good + 1, now=last_good + 3600)
    assert _slugs(found) == [("pins.version-moved", "torch"), ("pins.version-moved", "torchaudio")]
    torch = found[0]
    assert (torch.expected, torch.actual) == ("2.5.1", "2.7.0")
    assert (torch.culprit or "").startswith("vllm 0.9.1 requires torch==2.7.0 (installed ")
    assert (found[1].culprit or "").startswith("vllm 0.9.1 requires torchaudio==2.7.0 (installed ")


def test_the_step_that_just_ran_is_named(stack: Path, wheels: Path) -> None:
    _age(stack, 3600)
    uv_install(stack, wheels, "vllm==0.9.1")
    audio = _check(stack, PINS, culprit_hint="step vllm", step_of={"torchaudio": "torch-family"})[1]
    assert audio.culprit is not None
    assert audio.culprit.startswith("step vllm: vllm 0.9.1 requires torchaudio==2.7.0")
    assert "torch-family" in (audio.remedy or "")


def test_who_was_there_all_along_is_not_the_culprit(tmp_path: Path, wheels: Path) -> None:
    env = make_env(tmp_path / "env")
    uv_install(env, wheels, "vllm", "torch==2.5.1", options=NO_DEPS)
    last_good = _age(env, 3600) + 60
    uv_install(env, wheels, "torch==2.7.0", options=NO_DEPS)
    (found,) = _check(env, {"torch": "2.5.1", "vllm": "0.9.1"}, last_good=last_good)
    assert found.culprit is not None
    assert found.culprit.startswith(f"unknown, between {stamp(last_good)} and ")


def test_a_wide_requirement_proves_nothing(stack: Path, wheels: Path) -> None:
    last_good = _age(stack, 3600)
    make_wheel(wheels, "late", "1.0", ["torch>=2.0"])
    uv_install(stack, wheels, "late", "torch==2.7.0", options=NO_DEPS)
    found = [f for f in _check(stack, PINS, last_good=last_good) if f.subject == "torch"]
    assert (found[0].culprit or "").startswith("unknown, between")


def test_missing_package(stack: Path) -> None:
    uv_uninstall(stack, "torchvision")
    (found,) = _check(stack, PINS, now=0.0)
    assert (found.slug, found.subject) == ("pins.missing", "torchvision")
    assert found.culprit == "unknown, between the installation and 1970-01-01T00:00:00Z"


def test_lost_vendor_build_is_found_though_every_specifier_holds(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    make_wheel(folder / "vendor", "torch", "2.6.0+metax3.2.1.3")
    make_wheel(folder / "public", "torch", "2.6.0")
    env = make_env(tmp_path / "env")
    uv_install(env, folder / "vendor", "torch")
    pins = {"torch": "2.6.0+metax3.2.1.3"}
    assert _check(env, pins) == []
    uv_install(env, folder / "public", "torch==2.6.0", options=("--reinstall",))
    (found,) = _check(env, pins)
    assert (found.slug, found.expected, found.actual) == (
        "pins.local-family-lost",
        "2.6.0+metax3.2.1.3",
        "2.6.0",
    )


@pytest.mark.parametrize(
    ("pin", "installed", "slug"),
    [
        ("2.10.0+metax3.8.0.7", "2.10.0+metax3.8.0.9", "pins.version-moved"),
        ("2.9.0", "2.9.0+cpu", "pins.local-family-lost"),
        ("2.9.0+cpu", "2.9.0+cu128", "pins.local-family-lost"),
        ("2.9.0+cpu", "2.10.0", "pins.version-moved"),
    ],
)
def test_kind_of_move(tmp_path: Path, pin: str, installed: str, slug: str) -> None:
    env = make_env(tmp_path / "env")
    make_wheel(tmp_path / "w", "torch", installed)
    uv_install(env, tmp_path / "w", "torch")
    assert _slugs(_check(env, {"Torch": pin})) == [(slug, "torch")]


def test_versions_that_are_spelt_otherwise_are_equal() -> None:
    assert same_version("2.9.0.post1+git-4C901a4", "2.9.0.post1+git.4c901a4")
    assert not same_version("2.1.0+das1.0+git1", "2.1.0+das1.0+git2")
    assert [local_family(v) for v in ("1.0", "1.0+cu128", "1.0+rocm6.2", "1.0+1a")] == [
        None,
        "cu",
        "rocm",
        "1a",
    ]


SHARED = {"triton/__init__.py": "upstream\n", "triton/same.py": "same\n", "triton/backends/nvidia.py": "n\n"}
FORK = {"triton/__init__.py": "the fork\n", "triton/same.py": "same\n", "triton/backends/ascend.py": "a\n"}


@pytest.fixture
def tritons(tmp_path: Path) -> Path:
    folder = tmp_path / "tritons"
    make_wheel(folder, "triton", "3.6.0", files=SHARED)
    make_wheel(folder, "triton_ascend", "3.2.0", files=FORK)
    make_wheel(folder, "xgrammar", "0.2.9", ['triton; platform_system == "Linux"'])
    return folder


@pytest.mark.parametrize("install", [uv_install, pip_install])
@pytest.mark.parametrize("order", [("triton", "triton-ascend"), ("triton-ascend", "triton")])
def test_two_providers_in_both_orders(tmp_path: Path, tritons: Path, order: tuple[str, str], install: object) -> None:
    env = make_env(tmp_path / "env")
    for name in (*order, "xgrammar"):
        install(env, tritons, name, options=NO_DEPS)  # type: ignore[operator]
    found = _check(env, {"triton-ascend": "3.2.0"}, exclusive=[TRITON.model_dump()])
    assert _slugs(found) == [
        ("ownership.family-conflict", "triton-ascend"),
        ("ownership.shared-path", "triton-ascend"),
    ]
    conflict, shared = found
    assert conflict.actual == "triton 3.6.0 and triton-ascend 3.2.0"
    assert "xgrammar 0.2.9 requires triton" in (conflict.culprit or "")
    assert conflict.packages == ["triton", "triton-ascend"]
    assert "1 paths also claimed by triton 3.6.0, such as triton/__init__.py" in (shared.actual or "")
    assert f"the content is {order[1]}'s" in (shared.actual or "")


def test_the_wrong_provider_alone(tmp_path: Path, tritons: Path) -> None:
    env = make_env(tmp_path / "env")
    uv_install(env, tritons, "triton")
    found = _check(env, {"triton-ascend": "3.2.0"}, exclusive=[TRITON])
    assert _slugs(found) == [
        ("ownership.family-conflict", "triton-ascend"),
        ("pins.missing", "triton-ascend"),
    ]


def test_before_the_fork_is_installed_nothing_is_wrong(tmp_path: Path) -> None:
    assert _check(make_env(tmp_path / "env"), {}, exclusive=[TRITON]) == []


def test_a_fork_over_its_pinned_upstream_is_no_conflict(tmp_path: Path, tritons: Path) -> None:
    env = make_env(tmp_path / "env")
    uv_install(env, tritons, "triton", options=NO_DEPS)
    uv_install(env, tritons, "triton-ascend", options=NO_DEPS)
    assert _check(env, {"triton-ascend": "3.2.0", "triton": "3.6.0"}, exclusive=[TRITON]) == []


def test_equal_shared_files_are_no_finding(tmp_path: Path) -> None:
    env = make_env(tmp_path / "env")
    for name in ("nvidia-a", "nvidia-b"):
        make_wheel(tmp_path / "w", name, "1", files={"nvidia/__init__.py": "", f"nvidia/{name}.py": name})
        uv_install(env, tmp_path / "w", name)
    assert _check(env, {"nvidia-a": "1", "nvidia-b": "1"}) == []


def test_half_installed_and_leftovers(stack: Path) -> None:
    (site,) = site_dirs_of(stack)
    (site / "torch-2.5.1.dist-info/RECORD").unlink()
    (site / "innocent-1.0.dist-info/METADATA").unlink()
    (site / "~orchaudio").mkdir()
    found = _check(stack, PINS)
    assert [(f.slug, f.severity, f.subject) for f in found] == [
        ("env.half-installed", "fault", "torch"),
        ("env.half-installed", "warning", "innocent"),
        ("env.half-installed", "warning", "torchaudio"),
    ]


def test_two_copies(stack: Path) -> None:
    (site,) = site_dirs_of(stack)
    shutil.copytree(site / "torch-2.5.1.dist-info", site / "torch-2.7.0.dist-info")
    (found,) = _check(stack, PINS)
    assert (found.slug, found.subject) == ("pins.duplicate-dist", "torch")
    assert "torch-2.7.0.dist-info" in (found.actual or "")
