"""Whole checks of real environments, integrity, expected conflicts, and the repairs that follow."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fakes"))

from real_envs import make_env, uv_install, uv_uninstall
from tiny_wheels import make_wheel

from accel_install.plan.models import Plan, PlanStep, PlanWheel
from accel_install.verify.check import verify_environment
from accel_install.verify.environment import site_dirs_of
from accel_install.verify.findings import Finding, has_fault, sorted_findings
from accel_install.verify.promise import promise_of_plan
from accel_install.verify.repair import repair_plan

PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"
STEPS = {
    "torch": "torch-family",
    "torchvision": "torch-family",
    "numpy": "torch-family",
    "vllm": "serving",
    "triton-ascend": "fork",
}
VERSIONS = {
    "torch": "2.10.0",
    "torchvision": "0.25.0",
    "numpy": "1.26.4",
    "vllm": "0.23.0",
    "triton-ascend": "3.2.2",
}
FAMILY: dict[str, Any] = {
    "module": "triton",
    "provider": "triton-ascend",
    "members": ["triton", "triton-ascend"],
    "reason": "one folder",
}


def _plan(**more: Any) -> Plan:
    kinds = {"driver": "runfile", "env": "python_env", "torch-family": "wheels", "serving": "wheels"}
    kinds |= {"fork": "wheels_nodeps", "smoke": "smoke_test"}
    ids = list(kinds)
    return Plan(
        recipe="ascend-910b",
        stack="ascend-910b",
        row="row-1",
        target={"arch": "x86_64", "python": PYTHON},
        complete=True,
        steps=[PlanStep(id=i, kind=kinds[i], title=i, needs=[ids[n - 1]] if n else []) for n, i in enumerate(ids)],
        wheels=[
            PlanWheel(
                name=name,
                version=VERSIONS[name],
                filename=f"{name.replace('-', '_')}-{VERSIONS[name]}-py3-none-any.whl",
                url=None,
                index="default",
                sha256="0" * 64,
                size_bytes=10,
                step=step,
                bound=name != "numpy",
            )
            for name, step in STEPS.items()
        ],
        exclusive=[FAMILY],
        **more,
    )


@pytest.fixture
def links(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    make_wheel(folder, "torch", "2.10.0", ["triton==3.6.0", 'nvidia-cublas; platform_machine == "x86_64"'])
    make_wheel(folder, "torchvision", "0.25.0", ["torch==2.10.0"])
    make_wheel(folder, "numpy", "1.26.4")
    make_wheel(folder, "vllm", "0.23.0", ["torch==2.11.0", "numpy>=2", 'absent; sys_platform == "win32"'])
    make_wheel(folder, "triton_ascend", "3.2.2", files={"triton/__init__.py": "fork", "triton/a.py": "a"})
    make_wheel(folder, "triton", "3.6.0", files={"triton/__init__.py": "upstream", "triton/n.py": "n"})
    return folder


@pytest.fixture
def env(tmp_path: Path, links: Path) -> Path:
    path = make_env(tmp_path / "env")
    uv_install(path, links, *(f"{n}=={v}" for n, v in VERSIONS.items()), options=("--no-deps",))
    return path


def test_conflicts_that_the_promise_accounts_for_are_told_as_such(env: Path) -> None:
    plan = _plan(
        expected_conflicts=[{"package": "vllm", "requires": "torch", "reason": "the plugin pins 2.10.0"}],
        left_out=[{"name": "nvidia-cublas", "reason": "no NVIDIA device"}],
    )
    report = verify_environment(env, promise_of_plan(plan))
    assert (report.promise, report.proven, report.clean) == ("ascend-910b (row-1)", False, True)
    assert report.expected_conflicts == [
        {
            "text": "torch 2.10.0 requires nvidia-cublas, but it is not installed",
            "reason": "no NVIDIA device",
        },
        {
            "text": "torch 2.10.0 requires triton==3.6.0, but it is not installed",
            "reason": "module triton is provided by triton-ascend: one folder",
        },
        {
            "text": "vllm 0.23.0 requires torch==2.11.0, but torch 2.10.0 is installed",
            "reason": "the plugin pins 2.10.0",
        },
    ]
    assert [(f.slug, f.severity, f.subject, f.expected) for f in report.findings] == [
        ("requirements.conflict", "warning", "vllm", "numpy>=2")
    ]


def test_markers_are_the_targets(env: Path) -> None:
    plan = _plan()
    plan.target["arch"] = "aarch64"
    texts = [f.actual for f in verify_environment(env, promise_of_plan(plan)).findings]
    assert "nvidia-cublas" not in str(texts)


def test_changed_and_missing_files(env: Path) -> None:
    (site,) = site_dirs_of(env)
    torch = site / "torch/__init__.py"
    original = torch.read_bytes()
    (site / "vllm/__init__.py").unlink()
    torch.unlink()
    torch.write_bytes(original.replace(b"Stand-in", b"Damaged!"))
    promise = promise_of_plan(_plan())
    quick = [f for f in verify_environment(env, promise).findings if f.severity == "fault"]
    assert [(f.slug, f.subject) for f in quick] == [("integrity.missing-files", "vllm")]
    deep = [f for f in verify_environment(env, promise, True).findings if f.severity == "fault"]
    assert [(f.slug, f.subject) for f in deep] == [
        ("integrity.changed-files", "torch"),
        ("integrity.missing-files", "vllm"),
    ]


def test_uninstalling_upstream_breaks_the_fork_and_is_found(env: Path, links: Path) -> None:
    uv_install(env, links, "triton", options=("--no-deps",))
    uv_uninstall(env, "triton")
    found = [f for f in verify_environment(env, promise_of_plan(_plan())).findings if f.severity == "fault"]
    assert [(f.slug, f.subject) for f in found] == [("integrity.missing-files", "triton-ascend")]


def test_without_a_promise_only_sense_rules_apply(env: Path, links: Path) -> None:
    assert verify_environment(env).findings == []
    uv_install(env, links, "triton", options=("--no-deps",))
    report = verify_environment(env)
    assert report.promise is None
    assert [(f.slug, f.severity, f.subject) for f in report.findings] == [
        ("ownership.family-conflict", "fault", "triton"),
        ("ownership.shared-path", "warning", "triton"),
    ]


def test_absent_environment_and_other_python(tmp_path: Path, env: Path) -> None:
    report = verify_environment(tmp_path / "none", promise_of_plan(_plan()))
    assert [f.slug for f in report.findings] == ["env.absent"]
    plan = _plan()
    plan.target["python"] = "3.9"
    assert "env.wrong-python" in [f.slug for f in verify_environment(env, promise_of_plan(plan)).findings]


def test_foreign_payload_is_a_warning(env: Path, tmp_path: Path) -> None:
    make_wheel(tmp_path / "foreign", "nvidia-cublas", "13.0")
    uv_install(env, tmp_path / "foreign", "nvidia-cublas")
    promise = promise_of_plan(_plan(), forbidden={"nvidia-*": "no NVIDIA device"})
    found = [f for f in verify_environment(env, promise).findings if f.slug == "pins.forbidden-present"]
    assert [(f.subject, f.severity, f.actual) for f in found] == [("nvidia-cublas", "warning", "13.0")]


def _finding(slug: str, *packages: str, subject: str | None = None) -> Finding:
    return Finding(slug=slug, severity="fault", subject=subject or packages[0], packages=list(packages))


def test_repair_takes_the_whole_bound_set_of_the_step() -> None:
    plan = repair_plan(_plan(), [_finding("pins.version-moved", "torch")])
    assert [(s.id, s.decision) for s in plan.steps] == [
        ("env", "skip"),
        ("torch-family", "repair"),
        ("serving", "skip"),
        ("fork", "skip"),
        ("smoke", "do"),
    ]
    assert plan.step("torch-family").params == {"reinstall": ["torch", "torchvision"]}
    assert plan.step("env").needs == []
    assert plan.download_bytes == 20


def test_repair_of_an_ordinary_package_touches_it_alone() -> None:
    plan = repair_plan(_plan(), [_finding("pins.missing", "numpy")])
    assert plan.step("torch-family").params == {"reinstall": ["numpy"]}


def test_repair_of_a_family_removes_every_claimant_and_installs_one() -> None:
    plan = repair_plan(_plan(), [_finding("ownership.family-conflict", "triton", "triton-ascend", subject="triton-ascend")])
    fork = plan.step("fork")
    assert (fork.decision, fork.params) == (
        "repair",
        {"reinstall": ["triton-ascend"], "remove": ["triton", "triton-ascend"]},
    )
    assert plan.step("serving").decision == "skip"


def test_repair_removes_a_stranger_that_took_a_pinned_file() -> None:
    plan = repair_plan(_plan(), [_finding("ownership.shared-path", "numpy", "stranger")])
    assert plan.step("torch-family").params == {"reinstall": ["numpy"], "remove": ["stranger"]}


def test_repair_with_nothing_to_do_skips_all_and_rebuilds_what_is_absent() -> None:
    assert {s.decision for s in repair_plan(_plan(), []).steps} == {"skip"}
    absent = [Finding(slug="env.absent", severity="fault", subject="x")]
    assert {s.decision for s in repair_plan(_plan(), absent).steps} == {"do"}


def test_repair_does_not_touch_the_promise_it_was_given() -> None:
    promised = _plan()
    before = promised.to_document()
    repair_plan(promised, [_finding("pins.version-moved", "torch")])
    assert promised.to_document() == before


def test_findings_come_worst_first() -> None:
    found = [Finding(slug=s, severity=v, subject="x") for s, v in (("b", "info"), ("c", "fault"), ("a", "warning"))]  # type: ignore[arg-type]
    assert [f.severity for f in sorted_findings(found)] == ["fault", "warning", "info"]
    assert has_fault(found)
    assert not has_fault(found[:1])
