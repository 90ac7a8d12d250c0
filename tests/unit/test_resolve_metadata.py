"""METADATA of wheels: `.metadata`, ranges of the zip, the whole file; local files; the cache."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from accel_install.errors import IndexUnavailableError, ResolutionError
from accel_install.resolve.metadata import WheelMetadata, parse_metadata, read_many, read_metadata
from accel_install.resolve.models import IndexFile
from accel_install.resolve.zip_tail import RangeFile

URL = "https://idx.example/files/demo-1.0-py3-none-any.whl"
SHA = "ab" * 32
TEXT = b"""Metadata-Version: 2.1
Name: Demo_Pkg
Version: 1.0
Requires-Python: >=3.10
Requires-Dist: torch==2.10.0
Requires-Dist: numpy<2 ;
 python_version < "3.12"
Provides-Extra: Audio_X
Description-Content-Type: text/markdown

Requires-Dist: not-a-field
"""


def wheel_bytes(padding: int = 0) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("demo/_vendor/other-9.dist-info/METADATA", "Name: other\nVersion: 9\n\n")
        archive.writestr("demo/data.bin", bytes(range(256)) * (padding // 256))
        archive.writestr("demo-1.0.dist-info/METADATA", TEXT)
    return stream.getvalue()


@dataclass
class Answer:
    status: int
    content: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class FakeHttp:
    """A server that serves what it is told to, and remembers what it was asked."""

    def __init__(self, body: bytes, metadata: bytes | None = None, ranges: bool = True) -> None:
        self.body, self.metadata, self.ranges = body, metadata, ranges
        self.asked: list[str] = []

    def get(self, url: str) -> Answer:
        self.asked.append("metadata" if url.endswith(".metadata") else "get")
        if url.endswith(".metadata"):
            return Answer(404) if self.metadata is None else Answer(200, self.metadata)
        return Answer(200, self.body)

    def get_range(self, url: str, start: int, end: int) -> Answer:
        self.asked.append("range")
        if not self.ranges:
            return Answer(200)
        part = self.body[start : end + 1]
        return Answer(206, part, {"content-range": f"bytes {start}-{start + len(part) - 1}/{len(self.body)}"})

    def stream_to(self, url: str, path: Path) -> None:
        self.asked.append("whole")
        path.write_bytes(self.body)


def test_metadata_is_parsed_leniently() -> None:
    found = parse_metadata(TEXT.replace(b"\n", b"\r\n"))
    assert found == WheelMetadata(
        "demo-pkg",
        "1.0",
        ("torch==2.10.0", 'numpy<2 ; python_version < "3.12"'),
        ">=3.10",
        ("audio-x",),
    )


def test_text_without_a_name_is_not_metadata() -> None:
    with pytest.raises(ValueError, match="Name"):
        parse_metadata(b"<html>no</html>")


def test_metadata_address_is_tried_first_although_the_page_is_silent(tmp_path: Path) -> None:
    http = FakeHttp(wheel_bytes(), metadata=TEXT)
    assert read_metadata(IndexFile("demo.whl", URL), http, tmp_path).name == "demo-pkg"
    assert http.asked == ["metadata"]


def test_an_html_answer_is_not_taken_for_metadata(tmp_path: Path) -> None:
    http = FakeHttp(wheel_bytes(), metadata=b"<!doctype html><p>login</p>")
    assert read_metadata(IndexFile("demo.whl", URL), http, tmp_path).version == "1.0"
    assert "range" in http.asked


def test_a_page_that_denies_metadata_is_believed(tmp_path: Path) -> None:
    http = FakeHttp(wheel_bytes())
    read_metadata(IndexFile("demo.whl", URL, has_metadata=False), http, tmp_path)
    assert "metadata" not in http.asked and "whole" not in http.asked


@pytest.mark.parametrize("size_known", [True, False])
def test_only_the_tail_of_a_big_wheel_is_read(tmp_path: Path, size_known: bool) -> None:
    body = wheel_bytes(padding=1 << 20)
    http = FakeHttp(body)
    file = IndexFile("demo.whl", URL, size_bytes=len(body) if size_known else None)
    assert read_metadata(file, http, tmp_path).requires_dist[0] == "torch==2.10.0"
    assert http.asked == ["metadata"] + ["range"] * (1 if size_known else 2)


def test_a_server_without_ranges_gives_the_whole_file(tmp_path: Path) -> None:
    http = FakeHttp(wheel_bytes(), ranges=False)
    assert read_metadata(IndexFile("demo.whl", URL, size_bytes=10), http, tmp_path).name == "demo-pkg"
    assert http.asked[-1] == "whole"


def test_a_local_wheel_is_opened_directly(tmp_path: Path) -> None:
    path = tmp_path / "demo a.whl"
    path.write_bytes(wheel_bytes())
    http = FakeHttp(b"")
    assert read_metadata(IndexFile("demo a.whl", path.as_uri()), http, tmp_path).name == "demo-pkg"
    assert read_metadata(IndexFile("demo a.whl", str(path)), http, tmp_path, offline=True).name == "demo-pkg"
    assert http.asked == []


def test_a_broken_wheel_is_an_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "bad.whl"
    path.write_bytes(b"not a zip")
    with pytest.raises(ResolutionError) as caught:
        read_metadata(IndexFile("bad.whl", path.as_uri()), FakeHttp(b""), tmp_path)
    assert caught.value.slug == "resolve.metadata-unreadable"


def test_an_answer_is_cached_by_digest_for_ever(tmp_path: Path) -> None:
    file = IndexFile("demo.whl", URL, sha256=SHA)
    first = read_metadata(file, FakeHttp(wheel_bytes(), metadata=TEXT), tmp_path)
    silent = FakeHttp(b"")
    assert read_metadata(file, silent, tmp_path, offline=True) == first
    assert silent.asked == []


def test_a_damaged_cache_entry_is_read_anew(tmp_path: Path) -> None:
    entry = tmp_path / "metadata" / f"{SHA}.json"
    entry.parent.mkdir()
    for damage in ("{", json.dumps({"name": "x"}), "[]"):
        entry.write_text(damage)
        http = FakeHttp(wheel_bytes(), metadata=TEXT)
        assert read_metadata(IndexFile("demo.whl", URL, sha256=SHA), http, tmp_path).name == "demo-pkg"


def test_offline_without_a_cached_answer_is_named(tmp_path: Path) -> None:
    with pytest.raises(IndexUnavailableError) as caught:
        read_metadata(IndexFile("demo.whl", URL, sha256=SHA), FakeHttp(b""), tmp_path, offline=True)
    assert caught.value.slug == "network.offline" and "demo.whl" in caught.value.message


def test_many_are_read_and_errors_are_values(tmp_path: Path) -> None:
    good = IndexFile("demo.whl", URL, sha256=SHA)
    bad = tmp_path / "bad.whl"
    bad.write_bytes(b"junk")
    found = read_many([good, IndexFile("bad.whl", bad.as_uri())], FakeHttp(wheel_bytes(), metadata=TEXT), tmp_path)
    assert isinstance(found["demo.whl"], WheelMetadata)
    assert isinstance(found["bad.whl"], ResolutionError)


def test_a_range_file_reads_like_a_file() -> None:
    body = bytes(range(256)) * 1024
    view = RangeFile(len(body), lambda start, end: body[start : end + 1])
    assert view.seek(-10, io.SEEK_END) == len(body) - 10
    assert view.read() == body[-10:] and view.read(5) == b""
    view.seek(1000)
    assert view.read(70_000) == body[1000:71_000] and view.tell() == 71_000


def test_a_short_range_is_an_error() -> None:
    view = RangeFile(1000, lambda start, end: b"short")
    with pytest.raises(OSError, match="range"):
        view.read(10)
