"""Where promised files can be had today."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from resolve_fakes import FakeClient, digest, index_file

from accel_install.errors import BundleOrLockError, IndexUnavailableError, ResolutionError
from accel_install.plan.models import PlanWheel
from accel_install.resolve.locate import locate

SIX = "six-1.0-py3-none-any.whl"
PLUS = "torch-2.10.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl"


@dataclass(frozen=True)
class Wheel:
    name: str
    filename: str
    index: str = "default"
    sha256: str | None = None
    url: str | None = None


class FakeStore:
    def __init__(self, *names: str) -> None:
        self.names = names

    def has(self, sha256: str, filename: str) -> bool:
        return filename in self.names

    def path_for(self, sha256: str, filename: str) -> Path:
        return Path("/store") / sha256 / filename


def client() -> FakeClient:
    return FakeClient({"default": {"six": [SIX]}, "cpu": {"torch": [PLUS]}})


def test_files_are_found_on_their_own_index() -> None:
    wheels = [Wheel("torch", PLUS, "cpu", digest(PLUS)), Wheel("six", SIX, sha256=digest(SIX))]
    found = locate(wheels, client())
    assert [w.url for w in found] == [index_file(PLUS).url, index_file(SIX).url]
    assert [w.filename for w in found] == [PLUS, SIX]


def test_the_store_is_preferred_and_asks_no_index() -> None:
    source = client()
    (found,) = locate([Wheel("six", SIX, sha256=digest(SIX))], source, FakeStore(SIX))
    assert found.url == f"file:///store/{digest(SIX)}/{SIX}"
    assert source.asked == []


def test_extra_pages_are_preferred_over_the_index() -> None:
    source = client()
    source.extra = {"six": [("find-links-1", index_file(SIX))]}
    (found,) = locate([Wheel("six", SIX, "gone", digest(SIX))], source)
    assert found.url == index_file(SIX).url and source.asked == []


def test_pydantic_wheels_and_known_addresses_are_kept() -> None:
    wheel = PlanWheel(
        name="six", version="1.0", filename=SIX, url=None, index="default", sha256=digest(SIX), size_bytes=1, step="s"
    )
    (found,) = locate([wheel], client())
    assert isinstance(found, PlanWheel) and found.url == index_file(SIX).url and wheel.url is None
    known = wheel.model_copy(update={"url": "file:///x.whl"})
    assert locate([known], FakeClient({})) == [known]
    assert locate([], FakeClient({})) == []


def test_another_digest_is_never_taken() -> None:
    with pytest.raises(BundleOrLockError) as caught:
        locate([Wheel("six", SIX, sha256="0" * 64)], client())
    assert caught.value.slug == "lock.digest-differs"
    assert caught.value.value == digest(SIX) and caught.value.expected == "0" * 64


def test_what_is_gone_or_out_of_reach_is_named_all_at_once() -> None:
    gone = Wheel("six", "six-0.9-py3-none-any.whl", sha256="1" * 64)
    with pytest.raises(ResolutionError) as caught:
        locate([gone], client())
    assert caught.value.slug == "resolve.file-gone"
    with pytest.raises(IndexUnavailableError) as unreachable:
        locate([gone, Wheel("torch", PLUS, "nowhere", "2" * 64)], client())
    assert unreachable.value.value == f"{gone.filename}, {PLUS}"
