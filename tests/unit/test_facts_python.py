"""The target interpreter: real ones, shims that fail, banners, garbage, wrong kinds, below a root."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from fact_machines import probe_answer, real_python, tool

from accel_install.errors import MachineError
from accel_install.facts.python_probe import ProbeFailure, PythonProbe, find_python, probe_python
from accel_install.host.local import LocalHost

HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


def _reason(root: Path, **how: object) -> str:
    tool(root, "/usr/bin/python3", **how)  # type: ignore[arg-type]
    answer = probe_python(LocalHost(root), root / "usr/bin/python3", timeout_s=5)
    assert isinstance(answer, ProbeFailure)
    return answer.reason


def test_the_running_interpreter_is_read_rightly() -> None:
    probe = probe_python(LocalHost(), sys.executable)
    assert isinstance(probe, PythonProbe)
    assert probe.version == ".".join(map(str, sys.version_info[:3]))
    assert probe.label.rstrip("t") == HERE and probe.abi.startswith(f"cp{sys.version_info[0]}{sys.version_info[1]}")
    assert (probe.prefix, probe.implementation) == (sys.prefix, "cpython")
    assert probe.libc[0] in ("glibc", "musl") and probe.libc[1]


@pytest.mark.parametrize("version", ["3.6", "3.7", "3.8", "3.9", "3.10", "3.12", "3.13", "3.14"])
def test_other_interpreters_of_this_machine_answer_too(version: str) -> None:
    found = shutil.which(f"python{version}")
    places = [*([Path(found)] if found else []), *Path.home().glob(f".pyenv/versions/{version}.*/bin/python")]
    probes = [probe for place in places if isinstance(probe := probe_python(LocalHost(), place), PythonProbe)]
    if not probes:
        pytest.skip(f"Python {version} is not on this machine")
    assert {probe.label.rstrip("t") for probe in probes} == {version}


def test_user_settings_do_not_reach_the_probe(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert isinstance(probe_python(LocalHost(), sys.executable), PythonProbe)


def test_a_banner_before_the_answer_does_no_harm(tmp_path: Path) -> None:
    tool(tmp_path, "/usr/bin/python3", stdout="welcome\n{}\n" + probe_answer() + "bye\n")
    probe = probe_python(LocalHost(tmp_path), tmp_path / "usr/bin/python3")
    assert isinstance(probe, PythonProbe) and probe.version == "3.11.7"


def test_each_failure_has_its_own_reason(tmp_path: Path) -> None:
    assert "did not print the probe's line but `hello`" in _reason(tmp_path, stdout="hello\n")
    assert "did not print the probe's line" in _reason(tmp_path)
    assert "did not print the probe's line" in _reason(tmp_path, stdout=probe_answer(version=None))
    assert "did not print the probe's line" in _reason(tmp_path, stdout=probe_answer(libc="glibc"))
    assert "is pypy, not CPython" in _reason(tmp_path, stdout=probe_answer(implementation="pypy"))
    shim = "pyenv: python3.9: command not found\n\nNote: see 'pyenv help global' for tips.\n"
    assert _reason(tmp_path, stderr=shim, code=127) == "ended with 127: pyenv: python3.9: command not found"
    trace = "Traceback (most recent call last):\n  File x\nModuleNotFoundError: No module named 'json'\n"
    assert _reason(tmp_path, stderr=trace, code=1).endswith("ModuleNotFoundError: No module named 'json'")


def test_an_interpreter_that_hangs_is_ended(tmp_path: Path) -> None:
    tool(tmp_path, "/usr/bin/python3", script="sleep 30")
    answer = probe_python(LocalHost(tmp_path), tmp_path / "usr/bin/python3", timeout_s=0.2)
    assert answer == ProbeFailure(str(tmp_path / "usr/bin/python3"), "did not answer within 0.2 s")


def test_a_missing_interpreter_is_a_failure_not_an_exception(tmp_path: Path) -> None:
    assert isinstance(probe_python(LocalHost(), tmp_path / "nope"), ProbeFailure)


def test_the_wanted_version_is_found_behind_a_failing_shim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool(tmp_path, "/shims/python3.99", stderr="shim: not set\n", code=127)
    tool(tmp_path, "/opt/bin/python3.99", stdout=probe_answer(version="3.99.1"))
    path = f"{tmp_path}/shims:relative:{tmp_path}/opt/bin"
    monkeypatch.setenv("PATH", path + ":/usr/bin:/bin")
    assert find_python(LocalHost(), "3.99", path).version == "3.99.1"


def test_the_first_that_fits_wins_and_the_rest_is_named(tmp_path: Path) -> None:
    tool(tmp_path, "/usr/bin/python3", stdout=probe_answer())
    tool(tmp_path, "/usr/bin/python3.13", stdout=probe_answer(version="3.13.0", free_threaded=True))
    tool(tmp_path, "/usr/local/bin/python", stderr="broken\n", code=1)
    host = LocalHost(tmp_path)
    assert find_python(host, None).version == find_python(host, "3.11").version == "3.11.7"
    assert find_python(host, "3.13t").label == "3.13t"
    assert find_python(host, "3.11.7").version == "3.11.7"
    with pytest.raises(MachineError) as caught:
        find_python(host, "3.13")
    error = caught.value
    assert (error.slug, error.exit_code, error.expected) == ("machine.python-not-found", 11, "python3.13")
    assert "is 3.13t" in str(error.value) and "is 3.11" in str(error.value) and "broken" in str(error.value)


def test_below_a_root_no_interpreter_of_this_machine_is_taken(tmp_path: Path) -> None:
    with pytest.raises(MachineError):
        find_python(LocalHost(tmp_path), None, "/usr/bin:/bin")
    with pytest.raises(MachineError):
        find_python(LocalHost(tmp_path), sys.executable)


def test_a_path_is_taken_at_its_word(tmp_path: Path) -> None:
    real_python(tmp_path, "/opt/py/bin/python")
    assert find_python(LocalHost(tmp_path), "/opt/py/bin/python").label.rstrip("t") == HERE
    assert find_python(LocalHost(), sys.executable).executable
    with pytest.raises(MachineError) as caught:
        find_python(LocalHost(), str(tmp_path / "none"))
    assert caught.value.expected == str(tmp_path / "none")
