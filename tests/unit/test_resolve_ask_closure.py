"""What the solver's failures become: a hole in the answer where nothing fits, an error where the solver could not work."""

from __future__ import annotations

from pathlib import Path

import pytest
from resolve_fakes import X64_34, FakeClient, FakeHttp, FakeSolver, no_solution

from accel_install.errors import AccelError, IndexUnavailableError, PreflightError
from accel_install.resolve.answer import Answer, answer
from accel_install.resolve.ask import wanted_of
from accel_install.resolve.ask_closure import with_closure
from accel_install.resolve.bound import Pages
from accel_install.resolve.offers import Offers

PAGES = {"m": {"top": ["top-1.0-py3-none-any.whl"], "below": ["below-1.1-py3-none-any.whl"]}}


def closed(tmp_path: Path, error: AccelError | None = None, **found: str) -> Answer:
    wanted, _ = wanted_of(["top"], X64_34, {})
    offers = Offers(Pages(FakeClient(PAGES)), ["m"], {})
    picks = answer(wanted, offers, X64_34, (), FakeHttp({}), tmp_path)
    solver = FakeSolver(found, {"top==1.0": error} if error else None)
    return with_closure(picks, wanted, offers, X64_34, ["https://m.example"], (), solver)


def test_the_closure_comes_after_what_was_asked_for(tmp_path: Path) -> None:
    found = closed(tmp_path, below="below-1.1-py3-none-any.whl")
    assert [w.filename for w in found.wheels] == ["top-1.0-py3-none-any.whl", "below-1.1-py3-none-any.whl"]
    assert not found.unresolved


@pytest.mark.parametrize(
    ("error", "reason"),
    [(no_solution("because of x"), "conflict"), (IndexUnavailableError("network.unreachable", "dead"), "index-unreachable")],
)
def test_no_set_and_no_index_are_holes(tmp_path: Path, error: AccelError, reason: str) -> None:
    found = closed(tmp_path, error)
    assert [u.reason for u in found.unresolved] == [reason] and found.wheels


def test_a_full_disk_is_no_conflict(tmp_path: Path) -> None:
    with pytest.raises(PreflightError):
        closed(tmp_path, PreflightError("preflight.cache-not-writable", "full"))


def test_a_version_that_the_owner_does_not_list_is_a_hole(tmp_path: Path) -> None:
    found = closed(tmp_path, below="below-2.0-py3-none-any.whl")
    assert [(u.name, u.reason) for u in found.unresolved] == [("below", "no-wheel")]
