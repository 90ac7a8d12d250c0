"""The journal: cut at every byte, damaged in the middle, read again; and the recovery table, whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_install.errors import JournalUnreadableError
from accel_install.execute.journal import Journal, Record, read_journal
from accel_install.execute.provenance import installed_by_us
from accel_install.execute.recovery import open_acts, recover


def write(path: Path) -> list[Record]:
    journal = Journal(path, lambda: "2026-12-01T00:00:00Z", "boot-1")
    journal.write("run-started", "r1", stack="s")
    journal.write("intent", "r1", "driver", decision="do")
    journal.write("child", "r1", "driver", pid=1, note="ümlaut\r\nline")
    journal.write("outcome", "r1", "driver", ok=True, version="25.2.1")
    return list(journal.content.records)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    records = write(tmp_path / "j")
    content = read_journal(tmp_path / "j")
    assert list(content.records) == records and content.torn_bytes == 0 and content.last_run == "r1"
    assert [r.seq for r in records] == [0, 1, 2, 3, 4]


def test_it_is_readable_when_cut_at_any_byte(tmp_path: Path) -> None:
    records = write(tmp_path / "whole")
    data = (tmp_path / "whole").read_bytes()
    cut = tmp_path / "cut"
    for length in range(len(data) + 1):
        cut.write_bytes(data[:length])
        content = read_journal(cut)
        whole = data[:length].count(b"\n")
        assert list(content.records) == records[:whole]
        assert content.size_bytes + content.torn_bytes == length
        again = Journal(cut, lambda: "t", "boot-1")
        again.write("check", "r2", "x", clean=True)
        assert read_journal(cut).torn_bytes == 0
        assert read_journal(cut).records[-1].type == "check"


def test_damage_before_the_end_is_refused_with_its_line(tmp_path: Path) -> None:
    write(tmp_path / "j")
    lines = (tmp_path / "j").read_bytes().splitlines(keepends=True)
    for number in range(len(lines) - 1):
        flipped = bytearray(lines[number])
        flipped[len(flipped) // 2] ^= 1
        (tmp_path / "bad").write_bytes(b"".join([*lines[:number], bytes(flipped), *lines[number + 1 :]]))
        with pytest.raises(JournalUnreadableError) as caught:
            read_journal(tmp_path / "bad")
        assert f"line {number + 1} " in caught.value.message and int(caught.value.exit_code) == 32


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "j").write_bytes(Record(0, "header", data={"version": 99}).line())
    with pytest.raises(JournalUnreadableError, match="version 99"):
        read_journal(tmp_path / "j")


def test_open_acts_are_intents_without_outcome(tmp_path: Path) -> None:
    records = write(tmp_path / "j")
    assert open_acts(records) == []
    (act,) = open_acts(records[:-1])
    assert (act.step, act.run_id, act.decision) == ("driver", "r1", "do") and act.child is not None and act.child["pid"] == 1
    (early,) = open_acts(records[:-2])
    assert early.child is None


def test_provenance_is_by_step_and_version(tmp_path: Path) -> None:
    records = write(tmp_path / "j")
    assert installed_by_us(records, "driver", "25.2.1")
    assert not installed_by_us(records, "driver", "25.5.1") and not installed_by_us(records, "firmware", "25.2.1")


# by policy and child, for the probes absent, present, differs, damaged, unknown
TABLE = {
    ("repeat", "none"): "repeat record-done repeat repeat repeat",
    ("repeat", "gone"): "repeat record-done repeat repeat repeat",
    ("repeat", "running"): "wait-child wait-child wait-child wait-child wait-child",
    ("repeat", "unknown"): "in-doubt in-doubt in-doubt in-doubt in-doubt",
    ("wait", "none"): "repeat record-done repeat repeat repeat",
    ("wait", "gone"): "repeat record-done repeat in-doubt in-doubt",
    ("wait", "running"): "wait-child wait-child wait-child wait-child wait-child",
    ("wait", "unknown"): "in-doubt in-doubt in-doubt in-doubt in-doubt",
}
PROBES = ("absent", "present", "differs", "damaged", "unknown")


@pytest.mark.parametrize(("policy", "child"), list(TABLE))
def test_the_whole_recovery_table(policy, child) -> None:
    for probe, action in zip(PROBES, TABLE[policy, child].split(), strict=True):
        assert recover(True, child, False, probe, policy) == action, probe
        assert recover(True, child, True, probe, policy) == "wait-child", "a living group is always waited for"
        assert recover(False, child, False, probe, policy) == "continue"


def test_a_vendor_installer_is_never_repeated_in_doubt() -> None:
    assert recover(True, "gone", False, "damaged", "wait") == "in-doubt"
    assert recover(True, "gone", False, "unknown", "wait") == "in-doubt"
