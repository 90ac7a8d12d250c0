"""The choice of a file, and the reason of every file that was not chosen."""

from __future__ import annotations

import itertools

import pytest
from packaging.version import Version

from accel_install.facts.target import Target
from accel_install.recipe.builds import load_builds
from accel_install.resolve.build_tokens import abi_misfit, facts_of_torch
from accel_install.resolve.filename import installable_name, parse_wheel_name, project_version, sdist_version
from accel_install.resolve.models import IndexFile
from accel_install.resolve.select import select, versions_available
from accel_install.resolve.tags import target_tags
from accel_install.resolve.versions import label_fits


def files(*names: str, **extra: str | None) -> list[IndexFile]:
    return [IndexFile(n, f"https://idx.example/f/{n}", "ab" * 32, 1, **extra) for n in names]


def target(arch: str = "x86_64", python: str = "3.11", glibc: str = "2.34", **more) -> Target:
    return Target(arch=arch, python=python, libc="glibc", libc_version=glibc, **more)


def pick(names: list[IndexFile], spec: str, at: Target, name: str = "torch", **more):
    return select(names, name, spec, at, index="default", **more)


def reasons(selection) -> dict[str, str]:
    return {r.filename: r.reason for r in selection.rejected}


TORCH = files(
    "torch-2.10.0-3-cp311-cp311-manylinux_2_28_x86_64.whl",
    "torch-2.10.0-cp311-cp311-manylinux_2_28_x86_64.whl",
    "torch-2.10.0-cp311-cp311-manylinux_2_28_aarch64.whl",
    "torch-2.10.0-2-cp311-none-macosx_11_0_arm64.whl",
)


def test_the_highest_build_number_wins_and_every_other_file_has_a_reason() -> None:
    selection = pick(TORCH, "==2.10.0", target())
    assert selection.chosen is not None and selection.chosen.filename.startswith("torch-2.10.0-3-")
    assert sorted(reasons(selection).values()) == ["build-tag", "platform", "platform"]
    assert pick(TORCH, "==2.10.0", target("aarch64")).chosen.filename.endswith("aarch64.whl")


def test_build_numbers_are_numbers() -> None:
    names = files(*(f"torch-2.10.0-{n}-cp311-cp311-manylinux_2_28_x86_64.whl" for n in ("9", "10", "3")))
    assert pick(names, "==2.10.0", target()).chosen.filename.startswith("torch-2.10.0-10-")


ASCEND = files(
    "vllm_ascend-0.19.1rc1-cp311-cp311-manylinux_2_24_aarch64.whl",
    "vllm_ascend-0.19.1rc1-cp311-cp311-manylinux_2_24_x86_64.whl",
    "vllm_ascend-0.20.2rc1-cp311-cp311-manylinux_2_34_aarch64.whl",
    "vllm_ascend-0.20.2rc1-cp311-cp311-manylinux_2_24_x86_64.whl",
)


@pytest.mark.parametrize(
    ("arch", "glibc", "newest"),
    [("aarch64", "2.28", "0.19.1rc1"), ("x86_64", "2.28", "0.20.2rc1"), ("aarch64", "2.34", "0.20.2rc1")],
)
def test_the_newest_that_fits_the_glibc(arch: str, glibc: str, newest: str) -> None:
    assert versions_available(ASCEND, "vllm_ascend", target(arch, glibc=glibc))[0] == newest


def test_musl_takes_no_manylinux_wheel() -> None:
    musl = Target(arch="aarch64", python="3.11", libc="musl", libc_version="1.2")
    selection = pick(ASCEND, "==0.19.1rc1", musl, "vllm-ascend")
    assert selection.chosen is None
    assert "musl" in next(r.detail for r in selection.rejected if "aarch64" in r.filename)


def test_glibc_too_old_says_what_is_needed() -> None:
    names = files("vllm_ascend-0.23.0-cp311-cp311-manylinux_2_34_aarch64.whl", "vllm_ascend-0.23.0.tar.gz")
    selection = pick(names, "==0.23.0", target("aarch64", glibc="2.28"), "vllm-ascend")
    assert selection.chosen is None and set(reasons(selection).values()) == {"glibc", "sdist-only"}
    assert "needs glibc >= 2.34, the target has 2.28" in selection.nearest


TRITON = files(
    "triton_ascend-3.2.0-cp310-cp310-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl",
    "triton_ascend-3.2.0-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
    "triton_ascend-3.2.0rc3-cp311-cp311-manylinux_2_27_aarch64.manylinux_2_28_aarch64.whl",
    "triton_ascend-3.2.0rc4-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
)


@pytest.mark.parametrize(
    ("spec", "at", "text"),
    [
        ("==3.2.1", target(), "not published"),
        ("==3.2.0rc3", target(), "no wheel for x86_64 (aarch64 only)"),
        ("==3.2.0", target(python="3.12"), "no wheel for cp312 (cp311 exist"),
    ],
)
def test_the_nearest_miss_in_words(spec: str, at: Target, text: str) -> None:
    selection = pick(TRITON, spec, at, "triton-ascend")
    assert selection.chosen is None and text in selection.nearest


def test_a_wheel_is_never_passed_over_for_a_newer_sdist_or_prerelease() -> None:
    names = files("x-1.0-py3-none-any.whl", "x-1.0.tar.gz", "x-1.1.tar.gz", "x-2.0rc1-py3-none-any.whl")
    selection = pick(names, "", target(), "x")
    assert selection.chosen.version == "1.0"
    assert reasons(selection) == {"x-1.0.tar.gz": "not-a-wheel"}
    everything = reasons(pick(names, "", target(), "x", all_files=True))
    assert everything["x-2.0rc1-py3-none-any.whl"] == "prerelease" and everything["x-1.1.tar.gz"] == "version"
    assert pick(names, "==2.0rc1", target(), "x").chosen.version == "2.0rc1"


def test_yanked_files_are_taken_for_an_exact_pin_only_and_with_a_warning() -> None:
    names = [*files("x-2.0-py3-none-any.whl", yanked="broken"), *files("x-1.0-py3-none-any.whl")]
    assert pick(names, ">=1", target(), "x").chosen.version == "1.0"
    exact = pick(names, "==2.0", target(), "x")
    assert exact.chosen.version == "2.0" and "broken" in exact.warnings[0]
    assert pick(files("x-1.0-py3-none-any.whl", yanked=""), ">=1", target(), "x").chosen is None


def test_requires_python_is_judged_for_the_target() -> None:
    names = files("x-1.0-py3-none-any.whl", requires_python=">=3.12")
    assert reasons(pick(names, "==1.0", target(), "x")) == {"x-1.0-py3-none-any.whl": "requires-python"}
    assert pick(names, "==1.0", target(python="3.12"), "x").chosen is not None


LOCAL = files("torch-2.9.0-cp311-cp311-manylinux_2_28_x86_64.whl", "torch-2.9.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl")


def test_a_local_label_is_demanded_or_not() -> None:
    assert pick(LOCAL, "==2.9.0", target(), local="cpu").chosen.version == "2.9.0+cpu"
    assert pick(LOCAL, "==2.9.0", target()).chosen.version == "2.9.0"
    assert pick(LOCAL[:1], "==2.9.0", target(), local="cpu").chosen is None
    assert pick(LOCAL, "==2.9.0+cpu", target()).chosen.version == "2.9.0+cpu"


@pytest.mark.parametrize(
    ("local", "wanted", "fits"),
    [
        ("rocm7.1", "rocm", True),
        ("cpu", "cpu", True),
        ("cu128", "cpu", False),
        (None, "cpu", False),
        ("metax3.8.0.7", "metax3.8", True),
    ],
)
def test_families_of_local_labels(local: str | None, wanted: str, fits: bool) -> None:
    assert label_fits(local, wanted) is fits


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("x-1.0-cp310-cp310-manylinux_2_28_x86_64.whl", "python-tag"),
        ("x-1.0-cp311-cp311t-manylinux_2_28_x86_64.whl", "abi"),
        ("x-1.0-cp311-cp311-win_amd64.whl", "platform"),
        ("x-1.0-cp311-cp311-musllinux_1_2_x86_64.whl", "platform"),
        ("x-1.0-cp311-cp311-manylinux_2_39_x86_64.whl", "glibc"),
        ("x-1.0-py2-none-any.whl", "python-tag"),
        ("x-1.0-cp310-none-macosx_11_0_arm64.whl", "python-tag"),
        ("x-1.0-cp312-abi3-manylinux_2_28_x86_64.whl", "python-tag"),
        ("x-1.0-cp311-cp311-manylinux_2_28_x86_64-cu128.whl", "variant"),
        ("x-1.0.whl", "bad-filename"),
        ("x-1.0.win-amd64.exe", "not-a-wheel"),
        ("x-1.0.tar.gz", "sdist-only"),
    ],
)
def test_reasons_are_computed_from_the_file(name: str, reason: str) -> None:
    assert reasons(pick(files(name), "==1.0", target(), "x")) == {name: reason}


def test_abi3_linux_and_lower_tags() -> None:
    names = files("x-1.0-cp38-abi3-manylinux2014_x86_64.whl", "x-1.0-cp311-cp311-linux_x86_64.whl", "x-1.0-py3-none-any.whl")
    selection = pick(names, "==1.0", target(), "x")
    assert selection.chosen.filename == "x-1.0-cp311-cp311-linux_x86_64.whl"
    assert set(reasons(selection).values()) == {"lower-tag"}
    assert pick(names[:1], "==1.0", target(python="3.13", free_threaded=True), "x").chosen is None


def test_free_threaded_wheels() -> None:
    names = files("x-1.0-cp313-cp313-manylinux_2_28_x86_64.whl", "x-1.0-cp313-cp313t-manylinux_2_28_x86_64.whl")
    assert "cp313t" in pick(names, "==1.0", target(python="3.13", free_threaded=True), "x").chosen.filename
    assert "cp313t" not in pick(names, "==1.0", target(python="3.13"), "x").chosen.filename


def test_names_in_any_spelling_are_one_project() -> None:
    assert project_version("torch_npu-2.9.0-cp311-cp311-linux_x86_64.whl", "Torch.NPU") == "2.9.0"
    assert sdist_version("python-dateutil-2.7.2.tar.gz", "python-dateutil") == "2.7.2"
    assert sdist_version("python-dateutil-2.7.2.tar.gz", "python") is None
    assert project_version("S3000_S80_torch_musa-1.2.1-cp39-cp39-linux_x86_64.whl", "torch-musa") == "1.2.1"


def test_vendor_versions_outside_pep_440_are_kept_as_written() -> None:
    name = parse_wheel_name("torch-2.1.0+das1.0+git00661e0.abi0.dtk2404-cp310-cp310-manylinux_2_28_x86_64.whl")
    assert not name.pep440 and name.version == "2.1.0+das1.0+git00661e0.abi0.dtk2404"


@pytest.mark.parametrize(
    "bad", ["x.whl", "x-1.0.whl", "x-1.0-py3-none.whl", "x-1.0-beta-py3-none-any.whl", "-1.0-py3-none-any.whl"]
)
def test_bad_names_are_not_guessed(bad: str) -> None:
    with pytest.raises(ValueError, match=r"name|build"):
        parse_wheel_name(bad)


def test_the_order_of_versions_is_pep_440() -> None:
    chain = ["2.7.1.dev20250724", "2.7.1rc1", "2.7.1", "2.7.1.post1.dev20250619", "2.7.1.post1", "2.7.1.post2"]
    names = files(*(f"x-{v}-py3-none-any.whl" for v in reversed(chain)))
    assert versions_available(names, "x", target()) == list(reversed(chain))
    assert all(Version(a) < Version(b) for a, b in itertools.pairwise(chain))


@pytest.mark.parametrize("python", ["3.8", "3.10", "3.14"])
@pytest.mark.parametrize("arch", ["aarch64", "x86_64"])
def test_tags_are_the_targets_own(python: str, arch: str) -> None:
    tags = [str(t) for t in target_tags(target(arch, python, "2.28"))]
    digits = python.replace(".", "")
    assert tags[0] == f"cp{digits}-cp{digits}-manylinux_2_28_{arch}"
    assert not [t for t in tags if "2_29" in t] and tags[-1] == "py30-none-any"
    assert ("manylinux1" in " ".join(tags)) is (arch == "x86_64")


def test_the_choice_does_not_depend_on_the_order_of_the_page() -> None:
    names = [*TORCH, *LOCAL, *files("torch-2.10.0+cu128-cp311-cp311-manylinux_2_28_x86_64.whl")]
    picks = {pick(list(order), "", target()).chosen for order in itertools.islice(itertools.permutations(names), 0, 5040, 97)}
    assert len(picks) == 1 and next(iter(picks)).version == "2.10.0"


HALF = files(
    *(f"torch_npu-2.10.0.post4-{t}-{t}-manylinux_2_28_{a}.whl" for t in ("cp311", "cp312") for a in ("aarch64", "x86_64")),
    *(f"torch_npu-2.10.0.post6-{t}-{t}-manylinux_2_28_aarch64.whl" for t in ("cp311", "cp312")),
)


def test_a_half_published_release_is_told() -> None:
    selection = pick(HALF, "==2.10.0.post6", target(), "torch-npu")
    assert selection.chosen is None and "wheels for 2 of the 4 platforms that 2.10.0.post4 has" in selection.half_published
    ranged = pick(HALF, ">=2.10", target(), "torch-npu")
    assert ranged.chosen.version == "2.10.0.post4" and "2.10.0.post6 is passed over" in ranged.warnings[0]
    assert pick(HALF, "==2.10.0.post6", target("aarch64"), "torch-npu").half_published == ""


def test_a_range_takes_no_prerelease_and_names_the_one_that_fits() -> None:
    selection = pick(ASCEND, "", target("aarch64"), "vllm-ascend")
    assert selection.chosen is None and selection.alternatives[0] == "0.20.2rc1"
    assert set(reasons(selection).values()) == {"platform", "prerelease"}
    assert pick(ASCEND, ">=0.19.1rc1", target("aarch64"), "vllm-ascend").chosen.version == "0.20.2rc1"


CHIPS = files("S3000_S80_torch_musa-1.2.1-cp311-cp311-linux_x86_64.whl")


@pytest.mark.parametrize(("model", "taken"), [("MTT S80", True), ("S3000", True), ("MTT S4000", False), (None, False)])
def test_chips_before_the_name_are_compared_with_the_target(model: str | None, taken: bool) -> None:
    selection = pick(CHIPS, "==1.2.1", target(accelerator=model), "torch-musa")
    assert (selection.chosen is not None) is taken
    assert taken or selection.rejected[0].reason == "variant"
    assert not taken or "read leniently" in selection.warnings[0]


def test_a_hyphen_in_the_project_part_is_no_version() -> None:
    names = files("python-dateutil-2.7.2-py2.py3-none-any.whl")
    assert pick(names, "", target(), "python-dateutil").chosen.version == "2.7.2"
    assert pick(names, "", target(), "python").chosen is None


def test_installers_get_the_name_they_take() -> None:
    assert installable_name(CHIPS[0].filename, "torch-musa") == "torch_musa-1.2.1-cp311-cp311-linux_x86_64.whl"
    labelled = "torch-2.9.0-3-cp311-cp311-manylinux_2_28_x86_64-cu128.whl"
    assert installable_name(labelled, "torch") == "torch-2.9.0-3-cp311-cp311-manylinux_2_28_x86_64.whl"
    assert installable_name(TORCH[0].filename, "torch") == TORCH[0].filename


@pytest.mark.parametrize(
    ("name", "version", "torch", "misfit"),
    [
        ("flash-attn", "2.6.3+metax3.8.0.7torch2.10", "2.10.0+metax3.8.0.7", None),
        ("flash-attn", "2.6.3+metax3.7.0.7torch2.10", "2.10.0+metax3.8.0.7", "MACA 3.7"),
        ("triton", "3.3.0+das.opt1.dtk2604.torch290", "2.9.0+das.opt1.dtk2604", None),
        ("triton", "3.3.0+das.opt1.dtk2604.torch290", "2.10.0+das.opt1.dtk2604", "torch 290"),
        ("vllm", "0.28.1+dtk2604.torch2110.2609111625.ge8fe1b", "2.11.0+das.opt1.dtk2604.20260325.g6b060a", None),
        ("flash-attn", "2.7+cu12torch2.6cxx11abitrue", "2.6.0+cpu", "CUDA"),
        ("vllm", "0.21.0", "2.11.0+cu126", "CUDA 13"),
        ("vllm", "0.21.0", "2.10.0+cpu", None),
    ],
)
def test_labels_are_compared_with_torch(name: str, version: str, torch: str, misfit: str | None) -> None:
    said = abi_misfit(name, version, facts_of_torch(torch, "x86_64", load_builds()))
    assert said is None if misfit is None else misfit in (said or "")
