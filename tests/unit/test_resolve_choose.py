"""The choice of a row: order, what was asked for, proposals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from resolve_fakes import (
    A64_28,
    A64_34,
    CLOSURE,
    DEFAULT_PAGES,
    REQUIRES,
    FakeClient,
    FakeHttp,
    FakeSolver,
    fake_recipe,
    no_solution,
)

from accel_install.errors import ExitCode, RecipeError, ResolutionError
from accel_install.facts.target import Target
from accel_install.resolve.choose import RowChoice, choose_row


def choose(
    tmp_path: Path,
    target: Target = A64_34,
    requested: str | None = None,
    *,
    client: FakeClient | None = None,
    solver: FakeSolver | None = None,
    recipe: Any = None,
    **options: Any,
) -> RowChoice:
    return choose_row(
        recipe or fake_recipe(),
        target,
        requested,
        client=client or FakeClient({"default": DEFAULT_PAGES}),
        http=FakeHttp(REQUIRES),
        cache_dir=tmp_path,
        solver=solver or FakeSolver(CLOSURE),
        **options,
    )


def test_the_newest_final_row_wins(tmp_path: Path) -> None:
    chosen = choose(tmp_path)
    assert chosen.row.id == chosen.resolution.row_id == "row-0.23.0"


def test_a_row_that_is_passed_over_is_named_with_the_reason(tmp_path: Path) -> None:
    chosen = choose(tmp_path, A64_28)
    assert chosen.row.id == "row-0.18.0"
    (note,) = [w for w in chosen.warnings if "passed over" in w]
    assert "row-0.23.0" in note and "glibc" in note and "2.34" in note


def test_an_unknown_row_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(RecipeError) as caught:
        choose(tmp_path, requested="nope")
    assert caught.value.slug == "recipe.unknown-row"
    assert caught.value.expected is not None and "row-0.18.0" in caught.value.expected


def test_a_requested_row_is_taken_although_newer_ones_fit(tmp_path: Path) -> None:
    assert choose(tmp_path, requested="row-0.18.0").row.id == "row-0.18.0"


def test_a_requested_misfit_names_the_newest_final_and_prerelease_that_fit(tmp_path: Path) -> None:
    with pytest.raises(ResolutionError) as caught:
        choose(tmp_path, A64_28, "row-0.23.0")
    error = caught.value
    assert error.slug == "resolve.row-does-not-fit" and error.exit_code == ExitCode.NO_RESOLUTION
    assert "2.34" in error.message and "2.28" in error.message
    assert error.hint == "--row row-0.18.0 or --row row-0.19.1rc1"
    assert error.details["proposals"] == {"final": "row-0.18.0", "prerelease": "row-0.19.1rc1"}
    assert any(r["reason"] == "glibc" for r in error.details["rejected"])


def test_proposals_must_have_a_solvable_closure(tmp_path: Path) -> None:
    solver = FakeSolver(CLOSURE, {"vllm==0.18.0": no_solution("too old")})
    with pytest.raises(ResolutionError) as caught:
        choose(tmp_path, A64_28, "row-0.23.0", solver=solver)
    assert caught.value.details["proposals"] == {"final": None, "prerelease": "row-0.19.1rc1"}
    assert caught.value.hint == "--row row-0.19.1rc1"


def test_no_row_at_all_says_why_for_each(tmp_path: Path) -> None:
    solver = FakeSolver(CLOSURE, {f"vllm==0.{v}": no_solution("broken") for v in ("23.0", "19.1", "18.0")})
    with pytest.raises(ResolutionError) as caught:
        choose(tmp_path, solver=solver)
    assert caught.value.slug == "resolve.no-row-fits"
    assert caught.value.value is not None and caught.value.value.count("broken") == 3


def test_static_misfits_cost_no_look_at_an_index(tmp_path: Path) -> None:
    client = FakeClient({"default": DEFAULT_PAGES})
    with pytest.raises(ResolutionError):
        choose(tmp_path, Target("aarch64", "3.9", "glibc", "2.34"), client=client)
    assert client.asked == []


def test_an_index_out_of_reach_shows_everything_of_the_first_row(tmp_path: Path) -> None:
    chosen = choose(tmp_path, client=FakeClient({}))
    assert chosen.row.id == "row-0.23.0"
    assert {u.reason for u in chosen.resolution.unresolved} == {"index-unreachable"}


def test_a_dead_index_is_asked_once(tmp_path: Path) -> None:
    client = FakeClient({"default": DEFAULT_PAGES})
    choose(tmp_path, client=client)
    assert client.asked.count(("vendor", "triton-ascend")) == 1


def test_a_second_plan_does_not_ask_the_solver(tmp_path: Path) -> None:
    first, second = FakeSolver(CLOSURE), FakeSolver({})
    assert choose(tmp_path, solver=first).resolution == choose(tmp_path, solver=second).resolution
    assert first.requests and not second.requests
    third = FakeSolver(CLOSURE)
    choose(tmp_path, solver=third, refresh=True)
    assert third.requests
