"""Loading recipes: every problem at once with its place, names, digests, the graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from accel_install.errors import RecipeError
from accel_install.recipe.check import check
from accel_install.recipe.dag import ordered_steps, problems
from accel_install.recipe.load import list_recipes, load_recipe, recipes_dir
from accel_install.recipe.models import StepSpec
from accel_install.recipe.yaml_loader import load_yaml

GOOD = """schema: 1
name: t
title: t
platform: p
requirements: [torch]
packages:
  torch: {role: torch-family}
rows:
  - {platform: p, id: r, components: {torch: "1.0"}, source: s, date: d, status: published}
steps:
  - {id: a, kind: wheels, title: A, packages: [torch], closure: true}
"""


def problems_of(tmp_path: Path, text: str) -> list[tuple[int, str]]:
    path = tmp_path / "r.yaml"
    path.write_text(text)
    with pytest.raises(RecipeError) as caught:
        load_recipe(str(path))
    assert caught.value.slug == "recipe.malformed" and int(caught.value.exit_code) == 10
    return [(p["line"], p["message"]) for p in caught.value.details["problems"]]


@pytest.mark.parametrize("info", list_recipes(), ids=lambda i: i.name)
def test_every_shipped_recipe_is_sound_though_loading_trusts_it(info) -> None:
    assert check(load_recipe(info.name).recipe) == []
    assert load_recipe(info.name).recipe.name == info.path.stem
    assert load_recipe(info.name).recipe.sources, "a recipe says where its facts are from"


def test_all_problems_come_at_once_with_their_lines(tmp_path: Path) -> None:
    text = (
        GOOD.replace("requirements: [torch]", "requirements: ['torch !!']")
        .replace("  torch: {role: torch-family}", "  torch: {role: torch-family, index: nowhere}")
        .replace("packages: [torch], closure: true}", "packages: [torch, numpy], needs: [ghost]}")
    )
    found = problems_of(tmp_path, text)
    assert [line for line, _ in found] == [5, 7, 11, 11]
    text_of_all = " ".join(message for _, message in found)
    for word in ("torch !!", "nowhere", "numpy", "ghost"):
        assert word in text_of_all


def test_unknown_keys_wrong_types_and_missing_fields_have_places(tmp_path: Path) -> None:
    found = problems_of(tmp_path, GOOD.replace("title: t\n", "title: [1]\ncolour: red\n").replace("title: A, ", ""))
    assert {line for line, _ in found} == {3, 4, 12}


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("a: [1, 2\nb: 3\n", 2, "YAML"),
        (GOOD + "name: again\n", 12, "twice"),
        ("- just\n- a list\n", 1, "mapping"),
        (GOOD.replace("name: t", "name: !!python/object:os.system x"), 2, "tag"),
        ("", 1, "mapping"),
    ],
)
def test_yaml_that_is_no_recipe(tmp_path: Path, text: str, line: int, word: str) -> None:
    found = problems_of(tmp_path, text)
    assert any(at == line and word in message for at, message in found), found


def test_binary_is_no_recipe(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_bytes(bytes(range(256)) * 10)
    with pytest.raises(RecipeError):
        load_recipe(str(path))


def test_a_circle_is_a_problem(tmp_path: Path) -> None:
    steps = [StepSpec(id="a", kind="k", title="a", needs=["b"]), StepSpec(id="b", kind="k", title="b", needs=["a"])]
    assert any("circle" in p for p in problems(steps))
    with pytest.raises(ValueError, match="circle"):
        ordered_steps(steps)


def test_order_is_topological_and_else_that_of_the_file() -> None:
    steps = [
        StepSpec(id="late", kind="k", title="", needs=["first"]),
        StepSpec(id="x", kind="k", title=""),
        StepSpec(id="first", kind="k", title=""),
    ]
    assert [s.id for s in ordered_steps(steps)] == ["x", "first", "late"]


def test_an_unknown_name_offers_the_nearest() -> None:
    with pytest.raises(RecipeError) as caught:
        load_recipe("ascend-910")
    assert caught.value.slug == "recipe.unknown"
    assert "ascend-910b" in (caught.value.expected or "") and "ascend-910b" in (caught.value.hint or "")


def test_the_digest_is_of_the_content_not_of_the_spelling(tmp_path: Path) -> None:
    path = tmp_path / "r.yaml"
    path.write_text(GOOD)
    first = load_recipe(str(path)).digest
    path.write_text("# a comment\n" + GOOD.replace("requirements: [torch]", "requirements:\n  - torch"))
    assert load_recipe(str(path)).digest == first
    path.write_text(GOOD.replace("title: A", "title: B"))
    assert load_recipe(str(path)).digest != first


def test_compatibility_files_are_sound() -> None:
    for path in sorted((recipes_dir() / "compatibility").glob("*.yaml")):
        located = load_yaml(path)
        assert located.problems == []
        ids = [row["id"] for row in located.value["rows"]]
        assert len(ids) == len(set(ids)) and all(row["source"] and row["date"] for row in located.value["rows"])
