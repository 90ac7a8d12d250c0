"""Machine files: round trip, what a person writes by hand, all problems at once with their lines."""

from __future__ import annotations

from pathlib import Path

import pytest
from fact_machines import captured, card, plant, tool
from hypothesis import given, settings
from hypothesis import strategies as st

from accel_install.errors import MachineError, PreflightError
from accel_install.facts.collect import collect
from accel_install.facts.machine_file import load_machine, save_machine
from accel_install.facts.models import AcceleratorFacts, MachineFacts

NOT_STATED = "not stated in the machine file"

BY_HAND = """\
os: {id: openeuler, version_id: 22.03}
arch: aarch64
glibc: 2.30
python: {version: 3.10}
memory_bytes: 2163249377280
container: false
accelerators:
  - model: 910B2
    index: 0
layers:
  driver: {version: 25.2.1}
  firmware: null
"""


def _write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "node7.yaml"
    path.write_text(text)
    return path


def _problems(tmp_path: Path, text: str) -> list[tuple[int, str]]:
    with pytest.raises(MachineError) as caught:
        load_machine(_write(tmp_path, text))
    assert caught.value.slug == "machine.bad-file" and caught.value.exit_code == 11
    return [(p["line"], p["message"]) for p in caught.value.details["problems"]]


def test_saved_facts_come_back_as_they_were(tmp_path: Path) -> None:
    tool(tmp_path, "/usr/local/bin/npu-smi", stdout=captured("npu-smi", "a2-910b4-1"))
    facts = collect(plant(tmp_path, card("0000:c1:00.0") | {"/etc/os-release": captured("os-release", "kylin-v10")}))
    path = tmp_path / "machine.yaml"
    save_machine(facts, path)
    assert load_machine(path) == facts
    first = path.read_bytes()
    save_machine(load_machine(path), path)
    assert path.read_bytes() == first


def test_versions_stay_as_they_are_written(tmp_path: Path) -> None:
    facts = load_machine(_write(tmp_path, BY_HAND))
    assert (facts.glibc, facts.python.version, facts.os.version_id) == ("2.30", "3.10", "22.03")
    assert (facts.memory_bytes, facts.container, facts.accelerators[0].index) == (2163249377280, False, 0)


def test_what_follows_from_a_model_is_filled_in(tmp_path: Path) -> None:
    (only,) = load_machine(_write(tmp_path, BY_HAND)).accelerators
    assert only == AcceleratorFacts(vendor="huawei", family="910b", model="910B2", index=0)


def test_what_is_missing_is_unknown_and_null_is_absent(tmp_path: Path) -> None:
    unknown = load_machine(_write(tmp_path, BY_HAND)).unknown
    for field in ("kernel", "filesystems", "environment", "layers.sdk", "layers.nnal", "layers.ops", "os.name"):
        assert unknown[field] == NOT_STATED, field
    assert unknown["accelerators.0.memory_bytes"] == NOT_STATED
    for field in ("layers.firmware", "layers.driver", "glibc", "accelerators", "accelerators.0.family"):
        assert field not in unknown


def test_an_empty_mapping_is_all_unknown(tmp_path: Path) -> None:
    facts = load_machine(_write(tmp_path, "{}\n"))
    assert facts.model_copy(update={"unknown": {}}) == MachineFacts()
    assert facts.unknown["accelerators"] == facts.unknown["python"] == facts.unknown["layers.driver"] == NOT_STATED
    assert "os.id" not in facts.unknown


def test_json_is_accepted_with_its_envelope(tmp_path: Path) -> None:
    text = '{"schema": 1, "tool_version": "9.9", "arch": "x86_64", "glibc": "2.36", "accelerators": []}'
    facts = load_machine(_write(tmp_path, text))
    assert (facts.arch, facts.glibc) == ("x86_64", "2.36") and not facts.is_unknown("accelerators")


def test_all_problems_come_at_once_with_their_lines(tmp_path: Path) -> None:
    text = """\
arch: aarch64
glibcc: 2.34
memory_bytes: lots
container: perhaps
python:
  version: three
  abii: cp311
accelerators:
  - model: [910B2]
  - just text
layers:
  drivr: {version: 1}
  sdk: {version: {a: b}}
arch: x86_64
"""
    assert _problems(tmp_path, text) == [
        (2, "unknown key `glibcc`, did you mean `glibc`?"),
        (3, "`memory_bytes` should be a whole number, is `lots`"),
        (4, "`container` should be true or false, is `perhaps`"),
        (7, "unknown key `python.abii`, did you mean `abi`?"),
        (9, "`accelerators.0.model` should be text, is a list"),
        (10, "`accelerators.1` should be a mapping of keys, is `just text`"),
        (12, "unknown key `layers.drivr`, did you mean `driver`?"),
        (13, "`layers.sdk.version` should be text, is a mapping"),
        (14, "key `arch` is given twice"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("glibc: new\n", 1, "should look like 2.34"),
        ("arch: aarch64\npython: {version: three}\n", 2, "`python.version` should look like 3.11.7"),
        ("glibc: 2.34\nmusl: 1.2\n", 2, "exclude each other"),
        ("schema: 2\n", 1, "this version reads 1"),
        ("- a\n- b\n", 1, "is not a mapping"),
        ("", 1, "is not a mapping"),
        ("arch: [\n", 2, "is not YAML"),
        ("arch: x\n\tb: c\n", 2, "is not YAML"),
        ("a: !!python/object:os.system x\n", 1, "is not plain data"),
        ("? {a: b}\n: c\n", 1, "is not plain data"),
        ("filesystems: [{free_bytes: 1}]\n", 1, "`filesystems.0.mount` is missing"),
        ("arch: " + "[" * 40 + "]" * 40 + "\n", 1, "nested too deeply"),
    ],
)
def test_bad_files_say_where(tmp_path: Path, text: str, line: int, word: str) -> None:
    problems = _problems(tmp_path, text)
    assert any(at == line and word in message for at, message in problems), problems


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="1 problem") as caught:
        load_machine(tmp_path / "nowhere.yaml")
    assert "No such file" in (caught.value.value or "")
    (tmp_path / "x.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MachineError) as caught:
        load_machine(tmp_path / "x.yaml")
    assert "not UTF-8" in (caught.value.value or "")


def test_a_place_that_cannot_be_written_is_a_preflight_refusal(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PreflightError) as caught:
        save_machine(MachineFacts(), tmp_path / "file" / "m.yaml")
    assert caught.value.slug == "preflight.output-not-writable"


@given(st.text(alphabet="ab:-[]{}#&*!|>\"'%@`\n ,?.0", max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("m") / "m.yaml"
    path.write_text(text)
    try:
        load_machine(path)
    except MachineError as error:
        assert error.slug == "machine.bad-file"
