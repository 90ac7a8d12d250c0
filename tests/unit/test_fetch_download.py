"""`Downloader`: resume, checks, faults of servers and disks, several at a time."""

from __future__ import annotations

import errno
import hashlib
import json
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fakes"))

from fetch_server import Exchange, serve

from accel_install.errors import (
    AccelError,
    IndexUnavailableError,
    InterruptedRunError,
    PreflightError,
    StepFailedError,
)
from accel_install.fetch import checks
from accel_install.fetch.download import Downloader
from accel_install.fetch.http import HttpClient
from accel_install.fetch.retry import RetryPolicy
from accel_install.fetch.store import ArtifactStore

BODY = b"PK\x03\x04" + bytes(range(256)) * 4000
SHA = hashlib.sha256(BODY).hexdigest()
NAME = "torch-2.10.0-cp311-cp311-manylinux_2_28_aarch64.whl"
HALF = len(BODY) // 2


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(tmp_path / "artifacts")


@pytest.fixture
def downloader(store: ArtifactStore) -> Iterator[Downloader]:
    client = HttpClient(timeout_s=5, policy=RetryPolicy(sleep=lambda seconds: None))
    downloader = Downloader(store, client, jobs=4)
    yield downloader
    downloader.close()
    client.close()


def _begun(store: ArtifactStore, content: bytes, validator: str | None = None) -> Path:
    """Leave a part behind as a killed run would."""
    store.parts_dir.mkdir(parents=True)
    part = store.parts_dir / f"{SHA}.part"
    part.write_bytes(content)
    if validator:
        (store.parts_dir / f"{SHA}.part.json").write_text(json.dumps({"validator": validator}))
    return part


def _files(store: ArtifactStore) -> list[str]:
    return sorted(str(p.relative_to(store.dir)) for p in store.dir.rglob("*") if p.is_file())


def _refusal(downloader: Downloader, url: str, name: str = NAME, **wanted: object) -> AccelError:
    with pytest.raises(AccelError) as caught:
        downloader.fetch(url, name, **wanted)  # type: ignore[arg-type]
    return caught.value


def test_a_file_ends_at_its_digest_and_is_not_asked_for_again(downloader: Downloader, store: ArtifactStore) -> None:
    with serve(lambda x: x.send_ranged(BODY)) as server:
        path = downloader.fetch(f"{server.url}/{NAME}", NAME, f"sha256:{SHA}", len(BODY))
        assert path == store.dir / "sha256" / SHA[:2] / SHA / NAME and path.read_bytes() == BODY
        assert downloader.fetch(f"{server.url}/{NAME}", NAME, SHA, len(BODY)) == path
        assert len(server.seen) == 1
    assert _files(store) == [f"sha256/{SHA[:2]}/{SHA}/{NAME}"]
    assert store.verify(SHA, NAME)
    path.write_bytes(b"PK damaged")
    assert store.has(SHA, NAME) and not store.verify(SHA, NAME)


def test_a_part_is_gone_on_with_under_its_validator(downloader: Downloader, store: ArtifactStore) -> None:
    _begun(store, BODY[:HALF], '"v1"')
    with serve(lambda x: x.send_ranged(BODY, '"v1"')) as server:
        downloader.fetch(f"{server.url}/x", NAME, SHA, len(BODY))
    asked = server.asked("/x")
    assert [(h["Range"], h["If-Range"]) for h in asked] == [(f"bytes={HALF}-", '"v1"')]


def test_a_file_that_changed_since_comes_whole(downloader: Downloader, store: ArtifactStore) -> None:
    _begun(store, b"PK old" * 1000, '"v0"')
    with serve(lambda x: x.send_ranged(BODY, '"v1"')) as server:
        assert downloader.fetch(f"{server.url}/x", NAME, SHA).read_bytes() == BODY
        assert len(server.seen) == 1


def test_a_bad_part_is_thrown_away_and_fetched_once_more(downloader: Downloader, store: ArtifactStore) -> None:
    _begun(store, b"PK wrong" + BODY[8:HALF])
    with serve(lambda x: x.send_ranged(BODY)) as server:
        assert downloader.fetch(f"{server.url}/x", NAME, SHA, len(BODY)).read_bytes() == BODY
        assert [h["Range"] for h in server.asked("/x")] == [f"bytes={HALF}-", None]


@pytest.mark.parametrize("size_known", [True, False])
def test_a_part_that_is_whole_or_too_long(downloader: Downloader, store: ArtifactStore, size_known: bool) -> None:
    part = _begun(store, BODY)
    with serve(lambda x: x.send_ranged(BODY) if x.start() < len(BODY) else x.send(416)) as server:
        size = len(BODY) if size_known else None
        downloader.fetch(f"{server.url}/x", NAME, SHA, size)
        assert len(server.seen) == (0 if size_known else 2)
        store.path_for(SHA, NAME).unlink()
        part.write_bytes(BODY + b"more")
        assert downloader.fetch(f"{server.url}/y", NAME, SHA, size).read_bytes() == BODY


def test_a_cut_connection_goes_on_where_it_stopped(downloader: Downloader) -> None:
    def handle(x: Exchange) -> None:
        if x.count == 1:
            x.send(200, BODY[:HALF], length=len(BODY), ETag='"v1"')
        else:
            x.send_ranged(BODY, '"v1"')

    with serve(handle) as server:
        assert downloader.fetch(f"{server.url}/x", NAME, None, None).read_bytes() == BODY
        assert len(server.asked("/x")) == 2
        assert server.asked("/x")[1]["If-Range"] == '"v1"'


def test_a_206_of_another_part_is_not_believed(downloader: Downloader, store: ArtifactStore) -> None:
    _begun(store, BODY[:HALF])

    def handle(x: Exchange) -> None:
        if "Range" in x.headers:
            x.send(206, BODY[7:], Content_Range=f"bytes 7-{len(BODY) - 1}/{len(BODY)}")
        else:
            x.send(200, BODY)

    with serve(handle) as server:
        assert downloader.fetch(f"{server.url}/x", NAME, SHA, len(BODY)).read_bytes() == BODY
        assert [h["Range"] for h in server.asked("/x")] == [f"bytes={HALF}-", None]


def test_a_server_that_dies_leaves_a_part_for_the_next_run(downloader: Downloader, store: ArtifactStore) -> None:
    def dying(x: Exchange) -> None:
        x.send(200, BODY[:HALF], length=len(BODY)) if x.count == 1 else x.reset()

    with serve(dying) as server:
        error = _refusal(downloader, f"{server.url}/x", sha256=SHA)
    assert error.slug == "network.unreachable"
    part = store.parts_dir / f"{SHA}.part"
    assert part.read_bytes() == BODY[:HALF] and not store.has(SHA, NAME)
    with serve(lambda x: x.send_ranged(BODY)) as server:
        assert downloader.fetch(f"{server.url}/x", NAME, SHA).read_bytes() == BODY
        assert server.asked("/x")[0]["Range"] == f"bytes={HALF}-"


@pytest.mark.parametrize(
    ("name", "content", "slug"),
    [
        (NAME, b"<!DOCTYPE html><title>Log in</title>", "download.not-a-wheel"),
        (NAME, b"\xef\xbb\xbf\n  <HTML>", "download.not-a-wheel"),
        ("Ascend-cann_9.0.0_linux-aarch64.run", b"PK\x03\x04", "download.not-a-wheel"),
        ("notes.txt", b"<html>", "download.not-a-wheel"),
        (NAME, BODY[:-1], "download.size-mismatch"),
        (NAME, BODY + b"x" * 10_000_000, "download.size-mismatch"),
        (NAME, b"PK" + BODY[:-2], "download.digest-mismatch"),
    ],
)
def test_what_is_not_the_file_is_refused_and_not_kept(
    downloader: Downloader, store: ArtifactStore, name: str, content: bytes, slug: str
) -> None:
    with serve(lambda x: x.send(200, content)) as server:
        error = _refusal(downloader, f"{server.url}/x", name, sha256=SHA, size_bytes=len(BODY))
        assert len(server.seen) == 1
    assert isinstance(error, StepFailedError) and error.slug == slug
    assert error.value and error.expected and error.hint
    assert _files(store) == []


def test_statuses(downloader: Downloader, store: ArtifactStore) -> None:
    with serve(lambda x: x.send(int(x.path[1:]))) as server:
        slugs = {status: _refusal(downloader, f"{server.url}/{status}").slug for status in (404, 401, 400, 503)}
        assert len(server.asked("/503")) == 3
    assert slugs == {
        404: "network.not-found",
        401: "network.refused",
        400: "network.bad-status",
        503: "network.unreachable",
    }
    assert _files(store) == []


def test_no_room_is_told_before_anything_comes(
    downloader: Downloader, store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(lambda x: x.send(200, BODY)) as server:
        error = _refusal(downloader, f"{server.url}/x", sha256=SHA, size_bytes=1 << 60)
        assert server.seen == []
        assert isinstance(error, PreflightError) and error.slug == "preflight.disk-full"
        assert error.details["needed_bytes"] == 1 << 60 > error.details["free_bytes"]
    with serve(lambda x: x.send(200, b"PK", length=1 << 60)) as server:
        assert _refusal(downloader, f"{server.url}/x", sha256=SHA).slug == "preflight.disk-full"
    assert _files(store) == []


def test_a_disk_that_fills_up_keeps_the_part(
    downloader: Downloader, store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: object, chunks: Iterator[bytes], offset: int) -> int:
        (store.parts_dir / f"{SHA}.part").write_bytes(next(iter(chunks)))
        raise OSError(errno.ENOSPC, "No space left on device")

    with serve(lambda x: x.send(200, BODY)) as server:
        with monkeypatch.context() as patch:
            patch.setattr("accel_install.fetch.transfer.Transfer._write", full)
            error = _refusal(downloader, f"{server.url}/x", sha256=SHA)
        assert isinstance(error, StepFailedError) and error.slug == "download.disk-full"
        assert str(checks._mount_of(store.dir)) in error.message
        assert (store.parts_dir / f"{SHA}.part").stat().st_size > 0 and not store.has(SHA, NAME)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    downloader = Downloader(ArtifactStore(tmp_path / "file"), HttpClient())
    error = _refusal(downloader, "http://127.0.0.1:9/x", sha256=SHA)
    assert isinstance(error, PreflightError) and error.slug == "preflight.cache-not-writable"


@pytest.mark.parametrize("name", ["../evil.whl", "a/b.whl", "", ".."])
def test_a_bad_name_never_becomes_a_path(downloader: Downloader, store: ArtifactStore, name: str) -> None:
    assert _refusal(downloader, "http://127.0.0.1:9/x", name).slug == "download.bad-name"
    assert _refusal(downloader, "http://127.0.0.1:9/x", NAME, sha256="../" + SHA).slug == "download.bad-name"
    assert not store.dir.exists()


def test_local_files_are_copied_and_verified(downloader: Downloader, store: ArtifactStore, tmp_path: Path) -> None:
    source = tmp_path / "download.bin"
    source.write_bytes(BODY)
    for url in (str(source), source.as_uri()):
        path = downloader.fetch(url, NAME, None, len(BODY))
        assert path == store.path_for(SHA, NAME) and source.read_bytes() == BODY
        path.unlink()
    assert _refusal(downloader, str(source), sha256="0" * 64).slug == "download.digest-mismatch"
    assert _refusal(downloader, str(source), size_bytes=3).slug == "download.size-mismatch"
    assert _refusal(downloader, str(tmp_path / "absent.whl")).slug == "network.not-found"
    source.write_bytes(b"<html>")
    assert _refusal(downloader, str(source)).slug == "download.not-a-wheel"
    assert _files(store) == []


def test_adding_a_file_heals_a_damaged_copy(store: ArtifactStore, tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(BODY)
    path = store.add_file(tmp_path / NAME, SHA)
    path.write_bytes(b"damaged")
    assert store.add_file(tmp_path / NAME, SHA) == path and store.verify(SHA, NAME)
    assert not store.verify("0" * 64, NAME) and not store.has(SHA, "other.whl")


def test_prefetch_runs_ahead_and_its_failures_wait_for_the_one_who_asks(downloader: Downloader) -> None:
    bodies = {f"/p{number}.whl": BODY + bytes([number]) for number in range(12)}
    items = [(path, path[1:], hashlib.sha256(body).hexdigest(), len(body)) for path, body in bodies.items()]
    with serve(lambda x: x.send(200, bodies[x.path]) if x.path in bodies else x.send(404)) as server:
        wanted = [(server.url + path, name, sha, size) for path, name, sha, size in items]
        missing = (f"{server.url}/absent.whl", "absent.whl", SHA, 1)
        downloader.prefetch([*wanted, missing])
        for url, name, sha, size in wanted:
            assert downloader.fetch(url, name, sha, size).read_bytes() == bodies["/" + name]
        with pytest.raises(IndexUnavailableError) as caught:
            downloader.fetch(*missing)
        assert caught.value.slug == "network.not-found"
        assert {path: len(server.asked(path)) for path in bodies} == dict.fromkeys(bodies, 1)


def test_close_stops_downloads_and_keeps_the_part(downloader: Downloader, store: ArtifactStore) -> None:
    half_sent, go_on = threading.Event(), threading.Event()

    def handle(x: Exchange) -> None:
        x.handler.send_response(200)
        x.handler.send_header("Content-Length", str(len(BODY)))
        x.handler.end_headers()
        x.handler.wfile.write(BODY[:HALF])
        half_sent.set()
        go_on.wait(20)
        x.handler.wfile.write(BODY[HALF:])

    with serve(handle) as server:
        downloader.prefetch([(f"{server.url}/x", NAME, SHA, len(BODY))])
        assert half_sent.wait(20)
        downloader.close()
        go_on.set()
        with pytest.raises(InterruptedRunError) as caught:
            downloader.fetch(f"{server.url}/x", NAME, SHA, len(BODY))
    assert caught.value.slug == "download.interrupted"
    assert not store.has(SHA, NAME)
    assert BODY.startswith((store.parts_dir / f"{SHA}.part").read_bytes())


def test_two_runs_share_one_download(store: ArtifactStore) -> None:
    with serve(lambda x: x.send(200, BODY)) as server:
        paths = []

        def run() -> None:
            client = HttpClient(timeout_s=20)
            paths.append(Downloader(store, client).fetch(f"{server.url}/x", NAME, SHA, len(BODY)))
            client.close()

        threads = [threading.Thread(target=run) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert paths == [store.path_for(SHA, NAME)] * 6
        assert len(server.seen) == 1
    assert list(store.parts_dir.iterdir()) == []
