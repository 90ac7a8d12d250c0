"""Tables: chips, C libraries of systems; and facts as rows for people."""

from __future__ import annotations

import pytest

from accel_install.facts.chips import FAMILIES, canonical_model, family_of, known_models, vendor_of
from accel_install.facts.models import AcceleratorFacts, FilesystemFacts, LayerFacts, LayersFacts, MachineFacts
from accel_install.facts.os_libc import known_systems, libc_of, split_os
from accel_install.facts.render import facts_rows


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("910B2", "910b"),
        ("Ascend910B2", "910b"),
        ("ascend910b1", "910b"),
        ("910B2C", "910b"),
        ("910B4-1", "910b"),
        ("ascend910_9391", "910-93"),
        ("A3", "910-93"),
        ("910_93", "910-93"),
        ("310P3", "310p"),
        ("ascend310p7", "310p"),
        ("310B4", "310b"),
        ("910ProB", "910"),
        ("910A", "910"),
        ("Ascend950PR", "950"),
        ("ascend950dt_9582", "950"),
        ("A5", "950"),
        ("Ascend910", None),
        ("910B9", None),
        ("910_9400", None),
        ("310P2", None),
        ("910B2-1", None),
        ("H100", None),
        ("", None),
    ],
)
def test_families(model: str, family: str | None) -> None:
    assert family_of(model) == family


def test_every_known_model_has_its_own_family_and_spelling() -> None:
    for family, models in FAMILIES.items():
        assert vendor_of(family) == "huawei" and known_models(family) == list(models)
        for model in models:
            assert family_of(model) == family_of(f"ascend{model.lower()}") == family
            assert canonical_model(f" ascend{model.lower()} ") == model
    assert known_models("none") == [] and len(set(known_models())) == len(known_models())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("openeuler-22.03", ("glibc", "2.34")),
        ("openEuler-22.03-LTS-SP3", ("glibc", "2.34")),
        ("openeuler-20.03", ("glibc", "2.28")),
        ("openeuler-24.03", ("glibc", "2.38")),
        ("kylin-V10", ("glibc", "2.28")),
        ("ubuntu-22.04", ("glibc", "2.35")),
        ("debian-13", ("glibc", "2.41")),
        ("centos-7", ("glibc", "2.17")),
        ("rocky-9.4", ("glibc", "2.34")),
        ("alpine-3.20.3", ("musl", "1.2")),
        ("ubuntu-22.10", None),
        ("ubuntu-22", None),
        ("euleros-2.0", None),
        ("opensuse-leap-15.5", None),
    ],
)
def test_libc_of_systems(text: str, expected: tuple[str, str] | None) -> None:
    parts = split_os(text)
    assert parts is not None
    assert libc_of(*parts) == expected


def test_os_spellings() -> None:
    assert split_os("opensuse-leap-15.5") == ("opensuse-leap", "15.5")
    assert [split_os(text) for text in ("openeuler", "", "-1", "22.03", "a-b")] == [None] * 5
    assert all(split_os(name) and libc_of(*split_os(name)) for name in known_systems())  # type: ignore[misc]


def test_rows_show_values_and_reasons() -> None:
    chip = AcceleratorFacts(vendor="huawei", family="910b", model="910B2", health="OK", memory_bytes=65536 << 20)
    facts = MachineFacts(
        arch="aarch64",
        glibc="2.34",
        container=False,
        accelerators=[chip, chip, chip.model_copy(update={"model": None, "health": None})],
        filesystems=[FilesystemFacts(mount="/tmp", free_bytes=1_500_000_000)],
        layers=LayersFacts(
            driver=LayerFacts(version="25.2.1", source="/d/version.info"),
            sdk=LayerFacts(version="9.2.0", source="/c/info", details={"disagreement": "components say 9.1.0"}),
        ),
        environment={"ASCEND_HOME_PATH": "/c"},
        unknown={
            "kernel": "no file",
            "layers.firmware": "no version.info",
            "accelerators.2.model": "not listed",
            "accelerators.2.health": "not listed",
        },
    )
    rows = facts_rows(facts)
    assert ("accelerators", "2 x huawei, 910B2, 68.7 GB, OK") in rows
    assert ("accelerators", "1 x huawei, family 910b, 68.7 GB, health unknown") in rows
    assert ("kernel", "unknown: no file") in rows
    assert ("driver", "25.2.1  (/d/version.info)") in rows
    assert ("firmware", "unknown: no version.info") in rows
    assert ("nnal", "not installed") in rows
    assert ("", "note: components say 9.1.0") in rows
    assert ("free /tmp", "1.5 GB") in rows
    assert ("unknown", "accelerators.2.model, accelerators.2.health: not listed") in rows
    assert ("$ASCEND_HOME_PATH", "/c") in rows


def test_rows_of_nothing_are_all_unknown() -> None:
    assert ("accelerators", "none") in facts_rows(MachineFacts())
    hidden = MachineFacts(unknown={"accelerators": "no /sys", "layers": "not given"})
    assert ("accelerators", "unknown: no /sys") in facts_rows(hidden)
    assert ("driver", "unknown: not given") in facts_rows(hidden)
