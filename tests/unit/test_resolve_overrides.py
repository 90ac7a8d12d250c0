"""Predicted overrides and what is left out, from real metadata lines."""

from __future__ import annotations

from accel_install.facts.target import Target
from accel_install.recipe.models import Exclusion, ExclusiveFamily, ForeignPattern, PackageSpec, Recipe
from accel_install.resolve.left_out import exclusion_reasons, foreign_reason, list_left_out
from accel_install.resolve.models import LeftOut, PredictedOverride
from accel_install.resolve.overrides import predict_overrides
from accel_install.resolve.requirements import Dist, accepts, extras_asked

A64 = Target("aarch64", "3.11", "glibc", "2.34")
X64 = Target("x86_64", "3.11", "glibc", "2.34")
PINS = {"torch": "2.10.0", "torch-npu": "2.10.0.post4", "vllm": "0.23.0", "vllm-ascend": "0.23.0"}
VLLM = Dist(
    "vllm",
    "0.23.0",
    (
        "torch==2.11.0",
        "flashinfer-python==0.6.12",
        'torch==1.0; extra == "old"',
        "numba==0.65.0",
        "transformers!=5.0.*",
    ),
)
ASCEND = Dist("vllm-ascend", "0.23.0", ("torch==2.10.0", "torch-npu==2.10.0.post4", "arctic-inference==0.1.1"))
NPU_A64 = Dist("torch-npu", "2.10.0.post4", ("torch==2.10.0",))
NPU_X64 = Dist("torch-npu", "2.10.0.post4", ("torch==2.10.0+cpu",))
TRITON_X64 = 'triton; platform_system == "Linux" and platform_machine == "x86_64"'


def by_name(*dists: Dist) -> dict[str, Dist]:
    return {d.name: d for d in dists}


def test_vllm_loses_against_the_plugin_that_pins_exactly() -> None:
    found = predict_overrides(by_name(VLLM, ASCEND, NPU_A64), PINS, (), A64, trusted=["vllm-ascend", "torch-npu"], row_id="r")
    assert found == (PredictedOverride("torch", "2.10.0", "==2.11.0", "vllm 0.23.0", "vllm-ascend 0.23.0"),)


def test_the_row_pins_when_no_distribution_does() -> None:
    found = predict_overrides(by_name(VLLM), PINS, (), A64, row_id="r1")
    assert [(o.package, o.pinned_by) for o in found] == [("torch", "row r1")]


def test_what_is_left_out_is_named_with_who_wanted_it() -> None:
    found = predict_overrides(by_name(VLLM, ASCEND), PINS, ("flashinfer-python", "arctic-inference"), A64)
    left = [(o.package, o.wanted, o.by) for o in found if o.pinned is None]
    assert left == [
        ("arctic-inference", "==0.1.1", "vllm-ascend 0.23.0"),
        ("flashinfer-python", "==0.6.12", "vllm 0.23.0"),
    ]


def test_a_cpu_build_satisfies_a_plain_pin_but_not_the_reverse() -> None:
    cpu = {**PINS, "torch": "2.10.0+cpu"}
    assert predict_overrides(by_name(ASCEND, NPU_X64), cpu, (), X64) == ()
    wrong = predict_overrides(by_name(ASCEND, NPU_X64), PINS, (), X64, trusted=["vllm-ascend"])
    assert [(o.by, o.wanted) for o in wrong] == [("torch-npu 2.10.0.post4", "==2.10.0+cpu")]
    assert accepts("==2.10.0", "2.10.0+cpu") and not accepts("==2.10.0+cpu", "2.10.0")
    assert accepts(">=2.0", "2.10.0rc1") and not accepts("nonsense", "1")


def test_markers_are_those_of_the_target() -> None:
    grammar = Dist("xgrammar", "0.2.3", (TRITON_X64,))
    assert predict_overrides(by_name(grammar), {}, ("triton",), A64) == ()
    found = predict_overrides(by_name(grammar), {}, ("triton",), X64)
    assert found == (PredictedOverride("triton", None, "any version", "xgrammar 0.2.3", None),)


def test_extras_count_only_when_a_chosen_requirement_asks_for_them() -> None:
    app = Dist("app", "1", ('lib[fast]; platform_machine == "aarch64"',))
    lib = Dist(
        "lib",
        "2",
        (
            'torch<2; extra == "fast"',
            'torch<1; extra == "slow"',
            'lib[deep]; extra == "fast"',
            'torch<1.5; extra == "deep"',
        ),
    )
    asked = extras_asked(by_name(app, lib), [], {**A64.markers()})
    assert asked["lib"] == {"fast", "deep"}
    found = predict_overrides(by_name(app, lib), {"torch": "2.10.0"}, (), A64)
    assert [o.wanted for o in found] == ["<1.5", "<2"]
    assert predict_overrides(by_name(app, lib), {"torch": "2.10.0"}, (), X64) == ()
    slow = predict_overrides(by_name(lib), {"torch": "2.10.0"}, (), X64, roots=["lib[slow]"])
    assert [o.wanted for o in slow] == ["<1"]


def test_numpy_below_two_loses_against_an_override() -> None:
    opencv = Dist("opencv-python-headless", "4.13.0.92", ('numpy>=2; python_version >= "3.9"',))
    found = predict_overrides(by_name(opencv), {"numpy": "1.26.4"}, (), A64, row_id="r")
    assert [(o.package, o.pinned, o.wanted) for o in found] == [("numpy", "1.26.4", ">=2")]


def test_bad_lines_and_addresses_do_not_matter() -> None:
    odd = Dist(
        "odd",
        "1",
        ("torch (>=2", "torch @ https://idx.example/t.whl", ";;;", "torch; nonsense_marker == 'x'"),
    )
    assert predict_overrides(by_name(odd), {"torch": "2.10.0"}, (), A64) == ()


def recipe() -> Recipe:
    return Recipe(
        name="r",
        title="r",
        platform="ascend",
        requirements=["vllm"],
        packages={"vllm": PackageSpec(role="serving")},
        excluded=[
            Exclusion(name="Flashinfer_Python", reason="CUDA only"),
            Exclusion(name="triton", reason="the fork provides it"),
            Exclusion(name="never-wanted", reason="unused"),
        ],
        foreign=[ForeignPattern(pattern="nvidia-*", reason="payload for NVIDIA")],
        exclusive=[
            ExclusiveFamily(
                module="triton",
                provider="triton-ascend",
                members=["triton", "triton-ascend", "flagtree"],
                reason="one",
            )
        ],
        steps=[],
    )


def test_reasons_come_from_exclusions_families_and_patterns() -> None:
    reasons = exclusion_reasons(recipe())
    assert reasons == {
        "flashinfer-python": "CUDA only",
        "triton": "the fork provides it",
        "never-wanted": "unused",
        "flagtree": "one",
    }
    assert foreign_reason(recipe(), "nvidia-nccl-cu13") == "payload for NVIDIA"
    assert foreign_reason(recipe(), "numpy") is None


def test_left_out_names_each_once_with_size_and_wisher() -> None:
    wanted = [
        PredictedOverride("flashinfer-python", None, "==1", "vllm 0.23.0"),
        PredictedOverride("nvidia-x", None, "==1", "a 1"),
        PredictedOverride("nvidia-x", None, "==2", "b 1"),
        PredictedOverride("torch", "2.10.0", "==2.11.0", "vllm 0.23.0"),
    ]
    reasons = {**exclusion_reasons(recipe()), "nvidia-x": "payload for NVIDIA"}
    plain = {"nvidia-y": 5, "numpy": 7, "flashinfer-python": 9, "torch": 1, "helper": 2}
    found = list_left_out(recipe(), reasons, wanted, plain, frozenset({"numpy", "torch"}))
    assert found == (
        LeftOut("flashinfer-python", "CUDA only (wanted by vllm 0.23.0)", 9),
        LeftOut("helper", "only needed by what is left out or replaced", 2),
        LeftOut("nvidia-x", "payload for NVIDIA (wanted by a 1, b 1)", None),
        LeftOut("nvidia-y", "payload for NVIDIA", 5),
        LeftOut("triton", "the fork provides it", None),
    )
