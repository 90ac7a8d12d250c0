"""Rows: their order, their fit, what must be said about them; drivers and SDKs that accept each other."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from accel_install.errors import RecipeError
from accel_install.facts.models import LayerFacts, LayersFacts
from accel_install.facts.target import Target
from accel_install.recipe.hdk import accepted_hdk, in_ranges, layer_problems
from accel_install.recipe.load import load_recipe
from accel_install.recipe.rows import complete_row, load_rows, published_partner, rows_for, static_misfit, warnings_for
from accel_install.recipe.vendor_versions import VendorVersion, matches_line, same_version

RECIPE = load_recipe("ascend-910b").recipe
ROWS = rows_for(RECIPE)
ALL = load_rows("ascend")


def target(**changes: str) -> Target:
    given = {"arch": "aarch64", "python": "3.11", "libc_version": "2.34", **changes}
    return Target(libc="glibc", accelerator="910B2", family="910b", **given)


def row(row_id: str):
    return next(r for r in ROWS if r.id == row_id)


def test_finals_come_before_prereleases_newest_first_then_by_date() -> None:
    ids = [r.id for r in ROWS]
    assert ids[:3] == ["ascend-vllm-0.23.0.post1", "ascend-vllm-0.23.0", "ascend-910b2-measured-0.23"]
    assert ids.index("ascend-vllm-0.7.3") < ids.index("ascend-vllm-0.30.0rc2") < ids.index("ascend-vllm-0.23.0rc1")


def test_the_first_row_that_fits_is_the_published_one() -> None:
    fitting = [r.id for r in ROWS if static_misfit(r, RECIPE, target()) is None]
    assert fitting[:2] == ["ascend-vllm-0.23.0", "ascend-910b2-measured-0.23"]


@pytest.mark.parametrize(
    ("row_id", "changes", "word"),
    [
        ("ascend-vllm-0.23.0", {"python": "3.13"}, "3.13"),
        ("ascend-vllm-0.23.0", {"libc_version": "2.28"}, "2.28"),
        ("ascend-910b2-measured-0.23", {"arch": "x86_64"}, "x86_64"),
        ("ascend-vllm-0.30.0rc2", {}, "unverified"),
    ],
)
def test_why_a_row_does_not_fit(row_id: str, changes: dict[str, str], word: str) -> None:
    assert word in (static_misfit(row(row_id), RECIPE, target(**changes)) or "")


def test_an_unverified_row_is_taken_by_id_with_a_warning() -> None:
    assert static_misfit(row("ascend-vllm-0.26.0rc1"), RECIPE, target(), by_id=True) is None
    assert any("unverified" in w for w in warnings_for(row("ascend-vllm-0.26.0rc1"), target()))


def test_the_measured_row_is_not_the_published_pair() -> None:
    measured = row("ascend-910b2-measured-0.23")
    assert published_partner(measured, ALL) == "9.1.0"
    assert published_partner(row("ascend-vllm-0.23.0"), ALL) is None
    notes = warnings_for(measured, target())
    assert any("not the published pair" in n for n in notes) and any("only resolved" in n for n in notes)
    assert not any("only resolved" in n for n in warnings_for(measured, target(python="3.10")))


def test_a_row_is_completed_by_its_torch_family() -> None:
    assert complete_row(row("ascend-vllm-0.18.0"), ALL).components["torchvision"] == "0.24.0"


def test_vendor_versions_are_ordered() -> None:
    ascending = [
        "7.5.0.1.129",
        "8.0.RC1",
        "8.0.RC3",
        "8.0.0",
        "8.5.0.alpha001",
        "8.5.0",
        "9.0.0-beta.2",
        "9.0.0",
        "24.1.rc3",
        "25.0.rc1",
        "25.0.rc1.1",
        "25.2.1",
        "26.0.RC1",
        "26.0.RC3",
        "26.1.0",
    ]
    for low, high in itertools.pairwise(ascending):
        assert VendorVersion(low) < VendorVersion(high), (low, high)
    assert same_version("26.0.rc1", "26.0.RC1") and same_version("3.3.5-server", "3.3.5")
    assert VendorVersion("8.3.RC2").is_prerelease and not VendorVersion("25.2.1").is_prerelease


@pytest.mark.parametrize(
    ("version", "line", "fits"),
    [
        ("25.2.1", "25.2", True),
        ("25.2.rc1", "25.2", True),
        ("25.20.1", "25.2", False),
        ("26.0.rc1", "26.0.RC1", True),
        ("26.0.rc1.b020", "26.0.RC1", True),
        ("26.0.rc3", "26.0.RC1", False),
        ("25.0.rc1.2", "25.0.RC1", True),
        ("26.0.rc10", "26.0.RC1", False),
        ("26.1.1", "26.1.0", False),
    ],
)
def test_lines(version: str, line: str, fits: bool) -> None:
    assert matches_line(version, line) is fits


def test_accepted_drivers_of_a_cann() -> None:
    answer = accepted_hdk("9.1.0", ALL)
    assert "25.2" in answer.accepts and "25.0" not in answer.accepts and answer.matched == ("26.0.RC1",)
    assert accepted_hdk("9.0.1", ALL).accepts == accepted_hdk("9.0.0", ALL).accepts != ()
    assert "26.0.RC3" in accepted_hdk("9.0.1", ALL).matched


@pytest.mark.parametrize("cann", ["7.0.0", "8.5.1", "8.5.3", "8.2.RC2", "9.2.1"])
def test_the_neighbour_of_a_documented_cann_is_not_documented(cann: str) -> None:
    answer = accepted_hdk(cann, ALL)
    assert (answer.accepts, answer.matched, answer.status) == ((), (), "unverified") and "nobody" in answer.source


@pytest.mark.parametrize(
    ("driver", "cann", "severities"),
    [
        ("25.2.1", "9.1.0", []),
        ("25.0.rc1.1", "9.1.0", ["fault"]),  # the published table says no
        ("26.0.RC1", "8.5.0", ["warning"]),  # only the bundles it was shipped with are known
        ("25.2.1", "8.5.1", ["warning"]),
    ],
)
def test_a_driver_is_a_fault_only_where_a_table_excludes_it(driver: str, cann: str, severities: list[str]) -> None:
    found = layer_problems(LayersFacts(driver=LayerFacts(version=driver)), cann, ALL)
    assert [severity for severity, _ in found] == severities


@pytest.mark.parametrize(
    ("version", "ranges", "inside"),
    [
        ("7.7.0.1.231", "[7.0.0,8.9.9]", True),
        ("9.0.0.1", "[7.0.0,8.9.9]", False),
        ("25.0.rc1.1", "[23.0.0,23.0.0.],[25.0,25.0.]", True),
        ("25.2.1", "[23.0.0,23.0.0.],[25.0,25.0.]", False),
        ("25.0.1", "[25.0.2,25.0.]", False),
        ("25.0.3", "[25.0.2,25.0.]", True),
        ("24.1.rc3", "[24.1,25.0.]", True),
        ("25.2.1", "nonsense", None),
    ],
)
def test_vendor_ranges(version: str, ranges: str, inside: bool | None) -> None:
    assert in_ranges(version, ranges) is inside


def layers(driver_inner: str, driver_list: str, driver_version: str, sdk_inner: str, sdk_list: str, cann: str) -> LayersFacts:
    return LayersFacts(
        driver=LayerFacts(version=driver_version, details={"Innerversion": driver_inner, "compatible_version": driver_list}),
        sdk=LayerFacts(version=cann, details={"innerversion": sdk_inner, "compatible_version": sdk_list}),
    )


DRIVER_25 = (
    "V100R001C21SPC002B220",
    "[V100R001C17],[V100R001C18],[V100R001C19],[V100R001C20],[V100R001C21]",
    "25.0.rc1.1",
)
SDK_9 = ("V100R001C10SPC001B250", "[V100R001C21],[V100R001C22],[V100R001C23],[V100R001C25],[V100R001C10]", "9.0.0")
SDK_83 = (
    "V100R001C23SPC002B210",
    "[V100R001C15],[V100R001C18],[V100R001C19],[V100R001C20],[V100R001C21],[V100R001C23]",
    "8.3.RC2",
)


@pytest.mark.parametrize(
    ("driver", "sdk", "faulty"),
    [
        (DRIVER_25, SDK_83, False),
        (("V100R001C13SPC008B100", "[V100R001C30],[V100R001C13]", "23.0.0"), SDK_9, True),
        (("V100R001C10SPC001B257", "[V100R001C21]", "26.0.rc1"), SDK_9, False),
    ],
)
def test_driver_and_sdk_are_judged_by_their_own_lists(driver, sdk, faulty: bool) -> None:
    found = layer_problems(layers(*driver, *sdk), None, ALL)
    assert any(severity == "fault" for severity, _ in found) is faulty


def test_firmware_outside_the_drivers_range_is_a_fault_and_silence_a_warning() -> None:
    driver = LayerFacts(version="25.2.1", details={"compatible_version_fw": "[7.0.0,8.9.9]"})
    bad = LayersFacts(driver=driver, firmware=LayerFacts(version="9.9.9.9.9"))
    assert [s for s, _ in layer_problems(bad, None, ALL)] == ["fault"]
    silent = LayersFacts(driver=LayerFacts(version="25.2.1"), firmware=LayerFacts(version="7.7.0.9.220"))
    assert [s for s, _ in layer_problems(silent, None, ALL)] == ["warning"]


def test_a_damaged_file_of_rows_is_no_empty_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "compatibility").mkdir()
    (tmp_path / "compatibility/ascend.yaml").write_text("rows:\n- {platform: ascend\n")
    monkeypatch.setenv("ACCEL_INSTALL_RECIPES", str(tmp_path))
    with pytest.raises(RecipeError) as caught:
        load_rows("ascend")
    assert caught.value.slug == "recipe.malformed" and "ascend.yaml:3:1" in (caught.value.value or "")


def test_rows_for_musl_say_which_glibc_they_need() -> None:
    musl = Target(arch="aarch64", python="3.11", libc="musl", libc_version="1.2")
    assert "glibc >= 2.34" in (static_misfit(row("ascend-vllm-0.23.0"), RECIPE, musl) or "")
