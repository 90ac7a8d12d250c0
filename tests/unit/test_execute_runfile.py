"""Vendor installers through the engine, on a scratch root, with .run files made by the real makeself (stand-ins)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from makeself_run import make_run
from no_downloads import NoDownloads

from accel_install.errors import InDoubtError, PreflightError, StepFailedError
from accel_install.execute.api import ApplyOptions, EngineDeps, apply_plan, resume_run
from accel_install.execute.journal import read_journal
from accel_install.facts.collect import collect
from accel_install.host.clock import now_utc
from accel_install.host.local import LocalHost
from accel_install.plan.models import Artifact, Plan, PlanStep

INSTALL = """#!/bin/sh
mode="$1"; path=/usr/local/Ascend
for o in "$@"; do case "$o" in --install-path=*) path="${o#--install-path=}" ;; esac; done
echo "$@" >> "$path/../calls.txt"
[ -z "${SLEEP:-}" ] || sleep "$SLEEP"
[ -z "${CRASH:-}" ] || { mkdir -p "$path/driver"; : > "$path/driver/half"; exit "$CRASH"; }
mkdir -p "$path/driver" && printf 'Version=25.5.1\\npackage_version=25.5.1\\n' > "$path/driver/version.info"
exit "${CODE:-0}"
"""


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "root"
    for name in ("usr/local/Ascend", "sys/bus/pci/devices", "proc", "etc"):
        (place / name).mkdir(parents=True)
    (place / "etc/os-release").write_text("ID=openEuler\nVERSION_ID=22.03\n")
    yield place


@pytest.fixture
def package(tmp_path: Path) -> Path:
    return make_run(tmp_path / "Ascend-hdk-910b-npu-driver_25.5.1_linux-x86-64.run", INSTALL, tmp_path / "work")


def plan(package: Path | None, **params: object) -> Plan:
    settings = {
        "licence": "Vendor EULA",
        "install_args": ["--full", "--quiet"],
        "upgrade_args": ["--upgrade", "--quiet"],
        "check_args": ["--check"],
        "success_codes": [0, 2],
        "install_path": "/usr/local/Ascend",
        **params,
    }
    artifacts = [Artifact(name="Ascend-hdk-*.run", path=str(package) if package else None)]
    step = PlanStep(
        id="driver", kind="runfile", title="Driver", layer="driver", version="25.5.1", artifacts=artifacts, params=settings
    )
    return Plan(recipe="t", stack="t", row="r", target={"scope": "host"}, complete=True, steps=[step])


def run(root: Path, made: Plan, *licences: str, unconfined: bool = True, resume: bool = False, **more: object):
    host = LocalHost(root, allow_unconfined=unconfined)
    options = ApplyOptions(root / "var/state", accepted_licences=frozenset(licences), **more)
    deps = EngineDeps(NoDownloads(), lambda: collect(host), now_utc)
    return resume_run(host, options, deps) if resume else apply_plan(host, made, options, deps)


def calls(root: Path) -> list[str]:
    path = root / "usr/local/calls.txt"
    return path.read_text().splitlines() if path.exists() else []


def test_it_is_checked_installed_and_then_left_alone(root: Path, package: Path) -> None:
    result = run(root, plan(package), "Vendor EULA")
    assert result.acted == ("driver",)
    assert len(calls(root)) == 1 and calls(root)[0].startswith("--full --quiet --install-path=")
    assert "25.5.1" in (root / "usr/local/Ascend/driver/version.info").read_text()
    again = run(root, plan(package), "Vendor EULA")
    assert again.nothing_to_do and len(calls(root)) == 1


@pytest.mark.parametrize(
    ("licences", "with_package", "unconfined", "slug"),
    [
        ((), True, True, "preflight.licence-not-accepted"),
        (("Vendor EULA",), False, True, "preflight.artifact-missing"),
        (("Vendor EULA",), True, False, "preflight.not-confinable"),
    ],
)
def test_refusals_come_before_anything_runs(root, package, licences, with_package, unconfined, slug) -> None:
    with pytest.raises(PreflightError) as caught:
        run(root, plan(package if with_package else None), *licences, unconfined=unconfined)
    assert caught.value.slug == slug and caught.value.hint
    assert calls(root) == [] and not (root / "usr/local/Ascend/driver").exists()


def test_a_damaged_package_never_runs(root: Path, package: Path) -> None:
    data = bytearray(package.read_bytes())
    data[-2000] ^= 255
    package.write_bytes(bytes(data))
    with pytest.raises(StepFailedError):
        run(root, plan(package), "Vendor EULA")
    assert calls(root) == []


def test_a_changed_package_is_refused_by_its_digest(root: Path, package: Path) -> None:
    made = plan(package)
    made.steps[0].artifacts[0].sha256 = "ab" * 32
    with pytest.raises(PreflightError) as caught:
        run(root, made, "Vendor EULA")
    assert caught.value.slug == "preflight.artifact-changed" and calls(root) == []


def test_a_package_without_room_to_unpack_is_refused(root: Path, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accel_install.execute.vendor_file.shutil.disk_usage", lambda place: SimpleNamespace(free=1))
    with pytest.raises(PreflightError, match="not enough room in /") as caught:
        run(root, plan(package), "Vendor EULA")
    assert "TMPDIR=" in (caught.value.hint or "") and calls(root) == []


@pytest.mark.parametrize("place", ["~/tmp", "/no/such/folder"])
def test_a_tmpdir_that_is_no_folder_is_refused(root: Path, package: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.setenv("TMPDIR", place)
    with pytest.raises(PreflightError) as caught:
        run(root, plan(package), "Vendor EULA")
    assert caught.value.slug == "preflight.bad-tmpdir" and caught.value.value == place and calls(root) == []


def test_an_upgrade_uses_the_upgrade_options(root: Path, package: Path) -> None:
    old = root / "usr/local/Ascend/driver"
    old.mkdir(parents=True)
    (old / "version.info").write_text("Version=24.1.rc3\npackage_version=24.1.rc3\n")
    run(root, plan(package), "Vendor EULA")
    assert calls(root)[0].startswith("--upgrade --quiet")


def test_exit_2_counts_as_success_where_the_recipe_says_so(root: Path, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODE", "2")
    assert run(root, plan(package), "Vendor EULA").acted == ("driver",)


def test_a_failing_installer_is_told_with_the_end_of_its_log(root: Path, package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRASH", "3")
    with pytest.raises(StepFailedError) as caught:
        run(root, plan(package), "Vendor EULA")
    assert "ended with 3" in caught.value.message and "log" in (caught.value.hint or "")


KILL_ME = """import sys
sys.path[:0] = {path!r}
from pathlib import Path
import test_execute_runfile as t
t.run(Path(sys.argv[1]), t.plan(Path(sys.argv[2])), "Vendor EULA")
"""


def start_and_kill(root: Path, package: Path, number: int = signal.SIGKILL, **env: str) -> None:
    code = KILL_ME.format(path=[str(Path(__file__).parent), str(Path(__file__).parents[1] / "fakes")])
    process = subprocess.Popen([sys.executable, "-c", code, root, package], env={**os.environ, **env}, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not calls(root):
        time.sleep(0.01)
    process.send_signal(number)
    process.wait()


def test_a_child_of_a_killed_parent_is_found_waited_for_and_not_started_again(root: Path, package: Path) -> None:
    start_and_kill(root, package, SLEEP="2")
    result = run(root, plan(package), "Vendor EULA", resume=True)
    assert result.settled == ("driver",) and len(calls(root)) == 1
    outcomes = [r.data for r in read_journal(root / "var/state/journal.jsonl").records if r.type == "outcome"]
    assert outcomes[-1]["ok"] is True


def test_what_is_in_doubt_is_not_repeated(root: Path, package: Path) -> None:
    start_and_kill(root, package, SLEEP="1", CRASH="9")
    with pytest.raises(InDoubtError) as caught:
        run(root, plan(package), "Vendor EULA", resume=True)
    assert int(caught.value.exit_code) == 22 and caught.value.hint
    assert len(calls(root)) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_the_installer_end_and_journals_that_it_did(root: Path, package: Path, number: int) -> None:
    start_and_kill(root, package, number, SLEEP="1")
    records = read_journal(root / "var/state/journal.jsonl").records
    (outcome,) = [r.data for r in records if r.type == "outcome"]
    assert outcome["ok"] is True and outcome["version"] == "25.5.1"
    assert records[-1].type == "run-failed" and records[-1].data["slug"] == "run.interrupted"
    result = run(root, plan(package), "Vendor EULA", resume=True)
    assert result.kept == ("driver",) and len(calls(root)) == 1
