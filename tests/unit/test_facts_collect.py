"""Facts of whole machines: bare metal, driver only, full stack old and new, containers, broken ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from fact_machines import captured, card, plant, probe_answer, real_python, tool

from accel_install.facts import collect as collect_module
from accel_install.facts.collect import collect
from accel_install.facts.models import MachineFacts
from accel_install.host.local import LocalHost

ASCEND = "/usr/local/Ascend"
CONTAINER = {"/.dockerenv": ""}
SMI = "/usr/local/bin/npu-smi"


def _with_smi(root: Path, case: str, **how: object) -> None:
    tool(root, SMI, stdout=captured("npu-smi", case), **how)  # type: ignore[arg-type]


def test_bare_metal_knows_its_chips_from_the_bus_alone(tmp_path: Path) -> None:
    bridge = card("0000:00:01.0", "d802", kind="060400")
    facts = collect(plant(tmp_path, card("0000:c2:00.0", subsystem="3004") | card("0000:C1:00.0") | bridge))
    assert [(a.vendor, a.family, a.pci_id, a.bus_id, a.product) for a in facts.accelerators] == [
        ("huawei", "910b", "19e5:d802", "0000:c1:00.0", None),
        ("huawei", "910b", "19e5:d802", "0000:c2:00.0", "Atlas 800I A2"),
    ]
    for field in ("model", "index", "memory_bytes", "health"):
        assert facts.unknown[f"accelerators.1.{field}"] == "npu-smi was not found"
    assert facts.layers.driver is None and not facts.is_unknown("layers.driver")
    assert facts.layers.firmware is None and not facts.is_unknown("layers.firmware")


@pytest.mark.parametrize(
    ("device", "family"),
    [("d100", "310"), ("d105", "310b"), ("d500", "310p"), ("d801", "910"), ("d803", "910-93"), ("d806", "950")],
)
def test_each_pci_id_has_its_family(tmp_path: Path, device: str, family: str) -> None:
    assert collect(plant(tmp_path, card("0000:01:00.0", device))).accelerators[0].family == family


def test_a_chip_no_table_knows_is_listed_with_the_reason(tmp_path: Path) -> None:
    host = plant(tmp_path, card("0000:01:00.0", "d8ff") | card("0000:02:00.0", "7d1d", vendor="8086"))
    facts = collect(host)
    assert [(a.vendor, a.family) for a in facts.accelerators] == [("huawei", None), (None, None)]
    assert "19e5:d8ff" in facts.unknown["accelerators.0.family"]
    assert "8086" in facts.unknown["accelerators.1.vendor"]
    assert "no tool of vendor 8086:7d1d" in facts.unknown["accelerators.1.model"]


def test_bus_and_tool_are_joined_by_bus_id(tmp_path: Path) -> None:
    _with_smi(tmp_path, "a2-910b4-1")
    facts = collect(plant(tmp_path, card("0000:c1:00.0") | card("0000:c2:00.0") | card("0000:c3:00.0")))
    first, _, third = facts.accelerators
    assert (first.model, first.index, first.health, first.memory_bytes) == ("910B4-1", 0, "OK", 65536 << 20)
    assert third.model is None
    assert facts.unknown["accelerators.2.model"] == "npu-smi does not list this bus id"
    assert not any(key.startswith("accelerators.0") for key in facts.unknown)


def test_in_a_container_the_tool_says_which_cards_are_ours(tmp_path: Path) -> None:
    _with_smi(tmp_path, "a2-sparse-unordered-busy")
    cards = {k: v for n in ("02", "42", "82") for k, v in card(f"0000:{n}:00.0").items()}
    facts = collect(plant(tmp_path, cards | CONTAINER))
    assert [(a.bus_id, a.index, a.pci_id) for a in facts.accelerators] == [
        ("0000:02:00.0", 2, "19e5:d802"),
        ("0000:42:00.0", 5, "19e5:d802"),
    ]
    assert facts.unknown["accelerators.0.memory_bytes"] == "npu-smi prints no memory_bytes for this chip"


def test_without_sysfs_the_tool_stands_alone(tmp_path: Path) -> None:
    _with_smi(tmp_path, "a3-two-chips-no-title")
    facts = collect(plant(tmp_path, CONTAINER))
    assert [(a.family, a.model, a.index, a.pci_id) for a in facts.accelerators] == [
        ("910-93", "Ascend910", 0, None),
        ("910-93", "Ascend910", 1, None),
    ]
    assert "accelerators.0.pci_id" in facts.unknown


def test_two_chips_on_one_card_are_two_accelerators(tmp_path: Path) -> None:
    _with_smi(tmp_path, "310p-duo-one-bus-id")
    facts = collect(plant(tmp_path, card("0000:01:00.0", "d500", subsystem="0110")))
    assert [(a.index, a.pci_id, a.product) for a in facts.accelerators] == [
        (0, "19e5:d500", "Atlas 300I Duo"),
        (1, "19e5:d500", "Atlas 300I Duo"),
    ]


def test_a_chip_without_bus_id_is_paired_with_the_only_card_left(tmp_path: Path) -> None:
    _with_smi(tmp_path, "310b-no-bus-id")
    (only,) = collect(plant(tmp_path, card("0000:01:00.0", "d105"))).accelerators
    assert (only.bus_id, only.model, only.family, only.health) == ("0000:01:00.0", "310B4", "310b", "Alarm")


def test_device_nodes_count_where_nothing_else_is_to_be_seen(tmp_path: Path) -> None:
    nodes = {"/dev/davinci5": "", "/dev/davinci0": "", "/dev/davinci_manager": ""}
    facts = collect(plant(tmp_path, nodes | CONTAINER))
    assert [a.index for a in facts.accelerators] == [0, 5]
    assert facts.unknown["accelerators.1.family"] == "npu-smi was not found"
    assert "a container shows the host's driver only when mapped" in facts.unknown["layers.driver"]


@pytest.mark.parametrize(
    ("case", "word"),
    [("fail-8005", "-8005"), ("fail-8020-held", "held by another container"), ("fail-loader", "libdrvdsmi_host.so")],
)
def test_a_tool_that_fails_says_why(tmp_path: Path, case: str, word: str) -> None:
    tool(tmp_path, SMI, stderr=captured("npu-smi", case), code=1)
    facts = collect(plant(tmp_path, card("0000:c1:00.0")))
    assert word in facts.unknown["accelerators.0.model"]
    blind = tmp_path / "blind"
    tool(blind, SMI, stderr=captured("npu-smi", case), code=1)
    (blind / "sys/bus/pci/devices").mkdir(parents=True)
    assert word in collect(plant(blind, CONTAINER)).unknown["accelerators"]


def test_a_tool_that_fails_without_a_word_is_not_one_that_is_absent(tmp_path: Path) -> None:
    tool(tmp_path, SMI, code=3)
    facts = collect(plant(tmp_path, {"/etc/hostname": "x"}))
    assert facts.unknown["accelerators"].endswith("npu-smi ended with 3 and listed no chip: no output")


def test_a_folder_in_place_of_the_tool_is_a_wrong_mapping(tmp_path: Path) -> None:
    (tmp_path / "usr/local/sbin/npu-smi").mkdir(parents=True)
    reason = collect(plant(tmp_path, card("0000:c1:00.0"))).unknown["accelerators.0.model"]
    assert "/usr/local/sbin/npu-smi is a folder" in reason


def test_a_tool_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accel_install.facts.ascend_chips._SMI_TIMEOUT_S", 0.2)
    tool(tmp_path, SMI, script="sleep 30")
    assert "did not answer" in collect(plant(tmp_path, card("0000:c1:00.0"))).unknown["accelerators.0.model"]


def test_the_tool_gets_the_drivers_libraries(tmp_path: Path) -> None:
    tool(tmp_path, SMI, script='echo "path=$LD_LIBRARY_PATH" >&2; exit 1')
    host = plant(tmp_path, {f"{ASCEND}/driver/lib64/libdrvdsmi_host.so": ""})
    assert f"path={tmp_path}{ASCEND}/driver/lib64" in collect(host).unknown["accelerators"]


def test_none_is_known_where_the_bus_shows_none(tmp_path: Path) -> None:
    facts = collect(plant(tmp_path, card("0000:00:01.0", "0d57", "8086", "060400")))
    assert facts.accelerators == [] and not facts.is_unknown("accelerators")


def test_general_facts(tmp_path: Path) -> None:
    files = {
        "/etc/os-release": captured("os-release", "openeuler-22.03"),
        "/proc/meminfo": captured("meminfo", "server"),
        "/proc/1/cgroup": "0::/init.scope\n",
        "/proc/sys/kernel/osrelease": "5.10.0-60.18.0.50.oe2203.aarch64\n",
        "/proc/sys/kernel/arch": "aarch64\n",
        "/tmp/x": "",
    }
    facts = collect(plant(tmp_path, files))
    assert (facts.os.id, facts.os.version_id) == ("openeuler", "22.03")
    assert (facts.arch, facts.glibc, facts.container) == ("aarch64", "2.34", False)
    assert facts.kernel == "5.10.0-60.18.0.50.oe2203.aarch64"
    assert facts.memory_bytes == 2112548220 * 1024
    assert [f.mount for f in facts.filesystems] == ["/", "/tmp"]
    assert all(f.free_bytes and f.free_inodes for f in facts.filesystems)


def test_an_empty_root_is_all_unknown_and_nothing_of_this_machine(tmp_path: Path) -> None:
    facts = collect(LocalHost(tmp_path), environ={"ASCEND_HOME_PATH": "/usr", "PATH": "/usr/bin", "HOME": "/root"})
    for field in ("os", "arch", "glibc", "kernel", "memory_bytes", "container", "python", "accelerators", "environment"):
        assert facts.unknown[field], field
    assert facts.environment == {}
    assert facts.layers.sdk is None and facts.python.executable is None


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"/run/.containerenv": ""}, True),
        ({"/proc/1/cgroup": "12:pids:/kubepods/burstable/pod1\n"}, True),
        ({"/proc/1/cgroup": "0::/\n", "/proc/1/mounts": "overlay / overlay rw,lowerdir=/a 0 0\n"}, True),
        ({"/proc/1/cgroup": "0::/\n", "/proc/1/mounts": "/dev/vda1 / ext4 rw 0 0\noverlay /x overlay rw 0 0\n"}, False),
    ],
)
def test_container_signs(tmp_path: Path, files: dict[str, str], expected: bool) -> None:
    assert collect(plant(tmp_path, files)).container is expected


def test_one_collector_that_breaks_leaves_the_others_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(collect_module.system, "memory_bytes", broken)
    monkeypatch.setattr(collect_module, "scan_pci", broken)
    monkeypatch.setattr(collect_module.ascend, "driver_layer", broken)
    facts = collect(plant(tmp_path, {"/etc/os-release": captured("os-release", "ubuntu-22.04")}))
    for field in ("memory_bytes", "accelerators", "layers.driver"):
        assert facts.unknown[field] == "could not be learnt: RuntimeError: boom"
    assert facts.glibc == "2.35"


def test_the_real_machine_keeps_accelerator_variables_only(monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {
        "ASCEND_HOME_PATH": "/nowhere",
        "LD_LIBRARY_PATH": "/a:/b",
        "PYTORCH_NPU_ALLOC_CONF": "x",
        "HOME": "/nowhere",
        "ASCEND_API_TOKEN": "t",
        "CUDA_MIRROR": "https://me:pw@mirror.example/",
        "EDITOR": "vi",
    }
    facts = collect(LocalHost(), environ=environ)
    assert facts.environment == {"ASCEND_HOME_PATH": "/nowhere", "LD_LIBRARY_PATH": "/a:/b", "PYTORCH_NPU_ALLOC_CONF": "x"}
    assert facts.arch is not None and (facts.glibc or facts.musl)


def test_below_a_root_the_interpreter_does_not_decide_the_libc(tmp_path: Path) -> None:
    tool(tmp_path, "/usr/bin/python3", stdout=probe_answer(libc=["glibc", "2.99"]))
    text = b"\x7fELF...\x00GNU C Library (GNU libc) stable release version 2.28.\x00"
    plant(tmp_path, {"/lib64/x": ""})
    (tmp_path / "lib64/libc.so.6").write_bytes(text)
    facts = collect(LocalHost(tmp_path))
    assert (facts.glibc, facts.python.version, facts.python.abi) == ("2.28", "3.11.7", "cp311")


def test_glibc_from_the_name_the_link_points_to(tmp_path: Path) -> None:
    plant(tmp_path, {"/lib/aarch64-linux-gnu/libc-2.31.so": ""})
    (tmp_path / "lib/aarch64-linux-gnu/libc.so.6").symlink_to("libc-2.31.so")
    assert collect(LocalHost(tmp_path)).glibc == "2.31"


def test_musl_from_its_loader(tmp_path: Path) -> None:
    plant(tmp_path, {"/lib/x": ""})
    (tmp_path / "lib/ld-musl-aarch64.so.1").write_bytes(b"\x7fELF\x00musl libc\x001.2.4\x00")
    facts = collect(LocalHost(tmp_path))
    assert (facts.glibc, facts.musl) == (None, "1.2")


def test_facts_survive_a_round_through_json(tmp_path: Path) -> None:
    real_python(tmp_path)
    _with_smi(tmp_path, "310p-sparse-id")
    facts = collect(plant(tmp_path, card("0000:81:00.0", "d500")))
    assert MachineFacts.model_validate_json(facts.model_dump_json()) == facts
    assert facts.python.version is not None
