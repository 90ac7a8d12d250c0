"""The journal: what happened, written before and after each act, one checked line per record.

A torn last line is what a power cut leaves: it is cut off and noted. Damage before the end is not explained by a cut, so the
journal is refused. Reading decides nothing; that is `recovery`'s.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from accel_install.digests import canonical_json
from accel_install.errors import JournalUnreadableError, StepFailedError
from accel_install.host.durable import append_durable

__all__ = ["Journal", "JournalContent", "Record", "read_journal"]

_VERSION = 1
_HEADER = "header"


@dataclass(frozen=True)
class Record:
    """One record. Types: header, run-started, intent, child, outcome, check, run-finished, run-failed."""

    seq: int
    type: str
    run_id: str | None = None
    step: str | None = None
    time: str = ""
    boot_id: str = ""
    data: dict[str, Any] = field(default_factory=dict)

    def line(self) -> bytes:
        """Return the line of the journal, with its checksum."""
        body = {
            "seq": self.seq,
            "type": self.type,
            "run_id": self.run_id,
            "step": self.step,
            "time": self.time,
            "boot_id": self.boot_id,
            "data": self.data,
        }
        return canonical_json({**body, "crc": zlib.crc32(canonical_json(body))}) + b"\n"


@dataclass(frozen=True)
class JournalContent:
    """All whole records, how many bytes they take, and how many bytes of a torn record follow."""

    records: tuple[Record, ...] = ()
    size_bytes: int = 0
    torn_bytes: int = 0

    def of_run(self, run_id: str) -> list[Record]:
        """Return the records of one run."""
        return [r for r in self.records if r.run_id == run_id]

    @property
    def last_run(self) -> str | None:
        """Id of the newest run, None before any."""
        return next((r.run_id for r in reversed(self.records) if r.type == "run-started"), None)


def read_journal(path: Path) -> JournalContent:
    """Read a journal; an absent one is empty.

    Raises:
        JournalUnreadableError: a record before the last is damaged, or the format is newer than this tool.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return JournalContent()
    except OSError as error:
        raise _unreadable(path, 0, f"cannot be read: {error.strerror}") from error
    records: list[Record] = []
    offset = 0
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        record = _parse(line)
        if record is None:
            if offset + len(line) < len(data):
                raise _unreadable(path, number, "is damaged, and it is not the last line")
            return JournalContent(tuple(records), offset, len(line))
        _check_version(path, record)
        records.append(record)
        offset += len(line)
    return JournalContent(tuple(records), offset)


def _parse(line: bytes) -> Record | None:
    if not line.endswith(b"\n"):
        return None
    try:
        body: dict[str, Any] = json.loads(line)
        crc = body.pop("crc")
        if zlib.crc32(canonical_json(body)) != crc:
            return None
        return Record(**body)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _check_version(path: Path, record: Record) -> None:
    if record.type == _HEADER and record.data.get("version") != _VERSION:
        raise _unreadable(path, 1, f"is of version {record.data.get('version')}, this tool reads {_VERSION}")


def _unreadable(path: Path, line: int, why: str) -> JournalUnreadableError:
    return JournalUnreadableError(
        "journal.unreadable",
        f"line {line} of the journal {why}",
        value=str(path),
        expected="whole records with right checksums",
        hint=f"keep it for analysis, then: mv {path} {path}.bad; accel-install apply decides by probing alone",
    )


class Journal:
    """The open journal of a run that holds the machine lock.

    Args:
        path: the file; made with its header when absent.
        clock: current time as RFC 3339 text.
        boot_id: of the running kernel.
    """

    def __init__(self, path: Path, clock: Callable[[], str], boot_id: str) -> None:
        self._path, self._clock, self._boot_id = path, clock, boot_id
        content = read_journal(path)
        if content.torn_bytes:
            _cut(path, content.size_bytes)
        self.torn_bytes = content.torn_bytes
        self._records = list(content.records)
        if not self._records:
            self._append(Record(0, _HEADER, time=clock(), boot_id=boot_id, data={"version": _VERSION}))

    @property
    def content(self) -> JournalContent:
        """Everything written so far."""
        return JournalContent(tuple(self._records))

    def write(self, type: str, run_id: str, step: str | None = None, **data: Any) -> Record:
        """Append one record; when this returns it is on disk.

        Raises:
            StepFailedError: it cannot be written; a run never acts without its journal.
        """
        return self._append(Record(self._records[-1].seq + 1, type, run_id, step, self._clock(), self._boot_id, data))

    def _append(self, record: Record) -> Record:
        try:
            append_durable(self._path, record.line())
        except OSError as error:
            raise _not_writable(self._path, error) from error
        self._records.append(record)
        return record


def _cut(path: Path, size_bytes: int) -> None:
    try:
        with path.open("r+b") as stream:
            stream.truncate(size_bytes)
    except OSError as error:
        raise _not_writable(path, error) from error


def _not_writable(path: Path, error: OSError) -> StepFailedError:
    return StepFailedError(
        "journal.not-writable",
        f"the journal cannot be written: {error.strerror}",
        value=str(path),
        expected="room and permission: nothing is done that is not journaled",
        hint="mend that, then accel-install resume",
    )
