"""Every captured output through its own parser, and through every other one, which must say "not mine" and never raise.

A case is a text file and the JSON it parses to. Adding a case is adding two files; `foreign/` holds other vendors' outputs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accel_install.facts import ascend_files
from accel_install.facts.ascend_smi import SmiAnswer, parse_npu_smi
from accel_install.facts.libc import parse_ldd
from accel_install.facts.models import OsFacts
from accel_install.facts.os_release import parse_os_release
from accel_install.facts.python_probe import parse_probe
from accel_install.facts.system import parse_meminfo

CASES = Path(__file__).parents[1] / "captured" / "facts"

PARSERS: dict[str, tuple[Callable[[str], Any], Any]] = {
    "npu-smi": (parse_npu_smi, SmiAnswer()),
    "driver-info": (ascend_files.parse_driver_info, None),
    "firmware-info": (ascend_files.parse_firmware_info, None),
    "ascend-install": (ascend_files.parse_ascend_install, None),
    "toolkit-install": (ascend_files.parse_toolkit_install, None),
    "ops-install": (ascend_files.parse_ops_install, None),
    "component-info": (ascend_files.parse_component_info, None),
    "version-cfg": (ascend_files.parse_version_cfg, {}),
    "nnal-info": (ascend_files.parse_nnal_info, None),
    "os-release": (parse_os_release, OsFacts()),
    "meminfo": (parse_meminfo, None),
    "ldd": (parse_ldd, None),
    "python-probe": (parse_probe, None),
}
ALL = sorted(CASES.glob("*/*.txt"))
OWN = [path for path in ALL if path.parent.name in PARSERS]


def _plain(value: Any) -> Any:
    if isinstance(value, OsFacts):
        return value.model_dump()
    if hasattr(value, "_asdict"):
        return value._asdict()
    plain = asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
    return json.loads(json.dumps(plain))


def _id(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def test_every_folder_has_a_parser_and_every_parser_a_case() -> None:
    folders = {path.name for path in CASES.iterdir() if path.is_dir()}
    assert folders - {"foreign"} == set(PARSERS)
    assert {path.parent.name for path in OWN} == set(PARSERS)


@pytest.mark.parametrize("path", OWN, ids=_id)
def test_captured_output_parses_to_its_answer(path: Path) -> None:
    parse, nothing = PARSERS[path.parent.name]
    answer = parse(path.read_text())
    assert answer != nothing
    assert _plain(answer) == json.loads(path.with_suffix(".json").read_text())


@pytest.mark.parametrize("path", OWN, ids=_id)
def test_line_ends_and_trailing_text_do_not_matter(path: Path) -> None:
    parse, _ = PARSERS[path.parent.name]
    text = path.read_text()
    assert parse(text.replace("\n", "\r\n")) == parse(text)


@pytest.mark.parametrize("kind", sorted(PARSERS))
def test_other_kinds_are_not_taken(kind: str) -> None:
    parse, nothing = PARSERS[kind]
    others = [path for path in ALL if path.parent.name != kind]
    taken = {_id(path): answer for path in others if (answer := parse(path.read_text())) != nothing}
    assert len(others) > 40 and taken == {}


@pytest.mark.parametrize("path", OWN, ids=_id)
def test_cut_at_any_byte_never_raises(path: Path) -> None:
    parse, _ = PARSERS[path.parent.name]
    text = path.read_text()
    for length in range(0, len(text), 7):
        parse(text[:length])


@pytest.mark.parametrize("kind", sorted(PARSERS))
@given(text=st.text(alphabet=st.sampled_from("|+-=:[]{},./\n\t \0\"'NPUChipNameVersion0123456789é"), max_size=300))
@settings(max_examples=60, deadline=None)
def test_noise_never_raises(kind: str, text: str) -> None:
    PARSERS[kind][0](text)
