"""Which machine a plan is for: this one, this one with one fact changed, or a described one."""

from __future__ import annotations

import pytest

from accel_install.errors import AccelError, MachineError, UsageError
from accel_install.facts.describe import TargetOptions, describe_target
from accel_install.facts.models import (
    AcceleratorFacts,
    LayerFacts,
    LayersFacts,
    MachineFacts,
    OsFacts,
    PythonFacts,
)

CARD = AcceleratorFacts(vendor="huawei", family="910b", model="910B2", bus_id="0000:c1:00.0", memory_bytes=65536 << 20)
LOCAL = MachineFacts(
    os=OsFacts(id="debian", version_id="12", name="Debian 12"),
    arch="x86_64",
    glibc="2.36",
    kernel="6.1.0",
    memory_bytes=1 << 35,
    container=False,
    python=PythonFacts(executable="/usr/bin/python3", version="3.11.7", abi="cp311", free_threaded=False),
    accelerators=[CARD],
    layers=LayersFacts(driver=LayerFacts(version="25.2.1")),
    environment={"LD_LIBRARY_PATH": "/x"},
)
LAPTOP = LOCAL.model_copy(update={"accelerators": [], "layers": LayersFacts()})
FOREIGN = TargetOptions(arch="aarch64", python="3.11", glibc="2.34", accelerator="910B2")


def test_without_options_it_is_this_machine() -> None:
    facts, target, described, notes = describe_target(LOCAL, TargetOptions())
    assert facts == LOCAL and not described and notes == []
    assert (target.arch, target.python, target.libc, target.libc_version) == ("x86_64", "3.11", "glibc", "2.36")
    assert (target.accelerator, target.family, target.kernel, target.scope) == ("910B2", "910b", "6.1.0", "host")


def test_a_foreign_machine_holds_nothing_of_this_one() -> None:
    facts, target, described, _ = describe_target(LOCAL, FOREIGN)
    assert described and target.kernel is None
    assert facts.accelerators == [AcceleratorFacts(vendor="huawei", family="910b", model="910B2")]
    assert (facts.arch, facts.glibc, facts.python) == (
        "aarch64",
        "2.34",
        PythonFacts(version="3.11", abi="cp311", free_threaded=False),
    )
    assert (facts.kernel, facts.memory_bytes, facts.environment, facts.layers) == (None, None, {}, LayersFacts())
    left = ("os", "kernel", "memory_bytes", "filesystems", "container", "environment")
    layers = [f"layers.{name}" for name in LayersFacts.model_fields]
    assert facts.unknown == dict.fromkeys([*left, *layers], "not given for the described machine")


def test_the_same_words_mean_the_same_machine_wherever_they_are_said() -> None:
    here, there = describe_target(LOCAL, FOREIGN), describe_target(None, FOREIGN)
    assert here[:3] == there[:3]


@pytest.mark.parametrize(
    ("options", "changed"),
    [
        (TargetOptions(python="3.12"), {"python": PythonFacts(version="3.12", abi="cp312", free_threaded=False)}),
        (TargetOptions(glibc="2.28"), {"glibc": "2.28"}),
        (TargetOptions(os="openEuler-22.03"), {"glibc": "2.34", "os": OsFacts(id="openeuler", version_id="22.03")}),
        (TargetOptions(musl="1.2"), {"glibc": None, "musl": "1.2"}),
        (TargetOptions(python="3.11"), {}),
        (TargetOptions(arch="amd64"), {}),
        (TargetOptions(accelerator="ascend910b2"), {}),
        (TargetOptions(os="debian-12"), {}),
    ],
)
def test_one_option_overrides_one_fact(options: TargetOptions, changed: dict[str, object]) -> None:
    facts, _, described, _ = describe_target(LOCAL, options)
    assert not described
    assert facts == LOCAL.model_copy(update=changed)


def test_a_python_that_is_not_here_is_said() -> None:
    local = LOCAL.model_copy(update={"python": PythonFacts(), "unknown": {"python": "no interpreter for Python 3.12"}})
    facts, target, _, notes = describe_target(local, TargetOptions(python="3.12"))
    assert target.python == "3.12" and "python" not in facts.unknown
    assert notes == ["Python 3.12 is planned for, but no such interpreter was found here: no interpreter for Python 3.12"]


@pytest.mark.parametrize("options", [TargetOptions(accelerator="910B2", python="3.11", glibc="2.34")])
def test_an_accelerator_that_is_not_here_describes_another_machine(options: TargetOptions) -> None:
    with pytest.raises(MachineError) as caught:
        describe_target(LAPTOP, options)
    assert caught.value.slug == "machine.arch-unknown"


def test_another_model_is_another_machine_too() -> None:
    _, _, described, _ = describe_target(LOCAL, TargetOptions(arch="x86_64", accelerator="910B3", python="3.11", glibc="2.34"))
    assert described


@pytest.mark.parametrize("model", [None, "Ascend910"])
def test_a_model_may_name_what_the_bus_only_knows_by_family(model: str | None) -> None:
    bare = CARD.model_copy(update={"model": model, "family": "910-93"})
    unknown = {"accelerators.0.model": "npu-smi was not found", "accelerators.0.health": "npu-smi was not found"}
    local = LOCAL.model_copy(update={"accelerators": [bare], "unknown": unknown})
    facts, target, described, _ = describe_target(local, TargetOptions(accelerator="ascend910_9391"))
    assert not described and facts.layers == LOCAL.layers
    assert (target.accelerator, target.family) == ("910_9391", "910-93")
    assert facts.unknown == {"accelerators.0.health": "npu-smi was not found"}


def test_where_the_bus_cannot_be_seen_a_model_fills_it_in() -> None:
    local = LAPTOP.model_copy(update={"unknown": {"accelerators": "no /sys/bus/pci/devices"}})
    facts, target, described, _ = describe_target(local, TargetOptions(accelerator="910B2"))
    assert not described and target.family == "910b" and facts.unknown == {}


def test_a_machine_file_is_described_and_never_mixed_with_this_machine() -> None:
    machine = MachineFacts(os=OsFacts(id="openeuler", version_id="22.03"), arch="aarch64", python=PythonFacts(version="3.10.9"))
    facts, target, described, _ = describe_target(LOCAL, TargetOptions(machine=machine))
    assert described and facts.accelerators == [] and facts.glibc == "2.34"
    assert (target.arch, target.python, target.libc_version) == ("aarch64", "3.10", "2.34")


def test_an_unknown_release_does_not_keep_this_machines_libc() -> None:
    with pytest.raises(MachineError) as caught:
        describe_target(LOCAL, TargetOptions(os="euleros-2.0"))
    assert (caught.value.slug, caught.value.value) == ("machine.libc-unknown", "--os euleros-2.0")


@pytest.mark.parametrize(
    ("options", "slug", "hint"),
    [
        (TargetOptions(arch="aarch64", python="3.11"), "machine.libc-unknown", "--glibc 2.34"),
        (TargetOptions(arch="aarch64", glibc="2.34"), "machine.python-unknown", "--python 3.11"),
        (TargetOptions(accelerator="910B9"), "machine.unknown-accelerator", "--accelerator 910B"),
        (TargetOptions(accelerator="H100"), "machine.unknown-accelerator", "accel-install recipes"),
    ],
)
def test_what_a_plan_needs_and_does_not_have(options: TargetOptions, slug: str, hint: str) -> None:
    with pytest.raises(MachineError) as caught:
        describe_target(LOCAL, options)
    assert caught.value.slug == slug and caught.value.exit_code == 11
    assert caught.value.hint is not None and caught.value.hint.startswith(hint)


def test_an_unknown_accelerator_lists_the_known_ones() -> None:
    with pytest.raises(MachineError) as caught:
        describe_target(LOCAL, TargetOptions(accelerator="910X"))
    assert "910B4-1" in (caught.value.expected or "") and "310P3" in (caught.value.expected or "")


@pytest.mark.parametrize(
    "options",
    [
        TargetOptions(python="3.7"),
        TargetOptions(python="3.16"),
        TargetOptions(python="3.12t"),
        TargetOptions(python="three"),
        TargetOptions(python="3.11.7"),
        TargetOptions(python="2.7"),
        TargetOptions(glibc="2"),
        TargetOptions(glibc="2.34.1"),
        TargetOptions(musl="new"),
        TargetOptions(glibc="2.34", musl="1.2"),
        TargetOptions(os="openeuler"),
        TargetOptions(scope="all"),
        TargetOptions(arch="aarch64", python="/usr/bin/python3", glibc="2.34"),
    ],
)
def test_malformed_options_are_usage(options: TargetOptions) -> None:
    with pytest.raises(UsageError) as caught:
        describe_target(LOCAL, options)
    assert caught.value.exit_code == 2 and caught.value.expected


def test_free_threaded_builds_and_scopes() -> None:
    options = TargetOptions(arch="aarch64", python="3.13t", musl="1.2", scope="container")
    facts, target, _, _ = describe_target(None, options)
    assert (target.python, target.free_threaded, target.libc, target.libc_version) == ("3.13", True, "musl", "1.2")
    assert target.scope == "container" and facts.python.abi == "cp313t"


def test_the_target_is_made_of_a_chip_with_a_known_family() -> None:
    npu = AcceleratorFacts(pci_id="8086:7d1d", bus_id="0000:00:0b.0")
    _, target, _, _ = describe_target(LOCAL.model_copy(update={"accelerators": [npu, CARD]}), TargetOptions())
    assert target.family == "910b"


def test_nothing_but_expected_errors() -> None:
    for text in ("", "-", "/", "3.", "a-1", "\0", "910"):
        for field in ("arch", "python", "glibc", "musl", "os", "accelerator", "scope"):
            try:
                describe_target(LOCAL, TargetOptions(**{field: text}))
            except AccelError as error:
                assert error.render()
