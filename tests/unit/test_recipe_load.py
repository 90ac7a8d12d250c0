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
def test_every_shipped_recipe_is_sound(info) -> None:
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


def test_faults_of_syntax_shape_and_meaning_come_in_one_answer(tmp_path: Path) -> None:
    text = (
        GOOD.replace("title: t\n", "title: t\ncolour: red\n")
        .replace("requirements: [torch]", "requirements: ['torch !!']")
        .replace("role: torch-family", "role: boss")
        .replace('{torch: "1.0"}', "{torch: 1.0}")
        .replace("closure: true}", "closure: true, needs: [a, ghost]}")
    )
    found = problems_of(tmp_path, text + "name: again\n")
    assert [line for line, _ in found] == [4, 6, 8, 10, 12, 12, 13]
    words = ("colour", "torch !!", "role", "write 1.0 in quotes", "circle", "ghost", "twice")
    for (_, message), word in zip(found, words, strict=True):
        assert word in message


def test_what_follows_from_a_broken_place_is_not_reported(tmp_path: Path) -> None:
    without_packages = GOOD.replace("packages:\n  torch: {role: torch-family}\n", "")
    assert [m for _, m in problems_of(tmp_path, without_packages)] == ["`packages`: is missing"]
    nameless = GOOD.replace("{id: a, ", "{") + "  - {id: b, kind: k, title: B, needs: [a]}\n"
    assert [m for _, m in problems_of(tmp_path, nameless)] == ["`steps.0.id`: is missing"]


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("schema: 1", "schema: 2", "schema 2"),
        ("closure: true}", "layer: cellar}", "cellar"),
        ("closure: true}", "params: {files: ['x_{ver}.run']}}", "{ver}.run"),
        ("closure: true}", "params: {files: ['x_{']}}", "pattern"),
        ("rows:", "foreign: [{pattern: '*', reason: r}]\nrows:", "every package"),
        ("rows:", "constraints: [{requirement: 'a b', reason: r}]\nrows:", "a b"),
        ("rows:", "overrides: [{requirement: a, reason: r, when_version: new}]\nrows:", "new"),
        ('{torch: "1.0"}', "{torch: latest}", "latest"),
        ("date: d,", "date: d, glibc: new,", "new"),
    ],
)
def test_what_the_shape_cannot_say(tmp_path: Path, old: str, new: str, word: str) -> None:
    found = problems_of(tmp_path, GOOD.replace(old, new))
    assert len(found) == 1 and word in found[0][1]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a: &a [1, 1]\n" + "".join(f"k{n}: &k{n} [*{'a' if n == 0 else f'k{n - 1}'}, *a]\n" for n in range(30)), "alias"),
        ("name: &a [*a]\n", "alias"),
        ("{a: " * 900 + "1" + "}" * 900, "deeper"),
        ("[" * 100_000, "YAML"),
        (GOOD.replace("[torch]\npack", "!!python/object/apply:os.system [torch]\npack"), "tag"),
        (GOOD + "? [a, b]\n: 1\n", "plain word"),
    ],
    ids=["laughs", "itself", "deep", "deeper", "tag on a list", "list as key"],
)
def test_hostile_yaml_is_refused_quickly(tmp_path: Path, text: str, word: str) -> None:
    assert any(word in message for _, message in problems_of(tmp_path, text))


def test_a_knot_of_steps_is_one_problem() -> None:
    ids = [f"s{n}" for n in range(25)]
    steps = [StepSpec(id=i, kind="k", title=i, needs=[j for j in ids if j != i]) for i in ids]
    assert len(problems(steps)) == 1


@pytest.mark.parametrize("name", ["x" * 300, "/" + "y" * 5000, "a\0b", ""])
def test_a_name_that_cannot_be_a_file_is_unknown(name: str) -> None:
    with pytest.raises(RecipeError) as caught:
        load_recipe(name)
    assert caught.value.slug == "recipe.unknown"


def test_recipes_of_another_folder_are_checked_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "platforms").mkdir()
    (tmp_path / "platforms/own.yaml").write_text(GOOD.replace("closure: true}", "closure: true, needs: [a]}"))
    monkeypatch.setenv("ACCEL_INSTALL_RECIPES", str(tmp_path))
    with pytest.raises(RecipeError) as caught:
        load_recipe("own")
    assert [p["line"] for p in caught.value.details["problems"]] == [11]
