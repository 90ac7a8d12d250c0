"""Differences between locks, and whether a lock fits a machine."""

from __future__ import annotations

import pytest

from accel_install.facts.models import AcceleratorFacts, MachineFacts
from accel_install.facts.target import Target
from accel_install.lock.compare import diff_locks, glibc_needed, lock_fits
from accel_install.lock.model import LockFile, LockLayer, LockRecipe, LockStep, LockWheel

TARGET = Target(arch="aarch64", python="3.11", libc="glibc", libc_version="2.34", family="910b")


def _wheel(name: str = "torch", version: str = "2.10.0", tags: str = "cp311-cp311-manylinux_2_28_aarch64") -> LockWheel:
    filename = f"{name}-{version}-{tags}.whl"
    return LockWheel(name=name, version=version, filename=filename, index="default", sha256="a" * 64, step="s")


def _lock(*wheels: LockWheel, driver: str = "25.5.1") -> LockFile:
    return LockFile(
        recipe=LockRecipe(name="ascend-910b", stack="ascend-910b"),
        target={"arch": "aarch64", "python": "3.11", "glibc": "2.34", "family": "910b"},
        layers=[LockLayer(layer="driver", step="driver", version=driver, decision="do")],
        wheels=list(wheels),
        steps=[LockStep(id="s", kind="wheels", title="s", decision="do")],
    )


def test_equal_locks_do_not_differ_whatever_their_run_says() -> None:
    one, two = _lock(_wheel()), _lock(_wheel())
    two.run = {"host": "other"}
    assert diff_locks(one, two) == []


def test_differences_are_named_by_layer_wheel_and_field() -> None:
    before = _lock(_wheel(), _wheel("gone", "1.0"))
    after = _lock(_wheel(version="2.11.0"), _wheel("new", "3.0"), driver="25.6.0")
    found = [(d.area, d.name, d.field, d.before, d.after) for d in diff_locks(before, after)]
    assert ("layer", "driver", "version", "25.5.1", "25.6.0") in found
    assert ("wheel", "torch", "version", "2.10.0", "2.11.0") in found
    assert ("wheel", "gone", "", "1.0", None) in found
    assert ("wheel", "new", "", None, "3.0") in found
    assert len(found) == 5


@pytest.mark.parametrize(
    ("change", "slug"),
    [
        ({}, None),
        ({"arch": "x86_64"}, "lock.other-arch"),
        ({"python": "3.12"}, "lock.other-python"),
        ({"free_threaded": True}, "lock.other-python"),
        ({"libc_version": "2.17"}, "lock.glibc-too-old"),
        ({"libc": "musl", "libc_version": "1.2"}, "lock.other-libc"),
        ({"family": "310p"}, "lock.other-accelerator"),
        ({"family": None}, None),
    ],
)
def test_whether_a_lock_fits(change: dict[str, str], slug: str | None) -> None:
    target = Target(**{**vars(TARGET), **change})  # type: ignore[arg-type]
    assert [p.slug for p in lock_fits(_lock(_wheel()), MachineFacts(), target)] == ([slug] if slug else [])


def test_what_the_machine_holds_counts_more_than_what_was_said() -> None:
    facts = MachineFacts(accelerators=[AcceleratorFacts(family="310p")])
    (problem,) = lock_fits(_lock(_wheel()), facts, TARGET)
    assert (problem.expected, problem.actual) == ("910b", "310p")


@pytest.mark.parametrize(
    ("tags", "needed"),
    [
        ("py3-none-any", None),
        ("cp311-cp311-linux_aarch64", None),
        ("cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64", (2, 27)),
        ("cp311-cp311-manylinux2014_x86_64", (2, 17)),
        ("cp311-cp311-manylinux_2_5_x86_64.manylinux1_x86_64", (2, 5)),
    ],
)
def test_glibc_of_a_wheel(tags: str, needed: tuple[int, int] | None) -> None:
    assert glibc_needed(_wheel(tags=tags)) == needed
