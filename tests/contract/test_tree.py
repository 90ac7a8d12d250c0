"""What holds for the whole tree: docstrings, sizes, no registry address, leaves that are complete."""

from __future__ import annotations

import ast
import re
import statistics
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from accel_install.cli.registry import COMMANDS
from accel_install.execute.kinds import known_kinds
from accel_install.recipe.load import list_recipes, load_recipe

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
# spelled in parts, so that this file does not hold what it looks for
REGISTRIES = re.compile("|".join(("py" + "pi.org", "python" + "hosted", "registry.npm" + "js", "deb.deb" + "ian.org")))


def functions(path: Path) -> list[ast.FunctionDef]:
    return [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.FunctionDef)]


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file()]


def test_no_address_of_a_public_registry_stands_anywhere() -> None:
    found = [str(p) for p in tracked() if REGISTRIES.search(p.read_bytes().decode("utf-8", "replace"))]
    assert found == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT / "src/accel_install")))
def test_every_module_says_what_lives_there(path: Path) -> None:
    tree = ast.parse(path.read_text())
    if path.name != "target_probe.py":  # runs in the oldest interpreters; its head comment says it
        assert ast.get_docstring(tree), "no module docstring"
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_") and path.name != "target_probe.py":
            assert ast.get_docstring(node), f"{node.name} has no docstring"


def test_sizes_are_kept() -> None:
    lines = {p: len(p.read_text().splitlines()) for p in SOURCES}
    assert max(lines.values()) <= 400, max(lines, key=lambda p: lines[p])
    assert statistics.median(lines.values()) < 180
    lengths = [(f.end_lineno or f.lineno) - f.lineno + 1 for p in SOURCES for f in functions(p)]
    assert max(lengths) <= 60
    assert statistics.median(lengths) <= 10
    assert sum(length < 30 for length in lengths) / len(lengths) >= 0.9


def test_every_command_of_the_table_exists_and_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text()
    for info in COMMANDS:
        path = ROOT / f"src/accel_install/cli/commands/{info.module}.py"
        assert path.is_file() and f"accel-install {info.name}" in readme, info.name


def test_every_kind_is_found_by_its_file_and_used_by_a_recipe() -> None:
    kinds = known_kinds()
    files = {p.stem for p in (ROOT / "src/accel_install/execute/kinds").glob("*.py")} - {"__init__", "base"}
    assert set(kinds) == files
    used = {step.kind for info in list_recipes() for step in load_recipe(info.name).recipe.steps}
    assert used == set(kinds)


def test_the_wheel_carries_the_recipes(tmp_path: Path) -> None:
    build = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", tmp_path, ROOT],
        capture_output=True,
        text=True,
    )
    assert build.returncode == 0, build.stderr
    names = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    assert "accel_install/_recipes/platforms/ascend-910b.yaml" in names
    assert "accel_install/_recipes/compatibility/ascend.yaml" in names and "accel_install/py.typed" in names
