"""`HttpClient` against a real loopback server with faults."""

from __future__ import annotations

import base64
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fakes"))

from fetch_server import Exchange, serve

from accel_install.errors import IndexUnavailableError
from accel_install.fetch.http import HttpClient
from accel_install.fetch.retry import RetryPolicy

BODY = bytes(range(256)) * 40


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def client(waits: list[float]) -> Iterator[HttpClient]:
    client = HttpClient(timeout_s=5, policy=RetryPolicy(sleep=waits.append))
    yield client
    client.close()


def test_a_page_is_returned_whole_with_lower_case_headers(client: HttpClient) -> None:
    with serve(lambda x: x.send(200, BODY, Content_Type="text/html", ETag='"1"')) as server:
        answer = client.get(f"{server.url}/simple/torch/", headers={"Accept": "text/html"})
    assert (answer.status, answer.content, answer.url) == (200, BODY, f"{server.url}/simple/torch/")
    assert answer.headers["content-type"] == "text/html" and answer.headers["etag"] == '"1"'
    assert server.asked("/simple/torch/")[0]["Accept"] == "text/html"


def test_error_statuses_are_returned_not_raised(client: HttpClient, waits: list[float]) -> None:
    with serve(lambda x: x.send(404, b"gone")) as server:
        assert client.get(f"{server.url}/x").status == 404
        assert len(server.asked("/x")) == 1 and waits == []


def test_a_busy_server_is_asked_again_after_the_time_it_names(client: HttpClient, waits: list[float]) -> None:
    def handle(x: Exchange) -> None:
        x.send(200, b"ok") if x.count == 3 else x.send(429, Retry_After="2" if x.count == 1 else "30")

    with serve(handle) as server:
        assert client.get(f"{server.url}/x").content == b"ok"
    assert waits == [2.0, 30.0]


def test_a_server_that_stays_busy_is_reported_by_its_status(client: HttpClient) -> None:
    with serve(lambda x: x.send(503, b"later")) as server:
        answer = client.get(f"{server.url}/x")
        assert (answer.status, answer.content) == (503, b"later")
        assert len(server.asked("/x")) == 3


def test_reset_and_short_bodies_are_tried_again(client: HttpClient) -> None:
    def handle(x: Exchange) -> None:
        if x.count == 1:
            x.reset()
        elif x.count == 2:
            x.send(200, BODY[:100], length=len(BODY))
        else:
            x.send(200, BODY)

    with serve(handle) as server:
        assert client.get(f"{server.url}/x").content == BODY
        assert len(server.asked("/x")) == 3


def test_no_answer_names_the_address_without_its_secrets(client: HttpClient) -> None:
    with serve(lambda x: x.reset()) as server:
        url = server.url.replace("http://", "http://user:s3cret@") + "/simple/?token=t0ken"
        with pytest.raises(IndexUnavailableError) as caught:
            client.get(url)
    error = caught.value
    assert error.slug == "network.unreachable" and error.exit_code == 13
    assert error.value == f"{server.url}/simple/"
    assert error.expected == "an answer within 5 s"
    chain = repr(error.__cause__) + error.render() + repr(error.to_dict())
    assert "s3cret" not in chain and "t0ken" not in chain and error.__suppress_context__


def test_an_address_where_nobody_listens(client: HttpClient, waits: list[float]) -> None:
    with serve(lambda x: x.send(200)) as server:
        dead = server.url
    with pytest.raises(IndexUnavailableError) as caught:
        client.get(dead)
    assert caught.value.slug == "network.unreachable" and len(waits) == 2


@pytest.mark.parametrize("url", ["gopher://mirror.example/x", "http://[bad/x", "http://mirror.example:port/"])
def test_an_address_that_is_none(client: HttpClient, url: str) -> None:
    with pytest.raises(IndexUnavailableError) as caught:
        client.get(url)
    assert caught.value.slug == "network.bad-url"


def test_a_proxy_that_is_none(client: HttpClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "gopher://user:s3cret@proxy.example:1")
    with pytest.raises(IndexUnavailableError) as caught:
        client.get("https://mirror.example/")
    assert caught.value.slug == "network.bad-proxy" and "s3cret" not in caught.value.render()


def test_credentials_go_to_their_origin_only_and_are_remembered_there(client: HttpClient) -> None:
    with serve(lambda x: x.send(200)) as other:

        def handle(x: Exchange) -> None:
            x.send(302, Location=f"{other.url}/moved") if x.path == "/away" else x.send(200)

        with serve(handle) as server:
            with_user = server.url.replace("http://", "http://user:s3cret@")
            assert client.get(f"{with_user}/simple/").url == f"{server.url}/simple/"
            client.get(f"{server.url}/file.whl")
            assert client.get(f"{server.url}/away").url == f"{other.url}/moved"
        expected = "Basic " + base64.b64encode(b"user:s3cret").decode()
        assert [h["Authorization"] for _, h in server.seen] == [expected] * 3
        assert [h["Authorization"] for _, h in other.seen] == [None]


def test_ranges(client: HttpClient, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(BODY)

    def handle(x: Exchange) -> None:
        first, last = x.headers["Range"].removeprefix("bytes=").split("-")
        start = int(first) if first else len(BODY) - int(last)
        end = int(last) if first and last else len(BODY) - 1
        x.send(206, BODY[start : end + 1], Content_Range=f"bytes {start}-{end}/{len(BODY)}")

    with serve(handle) as server:
        for url in (f"{server.url}/file", str(tmp_path / "file"), (tmp_path / "file").as_uri()):
            assert client.get_range(url, 10, 19).content == BODY[10:20]
            assert client.get_range(url, 10000).content == BODY[10000:]
            tail = client.get_range(url, -7)
            assert (tail.status, tail.content) == (206, BODY[-7:])
            assert tail.headers["content-range"].endswith(f"/{len(BODY)}")


def test_another_range_than_asked_is_refused(client: HttpClient) -> None:
    with serve(lambda x: x.send(206, BODY[:10], Content_Range=f"bytes 0-9/{len(BODY)}")) as server:
        with pytest.raises(IndexUnavailableError) as caught:
            client.get_range(f"{server.url}/x", 10, 19)
        with pytest.raises(IndexUnavailableError):
            client.get_range(f"{server.url}/x", -10)
    assert caught.value.slug == "network.bad-range"


def test_a_server_without_ranges_is_not_read_to_the_end(client: HttpClient) -> None:
    with serve(lambda x: x.send(200, BODY)) as server:
        answer = client.get_range(f"{server.url}/x", 0, 9)
    assert (answer.status, answer.content) == (200, b"")


def test_local_folders_and_files(client: HttpClient, tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/index.html").write_text("<a href='x.whl'>x</a>")
    page = client.get(f"{tmp_path.as_uri()}/torch/")
    assert (page.status, page.headers["content-type"]) == (200, "text/html")
    assert page.url == f"{tmp_path.as_uri()}/torch/"
    assert client.get(str(tmp_path / "torch")).content == page.content
    assert client.get(str(tmp_path / "numpy")).status == 404
    assert client.get_range(str(tmp_path / "numpy"), 0, 1).status == 404
    assert client.get_range(str(tmp_path / "torch/index.html"), 5000).status == 416


def test_importing_the_module_does_not_import_the_library() -> None:
    code = "import sys, accel_install.fetch.download; print('httpx' in sys.modules, 'tenacity' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
