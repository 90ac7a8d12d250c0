"""Ascend layers as they lie on machines: both CANN layouts, disagreements, broken and partial installations."""

from __future__ import annotations

from pathlib import Path

import pytest
from fact_machines import captured, plant, tool

from accel_install.facts.collect import collect
from accel_install.facts.models import MachineFacts
from accel_install.host.local import LocalHost

ASCEND = "/usr/local/Ascend"
OLD = f"{ASCEND}/ascend-toolkit/8.3.RC2"
KERNELS = "opp/built-in/op_impl/ai_core/tbe/kernel"
DRIVER = {f"{ASCEND}/driver/version.info": captured("driver-info", "25.0.rc1.1")}
FIRMWARE = {f"{ASCEND}/firmware/version.info": captured("firmware-info", "7.7.0.1.231")}
INSTALL_INFO = {"/etc/ascend_install.info": captured("ascend-install", "driver-and-firmware")}


def _facts(root: Path, *files: dict[str, str]) -> MachineFacts:
    merged = {path: text for part in files for path, text in part.items()}
    return collect(plant(root, merged or {"/etc/x": ""}))


def _old_toolkit(root: Path, extra: dict[str, str] | None = None) -> dict[str, str]:
    (root / OLD.lstrip("/")).mkdir(parents=True)
    (root / f"{ASCEND}/ascend-toolkit/latest".lstrip("/")).symlink_to("8.3.RC2")
    info = {f"{OLD}/x86_64-linux/ascend_toolkit_install.info": captured("toolkit-install", "8.3.RC2-x86_64")}
    return info | {f"{OLD}/{path}": text for path, text in (extra or {}).items()}


def test_driver_and_firmware_keep_what_compatibility_rules_read(tmp_path: Path) -> None:
    facts = _facts(tmp_path, DRIVER, FIRMWARE, INSTALL_INFO)
    driver, firmware = facts.layers.driver, facts.layers.firmware
    assert driver is not None and firmware is not None
    assert (driver.version, driver.source) == ("25.0.rc1.1", f"{ASCEND}/driver/version.info")
    assert driver.details["compatible_version_fw"] == "[7.0.0,7.7.99]"
    assert driver.details["Innerversion"] == "V100R001C21SPC002B220"
    assert driver.details["Driver_Install_Type"] == "full"
    assert firmware.version == "7.7.0.1.231"
    assert firmware.details["compatible_version_drv"].startswith("[23.0.0,23.0.0.]")


def test_the_recorded_root_is_read_before_the_usual_one(tmp_path: Path) -> None:
    facts = _facts(
        tmp_path,
        DRIVER,
        {"/etc/ascend_install.info": captured("ascend-install", "other-root-driver-only")},
        {"/opt/hw/Ascend/driver/version.info": captured("driver-info", "24.1.rc1-no-package-version")},
    )
    assert facts.layers.driver is not None
    assert (facts.layers.driver.version, facts.layers.driver.path) == ("24.1.rc1", "/opt/hw/Ascend/driver")


def test_a_record_that_is_a_symlink_is_refused(tmp_path: Path) -> None:
    plant(tmp_path, DRIVER | {"/opt/info": captured("ascend-install", "other-root-driver-only")})
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/ascend_install.info").symlink_to("/opt/info")
    driver = collect(LocalHost(tmp_path)).layers.driver
    assert driver is not None and driver.path == f"{ASCEND}/driver"


def test_recorded_but_gone_is_broken_not_absent(tmp_path: Path) -> None:
    facts = _facts(tmp_path, INSTALL_INFO)
    assert facts.layers.driver is None
    assert "broken installation" in facts.unknown["layers.driver"]
    assert "broken installation" in facts.unknown["layers.firmware"]


def test_a_driver_folder_without_version_is_partial(tmp_path: Path) -> None:
    facts = _facts(tmp_path, {f"{ASCEND}/driver/lib64/x.so": ""})
    assert "broken or partial" in facts.unknown["layers.driver"]


def test_another_layers_file_in_its_place_is_not_believed(tmp_path: Path) -> None:
    facts = _facts(tmp_path, {f"{ASCEND}/driver/version.info": captured("firmware-info", "7.7.0.1.231")})
    assert facts.layers.driver is None
    assert "does not read as the version file of a driver" in facts.unknown["layers.driver"]


def test_an_internal_number_is_no_release(tmp_path: Path) -> None:
    facts = _facts(tmp_path, {f"{ASCEND}/driver/version.info": captured("driver-info", "internal-version-only")})
    assert facts.layers.driver is not None and facts.layers.driver.version is None
    assert "states no release" in facts.unknown["layers.driver.version"]


def test_firmware_in_a_container_is_unknown_not_absent(tmp_path: Path) -> None:
    facts = _facts(tmp_path, DRIVER, {"/.dockerenv": ""})
    assert facts.layers.firmware is None
    assert "inside a container the file is often absent" in facts.unknown["layers.firmware"]
    assert _facts(tmp_path / "host", DRIVER).unknown.get("layers.firmware") is None


def test_npu_smi_states_the_driver_where_its_file_is_not_mapped(tmp_path: Path) -> None:
    tool(tmp_path, "/usr/local/bin/npu-smi", stdout=captured("npu-smi", "a2-910b4-1"))
    facts = _facts(tmp_path, {"/.dockerenv": ""})
    assert facts.layers.driver is not None
    assert (facts.layers.driver.version, facts.layers.driver.source) == ("25.2.0", "npu-smi info")


@pytest.mark.parametrize(("case", "noted"), [("a2-910b4-1", True), ("a2-sparse-unordered-busy", False)])
def test_a_running_driver_that_differs_from_its_files_is_noted(tmp_path: Path, case: str, noted: bool) -> None:
    tool(tmp_path, "/usr/local/bin/npu-smi", stdout=captured("npu-smi", case))
    facts = _facts(tmp_path, {f"{ASCEND}/driver/version.info": "Version=25.0.rc1\nascendhal_version=7.35.23\n"})
    assert facts.layers.driver is not None
    assert ("disagreement" in facts.layers.driver.details) is noted


def test_toolkit_before_8_5(tmp_path: Path) -> None:
    extra = {"compiler/version.info": "Version=8.3.0.0.210\nversion_dir=8.3.RC2\n", "../set_env.sh": ""}
    facts = _facts(tmp_path, _old_toolkit(tmp_path, extra))
    sdk = facts.layers.sdk
    assert sdk is not None
    assert (sdk.version, sdk.path) == ("8.3.RC2", f"{ASCEND}/ascend-toolkit/latest")
    assert sdk.details["innerversion"] == "V100R001C23SPC002B210"
    assert sdk.details["set_env"] == f"{ASCEND}/ascend-toolkit/set_env.sh"
    assert "disagreement" not in sdk.details
    assert facts.layers.ops is None and not facts.is_unknown("layers.ops")


def test_toolkit_from_8_5_on(tmp_path: Path) -> None:
    new = f"{ASCEND}/cann-9.0.0"
    plant(
        tmp_path,
        {
            f"{new}/aarch64-linux/ascend_toolkit_install.info": captured("toolkit-install", "9.0.0-aarch64"),
            f"{new}/aarch64-linux/ascend_ops_install.info": captured("ops-install", "950-ops"),
            f"{new}/{KERNELS}/ascend910b/x": "",
            f"{new}/{KERNELS}/config/x": "",
            f"{new}/set_env.sh": "",
            f"{ASCEND}/ascend-toolkit/set_env.sh": "",
        },
    )
    (tmp_path / f"{ASCEND}/cann".lstrip("/")).symlink_to("cann-9.0.0")
    (tmp_path / f"{ASCEND}/ascend-toolkit/latest".lstrip("/")).symlink_to("/usr/local/Ascend/cann")
    layers = collect(LocalHost(tmp_path)).layers
    assert layers.sdk is not None and layers.ops is not None
    assert (layers.sdk.version, layers.sdk.path) == ("9.0.0", f"{ASCEND}/cann")
    assert layers.sdk.details["set_env"] == f"{ASCEND}/cann/set_env.sh"
    assert (layers.ops.version, layers.ops.details["chips"]) == ("9.1.0", "ascend910b")
    assert layers.ops.details["package_name"] == "Ascend-cann-950-ops"


def test_components_that_disagree_with_the_install_info_are_said(tmp_path: Path) -> None:
    extra = {"runtime/version.info": "Version=8.2.0.0.201\nversion_dir=8.2.RC1\n"}
    facts = _facts(tmp_path, _old_toolkit(tmp_path, extra))
    assert facts.layers.sdk is not None and facts.layers.sdk.version == "8.3.RC2"
    assert "runtime 8.2.RC1" in facts.layers.sdk.details["disagreement"]
    assert not any(key.startswith("layers.sdk") for key in facts.unknown)


def test_version_cfg_stands_in_for_a_lost_install_info(tmp_path: Path) -> None:
    facts = _facts(tmp_path, {f"{ASCEND}/cann/version.cfg": captured("version-cfg", "8.0.0")})
    assert facts.layers.sdk is not None and facts.layers.ops is not None
    assert (facts.layers.sdk.version, facts.layers.sdk.source) == ("8.0.0", f"{ASCEND}/cann/version.cfg")
    assert (facts.layers.ops.version, facts.layers.ops.source) == ("8.0.0", f"{ASCEND}/cann/version.cfg")


def test_components_stand_in_for_both(tmp_path: Path) -> None:
    facts = _facts(tmp_path, {f"{ASCEND}/cann/runtime/version.info": captured("component-info", "8.5.0-runtime")})
    assert facts.layers.sdk is not None and facts.layers.sdk.version == "8.5.0"


def test_kernels_without_any_version_are_there_but_unknown(tmp_path: Path) -> None:
    facts = _facts(tmp_path, _old_toolkit(tmp_path, {f"{KERNELS}/ascend310p/x": "", f"{KERNELS}/ascend910b/x": ""}))
    assert facts.layers.ops is not None and facts.layers.ops.version is None
    assert facts.layers.ops.details["chips"] == "ascend310p, ascend910b"
    assert "layers.ops.version" in facts.unknown


def test_a_toolkit_folder_that_says_nothing_is_unknown(tmp_path: Path) -> None:
    facts = _facts(tmp_path, {f"{ASCEND}/cann/bin/x": ""})
    assert facts.layers.sdk is None and "layers.sdk" in facts.unknown


def test_nnrt_alone_is_not_a_toolkit(tmp_path: Path) -> None:
    info = {f"{ASCEND}/nnrt/latest/aarch64-linux/ascend_nnrt_install.info": captured("foreign", "nnrt-install")}
    facts = _facts(tmp_path, info)
    assert facts.layers.sdk is None and "only nnrt is there" in facts.unknown["layers.sdk"]


def test_nnal_with_its_abis(tmp_path: Path) -> None:
    atb = f"{ASCEND}/nnal/atb"
    facts = _facts(
        tmp_path,
        {
            f"{atb}/latest/version.info": captured("nnal-info", "8.2.RC2"),
            f"{atb}/latest/atb/cxx_abi_0/x": "",
            f"{atb}/latest/atb/cxx_abi_1/x": "",
            f"{atb}/set_env.sh": "",
        },
    )
    nnal = facts.layers.nnal
    assert nnal is not None
    assert (nnal.version, nnal.details["cxx_abi"], nnal.details["set_env"]) == ("8.2.RC2", "0, 1", f"{atb}/set_env.sh")


def test_a_mindie_file_is_not_nnal(tmp_path: Path) -> None:
    facts = _facts(tmp_path, {f"{ASCEND}/nnal/atb/latest/version.info": captured("foreign", "mindie-version")})
    assert facts.layers.nnal is None and "layers.nnal" in facts.unknown
