"""Addresses, waiting times and headers: the pure parts of `fetch`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from pathlib import Path

import pytest

from accel_install.fetch.responses import ByteRange, StreamInfo, content_range
from accel_install.fetch.retry import RetryPolicy, TryAgain, retry_after_s
from accel_install.fetch.urls import local_path, origin_of, safe_url, scrub, split_credentials


def test_nothing_secret_is_shown() -> None:
    url = "https://user:s3cret@mirror.example:8443/simple/torch/?X-Sig=abc#frag"
    assert safe_url(url) == "https://mirror.example:8443/simple/torch/"
    assert scrub(f"cannot open {url!r} via http://u:p@proxy:1/") == (
        "cannot open 'https://mirror.example:8443/simple/torch/?X-Sig=abc#frag' via http://proxy:1/"
    )
    assert safe_url("https://mirror.example/@scope/pkg@1.0/") == "https://mirror.example/@scope/pkg@1.0/"


def test_credentials_are_split_off_and_decoded() -> None:
    bare, credentials = split_credentials("https://user%40corp:p%2Fw@Mirror.example:8443/x?y=1")
    assert (bare, credentials) == ("https://Mirror.example:8443/x?y=1", ("user@corp", "p/w"))
    assert split_credentials("https://mirror.example/x") == ("https://mirror.example/x", None)
    assert origin_of(bare) == "https://mirror.example:8443"
    assert origin_of("http://mirror.example:8443/") != origin_of(bare)


def test_local_paths() -> None:
    assert local_path("file:///opt/a%20b/x.whl") == Path("/opt/a b/x.whl")
    assert local_path("/opt/x.whl") == Path("/opt/x.whl")
    assert local_path("wheels/x.whl") == Path("wheels/x.whl")
    assert local_path("https://mirror.example/x.whl") is None


@pytest.mark.parametrize(
    ("value", "wait_s"),
    [(None, None), ("7", 7.0), ("-3", 0.0), ("soon", None), ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0)],
)
def test_retry_after(value: str | None, wait_s: float | None) -> None:
    assert retry_after_s(value) == wait_s


def test_retry_after_of_a_coming_date() -> None:
    later = datetime.now(timezone.utc) + timedelta(seconds=100)
    wait_s = retry_after_s(format_datetime(later, usegmt=True))
    assert wait_s is not None and 50 < wait_s <= 100


def failing(*errors: TryAgain) -> Callable[[], str]:
    left = iter(errors)

    def attempt() -> str:
        for error in left:
            raise error
        return "done"

    return attempt


def test_waits_grow_with_jitter_and_what_the_server_asks_is_obeyed() -> None:
    waits: list[float] = []
    policy = RetryPolicy(attempts=5, first_wait_s=0.5, sleep=waits.append)
    attempt = failing(TryAgain("a"), TryAgain("b"), TryAgain("c", wait_s=4.0), TryAgain("d", wait_s=30.0))
    assert policy.call(attempt, lambda error: False) == "done"
    assert 0.5 <= waits[0] <= 1.0 and 1.0 <= waits[1] <= 1.5 and waits[2:] == [4.0, 30.0]


def test_jitter_differs_from_run_to_run() -> None:
    waits: list[float] = []
    for _ in range(4):
        RetryPolicy(sleep=waits.append).call(failing(TryAgain("a")), lambda error: False)
    assert len(set(waits)) > 1


def test_a_wait_beyond_the_bound_is_not_begun() -> None:
    waits: list[float] = []
    with pytest.raises(TryAgain, match="busy"):
        RetryPolicy(sleep=waits.append).call(failing(TryAgain("busy", wait_s=3600.0)), lambda error: False)
    assert waits == []
    with pytest.raises(TryAgain, match="second"):
        policy = RetryPolicy(sleep=waits.append, total_wait_s=50)
        policy.call(failing(TryAgain("first", wait_s=30.0), TryAgain("second", wait_s=30.0)), lambda error: False)
    assert waits == [30.0]


def test_other_errors_are_final() -> None:
    calls = []

    def attempt() -> None:
        calls.append(1)
        raise KeyError("bug")

    with pytest.raises(KeyError):
        RetryPolicy(sleep=lambda s: None).call(attempt, lambda error: False)
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("bytes 5-9/100", ByteRange(5, 9, 100)),
        ("bytes 0-0/*", ByteRange(0, 0, None)),
        ("bytes */100", None),
        ("pages 1-2/3", None),
        ("", None),
    ],
)
def test_content_range(value: str, wanted: ByteRange | None) -> None:
    assert content_range({"content-range": value}) == wanted


def test_only_a_strong_validator_is_kept() -> None:
    assert StreamInfo.of(200, {"etag": '"a"', "last-modified": "x"}).validator == '"a"'
    assert StreamInfo.of(200, {"etag": 'W/"a"', "last-modified": "x"}).validator == "x"
    assert StreamInfo.of(200, {"etag": 'W/"a"'}).validator is None
    assert StreamInfo.of(206, {"content-range": "bytes 5-9/10", "content-length": "5"}).total_bytes == 10
