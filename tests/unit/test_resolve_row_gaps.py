"""What a row leaves open or names although nobody published it; indexes that did not answer a moment ago."""

from __future__ import annotations

from pathlib import Path

import pytest
from resolve_fakes import A64_34, CLOSURE, DEFAULT_PAGES, REQUIRES, X64_34, FakeClient, FakeHttp, FakeSolver, fake_recipe, row

from accel_install.errors import IndexUnavailableError
from accel_install.facts.target import Target
from accel_install.recipe.models import PackageSpec, Row
from accel_install.resolve.bound import Pages
from accel_install.resolve.dead_indexes import DeadIndexes
from accel_install.resolve.models import Resolution, RowMisfit
from accel_install.resolve.resolve import resolve_row

VISION = {f"torchvision-{v}": [f"torch=={t}"] for v, t in (("0.25.0", "2.10.0"), ("0.24.1", "2.9.1"), ("0.21.0", "2.6.0"))}
TORCH_FILES = [f"torch-{v}-cp311-cp311-manylinux_2_28_aarch64.whl" for v in ("2.6.0", "2.9.0")]
VISION_FILES = [f"torchvision-{v}-cp311-cp311-manylinux_2_28_aarch64.whl" for v in ("0.21.0", "0.24.1", "0.25.0", "0.26.0rc1")]


def resolve(tmp_path: Path, wanted: Row, target: Target = A64_34, **requires: list[str]) -> Resolution | RowMisfit:
    packages = {**fake_recipe().packages, "torchvision": PackageSpec(role="torch-family", index={"x86_64": "pytorch-cpu"})}
    return resolve_row(
        fake_recipe(packages=packages),
        wanted,
        target,
        FakeClient({"default": {**DEFAULT_PAGES, "torchvision": VISION_FILES, "torch": TORCH_FILES}}),
        FakeHttp({**REQUIRES, **VISION, **requires}),
        FakeSolver({"six": CLOSURE["six"]}),
        tmp_path,
    )


def test_an_unpublished_version_gives_way_to_the_plugins_own_pin_and_says_so(tmp_path: Path) -> None:
    wanted = row("0.18.0", **{"torch": "2.6.0", "torch-npu": "2.9.0.post1"})
    found = resolve(tmp_path, wanted, **{"vllm_ascend-0.18.0": ["torch==2.9.0", "torch-npu==2.9.0"]})
    assert isinstance(found, Resolution)
    assert {w.name: w.version for w in found.wheels}["torch-npu"] == "2.9.0"
    (note,) = [w for w in found.warnings if "torch-npu" in w]
    assert "2.9.0.post1" in note and "vllm-ascend 0.18.0 pins" in note


def test_a_range_or_the_same_pin_is_no_reason_to_take_another_version(tmp_path: Path) -> None:
    wanted = row("0.18.0", **{"torch": "2.6.0", "torch-npu": "2.9.0.post1"})
    for line in ("torch-npu>=2.9.0", "torch-npu==2.9.0.post1"):
        found = resolve(tmp_path, wanted, **{"vllm_ascend-0.18.0": [line]})
        assert isinstance(found, RowMisfit) and "torch-npu 2.9.0.post1" in found.detail


def test_a_torch_family_member_without_a_version_is_the_one_built_for_the_rows_torch(tmp_path: Path) -> None:
    found = resolve(tmp_path, row("0.18.0", **{"torch": "2.6.0", "torch-npu": "2.9.0"}))
    assert isinstance(found, Resolution)
    assert {w.name: (w.version, w.bound) for w in found.wheels}["torchvision"] == ("0.21.0", True)
    assert any("the row names no torchvision; 0.21.0 is taken" in w for w in found.warnings)


def test_a_member_on_an_index_out_of_reach_is_open_and_never_taken_from_elsewhere(tmp_path: Path) -> None:
    found = resolve(tmp_path, row("0.18.0", **{"torch": "2.6.0", "torch-npu": "2.9.0"}), X64_34)
    assert isinstance(found, Resolution)
    assert {"torch", "torchvision"} <= {u.name for u in found.unresolved}
    assert "torchvision" not in {w.name for w in found.wheels}


def test_a_dead_index_is_remembered_for_a_short_while_and_by_address(tmp_path: Path) -> None:
    def memory(now: float, address: str = "https://a.example") -> DeadIndexes:
        return DeadIndexes(tmp_path, lambda _: address, 60, lambda: now)

    error = IndexUnavailableError("index.unreachable", "dead", hint="mend it")
    memory(0).put("vendor", error)
    kept = memory(59).get("vendor")
    assert kept is not None and kept.to_dict() == error.to_dict()
    assert memory(60).get("vendor") is None and memory(1).get("other") is None
    assert memory(1, "https://b.example").get("vendor") is None
    for path in tmp_path.iterdir():
        path.write_text("{")
    assert memory(1).get("vendor") is None


def test_one_missing_page_offline_does_not_condemn_the_index(tmp_path: Path) -> None:
    class Offline(FakeClient):
        def page(self, index_name: str, project: str) -> None:
            raise IndexUnavailableError("index.offline-missing", "not in the cache")

    memory = DeadIndexes(tmp_path, lambda _: None)
    pages = Pages(Offline({}), memory)
    with pytest.raises(IndexUnavailableError):
        pages.page("default", "torch")
    assert not pages.is_dead("default") and memory.get("default") is None
