"""`LocalHost` below a root: nothing escapes, tools and words come from the root only."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from accel_install.errors import MachineError
from accel_install.host.cpu import elf_arch
from accel_install.host.local import LocalHost


def _tool(path: Path, text: str = "#!/bin/sh\necho hello\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("asked", "inside"),
    [
        ("/etc/os-release", "etc/os-release"),
        ("etc/os-release", "etc/os-release"),
        ("/../../etc/passwd", "etc/passwd"),
        ("/etc/../../../usr/./lib//x", "usr/lib/x"),
        ("/", ""),
        ("/abs/file", "target/file"),
        ("/up/file", "etc/file"),
        ("/chain/file", "target/file"),
        ("/last", "etc/secret"),
    ],
)
def test_paths_stay_below_the_root(tmp_path: Path, asked: str, inside: str) -> None:
    root = tmp_path / "root"
    (root / "target").mkdir(parents=True)
    (root / "abs").symlink_to("/target")
    (root / "up").symlink_to("../../../../../etc")
    (root / "chain").symlink_to("abs")
    (root / "last").symlink_to("/etc/secret")
    assert LocalHost(root).path(asked) == (root / inside if inside else root)


def test_links_out_of_the_root_are_read_inside_it(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "etc").mkdir(parents=True)
    outside.write_text("secret of the real machine")
    (root / "etc/by-name").symlink_to(outside)
    (root / "etc/by-dots").symlink_to("../../outside")
    host = LocalHost(root)
    assert host.read_text("/etc/by-name") is None
    assert host.read_text("/etc/by-dots") is None
    assert not host.exists("/etc/by-dots")
    assert host.read_link("/etc/by-dots") == "../../outside"
    assert host.path("/etc/by-dots", follow_last=False) == root / "etc/by-dots"


def test_a_circle_of_links_is_an_error_of_ours_and_reads_as_absent(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("/a")
    host = LocalHost(tmp_path)
    with pytest.raises(MachineError) as caught:
        host.path("/a")
    assert caught.value.slug == "machine.symlink-loop"
    assert host.read_text("/a") is None and not host.exists("/a") and host.which("/a") is None


def test_read_text_is_limited_and_survives_bad_bytes_and_fifos(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * 100)
    (tmp_path / "bad").write_bytes(b"ok \xff\xfe")
    os.mkfifo(tmp_path / "fifo")
    host = LocalHost(tmp_path)
    assert host.read_text("/big", limit_bytes=10) == "x" * 10
    assert host.read_text("/bad") == "ok \ufffd\ufffd"
    assert host.read_text("/fifo") is None
    assert host.read_text("/") is None
    assert host.list_dir("/") == ["bad", "big", "fifo"]
    assert host.list_dir("/absent") == []


def test_which_below_a_root_ignores_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _tool(tmp_path / "elsewhere/npu-smi")
    monkeypatch.setenv("PATH", str(tmp_path / "elsewhere"))
    root = tmp_path / "root"
    root.mkdir()
    host = LocalHost(root)
    assert host.which("npu-smi") is None
    vendor = _tool(root / "usr/local/Ascend/driver/tools/npu-smi")
    assert host.which("npu-smi", ["/usr/local/Ascend/driver/tools"]) == vendor
    local = _tool(root / "usr/local/sbin/npu-smi")
    assert host.which("npu-smi", ["/usr/local/Ascend/driver/tools"]) == local
    local.chmod(0o644)
    assert host.which("/usr/local/sbin/npu-smi") is None
    assert LocalHost().which("npu-smi") == tmp_path / "elsewhere/npu-smi"


def test_which_keeps_the_name_of_a_link_that_stays_inside(tmp_path: Path) -> None:
    real = _tool(tmp_path / "usr/bin/python3.11")
    (tmp_path / "opt/venv/bin").mkdir(parents=True)
    (tmp_path / "opt/venv/bin/python").symlink_to("../../../usr/bin/python3.11")
    (tmp_path / "opt/venv/bin/absolute").symlink_to("/usr/bin/python3.11")
    host = LocalHost(tmp_path)
    assert host.which("/opt/venv/bin/python") == tmp_path / "opt/venv/bin/python"
    assert host.which("/opt/venv/bin/absolute") == real


def test_bare_names_run_only_from_the_root(tmp_path: Path) -> None:
    _tool(tmp_path / "bin/npu-smi", '#!/bin/sh\necho "root=$ACCEL_INSTALL_ROOT"\n')
    host = LocalHost(tmp_path)
    assert host.run(["npu-smi"], timeout_s=20).stdout == f"root={tmp_path}\n"
    refused = host.run(["sh", "-c", "echo escaped"], timeout_s=20)
    assert (refused.returncode, refused.stdout) == (127, "")
    open_host = LocalHost(tmp_path, allow_unconfined=True)
    assert (host.confined, open_host.confined, LocalHost().confined) == (True, False, False)
    assert open_host.run(["sh", "-c", "echo stand-in"], timeout_s=20).stdout == "stand-in\n"


def test_kernel_and_arch_below_a_root_come_from_the_root(tmp_path: Path) -> None:
    host = LocalHost(tmp_path)
    assert (host.kernel_release(), host.arch()) == (None, None)
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "bin").symlink_to("usr/bin")
    (tmp_path / "usr/bin/sh").write_bytes(b"\x7fELF\x02\x01" + bytes(12) + b"\xb7\x00" + bytes(20))
    assert host.arch() == "aarch64"
    (tmp_path / "proc/sys/kernel").mkdir(parents=True)
    (tmp_path / "proc/sys/kernel/arch").write_text("x86_64\n")
    (tmp_path / "proc/sys/kernel/osrelease").write_text("5.10.0-60.18.0.50.oe2203.aarch64\n")
    assert host.arch() == "x86_64"
    assert host.kernel_release() == "5.10.0-60.18.0.50.oe2203.aarch64"
    real = LocalHost()
    assert (real.kernel_release(), real.arch()) == (platform.release(), platform.machine())


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", b"\x7fELF\x01\x01" + bytes(20), b"\x7fELF\x02\x01"])
def test_elf_arch_of_anything_else_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    assert elf_arch(tmp_path / "file") is None
    assert elf_arch(tmp_path / "absent") is None


def test_free_space_looks_at_the_nearest_parent(tmp_path: Path) -> None:
    there, later = LocalHost().free_space(tmp_path), LocalHost(tmp_path).free_space("/not/yet/made")
    assert there is not None and later is not None
    assert there[0] > 0 and there[1] > 0 and later[0] > 0
