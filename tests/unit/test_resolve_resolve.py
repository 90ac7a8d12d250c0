"""One row for one target, with a made-up index and solver."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from resolve_fakes import (
    A64_28,
    A64_34,
    CLOSURE,
    DEFAULT_PAGES,
    REQUIRES,
    ROW_18,
    ROW_23,
    X64_34,
    FakeClient,
    FakeHttp,
    FakeSolver,
    digest,
    fake_recipe,
    index_file,
    no_solution,
)

from accel_install.errors import IndexUnavailableError, ResolutionError
from accel_install.facts.target import Target
from accel_install.recipe.models import PackageSpec, Row
from accel_install.resolve.models import Resolution, RowMisfit
from accel_install.resolve.resolve import CLOSURE_NAME, resolve_row


def run(
    tmp_path: Path,
    row: Row = ROW_23,
    target: Target = A64_34,
    *,
    client: FakeClient | None = None,
    solver: FakeSolver | None = None,
    recipe: Any = None,
    **options: Any,
) -> Resolution | RowMisfit:
    return resolve_row(
        recipe or fake_recipe(),
        row,
        target,
        client or FakeClient({"default": DEFAULT_PAGES}),
        FakeHttp(REQUIRES),
        solver or FakeSolver(CLOSURE),
        tmp_path,
        **options,
    )


def resolved(*args: Any, **options: Any) -> Resolution:
    outcome = run(*args, **options)
    assert isinstance(outcome, Resolution)
    return outcome


def test_the_bound_set_is_picked_and_the_closure_joined(tmp_path: Path) -> None:
    found = resolved(tmp_path)
    files = {w.name: (w.filename, w.index, w.bound) for w in found.wheels}
    assert files["vllm"] == ("vllm-0.23.0-2-cp38-abi3-manylinux_2_28_aarch64.whl", "default", True)
    assert files["numpy"] == ("numpy-2.3.5-cp311-cp311-manylinux_2_28_aarch64.whl", "default", False)
    assert set(files) == {"torch", "torch-npu", "vllm", "vllm-ascend", "numpy", "six"}
    assert found.requires["vllm"][0] == "torch==2.11.0"
    assert found.snapshot
    assert any(r.filename == "vllm-0.23.0-cp38-abi3-manylinux_2_28_aarch64.whl" for r in found.rejected)


def test_the_solver_gets_direct_files_and_no_vendor_index(tmp_path: Path) -> None:
    solver = FakeSolver(CLOSURE)
    resolved(tmp_path, solver=solver)
    first = solver.requests[0]
    wheel = "torch-2.10.0-cp311-cp311-manylinux_2_28_aarch64.whl"
    assert ("torch", f"https://idx.example/files/{wheel}#sha256={digest(wheel)}") in first.direct
    assert "vllm==0.23.0" in first.requirements and "vllm-ascend==0.23.0" in first.requirements
    assert first.default_index == "https://default.example/simple"
    assert set(first.excludes) == {"triton", "triton-ascend", "flashinfer-python"}
    assert first.constraints == ("setuptools<81", "memfabric-hybrid==1.2.0")
    assert first.version_overrides == ()


def test_foreign_names_are_excluded_until_none_is_left(tmp_path: Path) -> None:
    solver = FakeSolver(CLOSURE)
    found = resolved(tmp_path, solver=solver)
    assert len(solver.requests) == 2
    assert "nvidia-nccl-cu13" in solver.requests[1].excludes
    assert "nvidia-nccl-cu13" not in {w.name for w in found.wheels}


def test_a_solver_that_never_stops_bringing_them_is_stopped(tmp_path: Path) -> None:
    class Stubborn(FakeSolver):
        def solve(self, request: Any) -> Any:
            answer = super().solve(replace(request, excludes=()))
            assert len(self.requests) < 20
            return answer

    with pytest.raises(ResolutionError) as caught:
        run(tmp_path, solver=Stubborn(CLOSURE))
    assert caught.value.slug == "resolve.closure-unstable"


def test_overrides_and_exclusions_are_forecast(tmp_path: Path) -> None:
    found = resolved(tmp_path)
    told = {(o.package, o.pinned, o.wanted, o.by, o.pinned_by) for o in found.predicted_overrides}
    assert told == {
        ("torch", "2.10.0", "==2.11.0", "vllm 0.23.0", "vllm-ascend 0.23.0"),
        ("flashinfer-python", None, "==0.6.12", "vllm 0.23.0", None),
    }
    assert [(x.name, x.reason) for x in found.left_out] == [
        ("flashinfer-python", "CUDA only (wanted by vllm 0.23.0)"),
        ("triton", "fork"),
    ]


def test_a_vendor_index_out_of_reach_leaves_a_hole_and_names_what_exists(tmp_path: Path) -> None:
    found = resolved(tmp_path)
    (hole,) = found.unresolved
    assert (hole.name, hole.version, hole.index, hole.reason) == (
        "triton-ascend",
        "3.2.2",
        "vendor",
        "index-unreachable",
    )
    assert hole.alternatives == ("3.2.0",)
    assert "belongs to CANN 8.5.0" in hole.detail and "vendor" in hole.detail
    assert any("triton-ascend 3.2.2 are unknown" in w for w in found.warnings)


def test_an_alternative_needs_a_fitting_file(tmp_path: Path) -> None:
    pages = {**DEFAULT_PAGES, "triton-ascend": ["triton_ascend-3.2.0-cp310-cp310-manylinux_2_27_aarch64.whl"]}
    found = resolved(tmp_path, client=FakeClient({"default": pages}))
    assert found.unresolved[0].alternatives == ()


def test_find_links_complete_the_row_and_are_named(tmp_path: Path) -> None:
    name = "triton_ascend-3.2.2-cp311-cp311-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl"
    client = FakeClient({"default": DEFAULT_PAGES}, {"triton-ascend": [("find-links-1", index_file(name))]})
    found = resolved(tmp_path, client=client)
    assert found.unresolved == ()
    fork = next(w for w in found.wheels if w.name == "triton-ascend")
    assert (fork.filename, fork.index, fork.bound) == (name, "find-links-1", True)
    assert ("vendor", "triton-ascend") not in client.asked


def test_x86_takes_cpu_builds_or_nothing(tmp_path: Path) -> None:
    closure = {"six": CLOSURE["six"], "torch": "torch-2.10.0-cp311-cp311-manylinux_2_28_x86_64.whl"}
    solver = FakeSolver(closure)
    found = resolved(tmp_path, target=X64_34, solver=solver)
    assert {u.name: (u.version, u.index) for u in found.unresolved}["torch"] == ("2.10.0+cpu", "pytorch-cpu")
    assert "torch" in solver.requests[0].excludes
    assert "torch" not in {w.name for w in found.wheels}
    cpu = "torch-2.10.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl"
    client = FakeClient({"default": DEFAULT_PAGES, "pytorch-cpu": {"torch": [cpu]}})
    completed = resolved(tmp_path, target=X64_34, solver=FakeSolver({"six": CLOSURE["six"]}), client=client)
    torch = next(w for w in completed.wheels if w.name == "torch")
    assert (torch.filename, torch.version, torch.index) == (cpu, "2.10.0+cpu", "pytorch-cpu")


def test_a_file_that_needs_a_newer_libc_is_a_misfit_of_the_row(tmp_path: Path) -> None:
    solver = FakeSolver(CLOSURE)
    found = run(tmp_path, target=A64_28, solver=solver)
    assert isinstance(found, RowMisfit)
    assert "vllm-ascend 0.23.0" in found.detail and "2.34" in found.detail and "2.28" in found.detail
    assert {r.reason for r in found.rejected if "aarch64" in r.filename} == {"glibc"}
    assert solver.requests == []


def test_a_missing_project_is_a_misfit_unless_optional(tmp_path: Path) -> None:
    client = FakeClient({"default": DEFAULT_PAGES, "vendor": {}})
    found = run(tmp_path, client=client)
    assert isinstance(found, RowMisfit) and "triton-ascend 3.2.2" in found.detail
    packages = dict(fake_recipe().packages)
    packages["triton-ascend"] = PackageSpec(role="fork", index="vendor", optional=True)
    optional = resolved(tmp_path, client=client, recipe=fake_recipe(packages=packages))
    assert [(u.name, u.reason) for u in optional.unresolved] == [("triton-ascend", "not-published")]


def test_a_closure_without_solution_is_a_misfit_with_the_solvers_words(tmp_path: Path) -> None:
    solver = FakeSolver({}, {"vllm==0.23.0": no_solution("Because llguidance has no usable wheels")})
    found = run(tmp_path, solver=solver)
    assert found == RowMisfit("row-0.23.0", "its closure has no solution: Because llguidance has no usable wheels")


def test_a_solved_file_that_does_not_fit_is_a_misfit(tmp_path: Path) -> None:
    solver = FakeSolver({"numpy": "numpy-2.3.5-cp311-cp311-manylinux_2_40_aarch64.whl"})
    found = run(tmp_path, solver=solver)
    assert isinstance(found, RowMisfit) and "numpy 2.3.5" in found.detail


def test_an_index_that_dies_under_the_solver_leaves_the_closure_open(tmp_path: Path) -> None:
    solver = FakeSolver({}, {"vllm==0.23.0": IndexUnavailableError("network.unreachable", "dead")})
    found = resolved(tmp_path, solver=solver)
    assert CLOSURE_NAME in {u.name for u in found.unresolved}
    assert {w.name for w in found.wheels} == {"torch", "torch-npu", "vllm", "vllm-ascend"}


def test_nothing_reachable_leaves_everything_unresolved_without_asking_the_solver(tmp_path: Path) -> None:
    solver = FakeSolver(CLOSURE)
    found = resolved(tmp_path, client=FakeClient({}), solver=solver, offline=True)
    assert {u.reason for u in found.unresolved} == {"offline"}
    assert {u.name for u in found.unresolved} == {*fake_recipe().packages, CLOSURE_NAME}
    assert found.wheels == () and solver.requests == []


def test_conditional_overrides_and_bounds_follow_the_row(tmp_path: Path) -> None:
    solver = FakeSolver({"numpy": "numpy-1.26.4-cp311-cp311-manylinux_2_17_aarch64.whl"})
    found = resolved(tmp_path, ROW_18, solver=solver)
    assert solver.requests[0].version_overrides == ("numpy<2",)
    assert solver.requests[0].constraints == ("setuptools<81",)
    assert any("memfabric-hybrid==1.2.0 is not applied" in w for w in found.warnings)


def test_user_requirements_join_or_are_refused(tmp_path: Path) -> None:
    solver = FakeSolver(CLOSURE)
    resolved(tmp_path, solver=solver, user_requirements=("ray>=2", "torch>=2.9"))
    assert "ray>=2" in solver.requests[0].requirements
    with pytest.raises(ResolutionError) as caught:
        run(tmp_path, user_requirements=("torch==2.11.0", "torch<1; sys_platform == 'win32'"))
    assert caught.value.slug == "resolve.requirement-contradicts-row"
    assert caught.value.value == "torch==2.11.0 (the row pins 2.10.0)"


def test_compare_adds_up_a_plain_install(tmp_path: Path) -> None:
    class Plain(FakeSolver):
        def solve(self, request: Any) -> Any:
            if request.requirements != ("vllm==0.23.0",):
                return super().solve(request)
            assert request.direct == request.excludes == request.constraints == ()
            return FakeSolver({"flashinfer-python": "flashinfer_python-0.6.12-py3-none-any.whl", **CLOSURE}).solve(request)

    found = resolved(tmp_path, solver=Plain(CLOSURE), compare=True)
    assert found.plain_install_bytes == 40
    assert {x.name: x.size_bytes for x in found.left_out} == {
        "flashinfer-python": 10,
        "nvidia-nccl-cu13": 10,
        "triton": None,
    }


def test_a_plain_install_that_fails_is_a_warning(tmp_path: Path) -> None:
    class Failing(FakeSolver):
        def solve(self, request: Any) -> Any:
            if request.requirements == ("vllm==0.23.0",):
                raise no_solution("because")
            return super().solve(request)

    found = resolved(tmp_path, solver=Failing(CLOSURE), compare=True)
    assert found.plain_install_bytes is None
    assert any("plain install of vllm==0.23.0" in w and "because" in w for w in found.warnings)
