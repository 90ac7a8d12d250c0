"""The rehearsal: a scratch machine, the real command line, one kill, one forced override, and what became of them."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from accel_install.errors import AccelError, RecipeError
from accel_install.recipe.load import load_recipe
from accel_install.recipe.models import Recipe, Row
from accel_install.recipe.rows import complete_row, load_rows, rows_for
from accel_install.rehearse.marker import MARKER_FILE, MARKER_VARIABLE
from accel_install.rehearse.recipes import copy_recipes
from accel_install.rehearse.server import LoopbackIndex
from accel_install.rehearse.standins import StandInVersions, make_machine, make_packages
from accel_install.rehearse.watcher import Ended, run_and_kill, run_tool
from accel_install.rehearse.wheels import StandInWheel, build_wheel, stand_in_wheels

__all__ = ["RehearsalReport", "rehearse"]

_SUPPORTED = ("ascend-910b",)
_MOVED = StandInWheel("torch", "2.11.0")
_LICENCE = "Huawei EULA"


@dataclass
class RehearsalReport:
    """What happened: one entry per act with whether it went as it must."""

    recipe: str
    acts: list[dict[str, object]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Say whether every act went as it must."""
        return bool(self.acts) and all(act["ok"] for act in self.acts)

    def to_dict(self) -> dict[str, object]:
        """Return the JSON document."""
        return {"recipe": self.recipe, "ok": self.ok, "acts": self.acts, "seconds": round(self.seconds, 1), "stand_ins": True}


class _Stage:
    """The scratch machine and the way the tool is run on it."""

    def __init__(self, base: Path, recipe: Recipe, row: Row, tool: Sequence[str], out: Callable[[str], None]) -> None:
        self.base, self.recipe, self.tool, self.out = base, recipe, tool, out
        self.root = base / "machine"
        self.state = self.root / "var/lib/accel-install"
        self.packages = base / "vendor-packages"
        self.row = row
        self.report = RehearsalReport(recipe.name)
        self.options: list[str] = []

    @property
    def env(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("UV_", "PIP_", "ACCEL_INSTALL_", "PYTHON"))}
        own = {"ACCEL_INSTALL_CACHE_DIR": str(self.base / "cache"), "ACCEL_INSTALL_RECIPES": str(self.base / "recipes")}
        return {**kept, **own, MARKER_VARIABLE: "1", "NO_PROXY": "127.0.0.1", "HOME": str(self.base)}

    def call(self, *arguments: str) -> Ended:
        """Run the tool on the scratch machine."""
        return run_tool(self.tool, [*arguments, "--root", str(self.root)], self.env)

    def say(self, what: str, ok: bool, detail: str) -> None:
        """Note one act and print it."""
        self.report.acts.append({"act": what, "ok": ok, "detail": detail})
        self.out(f"{'ok   ' if ok else 'WRONG'} {what}: {detail}")


def rehearse(
    name: str,
    *,
    out: Callable[[str], None],
    keep: Path | None = None,
    tool: Sequence[str] = (sys.executable, "-m", "accel_install"),
) -> RehearsalReport:
    """Rehearse a recipe.

    Args:
        name: a recipe that stand-ins exist for.
        out: called with each line for people.
        keep: leave the scratch machine here instead of deleting it.
        tool: how the tool is started.

    Raises:
        RecipeError: there is no such recipe, or no stand-ins for it.
    """
    recipe = load_recipe(name).recipe
    if recipe.name not in _SUPPORTED:
        raise RecipeError(
            "recipe.no-stand-ins", f"recipe {recipe.name} cannot be rehearsed", value=recipe.name, expected=", ".join(_SUPPORTED)
        )
    started = time.monotonic()
    base = Path(tempfile.mkdtemp(prefix="accel-install-rehearsal-")) if keep is None else keep
    try:
        base.mkdir(parents=True, exist_ok=True)
        report = _play(base, recipe, tool, out)
    finally:
        if keep is None:
            shutil.rmtree(base, ignore_errors=True)
    report.seconds = time.monotonic() - started
    out(f"{'everything went as it must' if report.ok else 'SOMETHING WENT WRONG'}, {report.seconds:.1f} s")
    out("nothing of it is left on this machine" if keep is None else f"kept in {base}")
    return report


def _play(base: Path, recipe: Recipe, tool: Sequence[str], out: Callable[[str], None]) -> RehearsalReport:
    row = complete_row(next(r for r in rows_for(recipe) if r.status != "unverified"), load_rows(recipe.platform))
    stage = _Stage(base, recipe, row, tool, out)
    out(f"Rehearsal of {recipe.name}, row {row.id}, on a scratch machine. Everything vendor-made in it is a STAND-IN:")
    out("the .run packages, npu-smi, the cards on the bus, the wheels. The engine, uv, the journal and the kill are real.")
    folders = _prepare(stage)
    with LoopbackIndex(folders) as index:
        stage.options = [
            *(part for n in folders for part in ("--index", f"{n}={index.url(n)}")),
            *("--artifacts", str(stage.packages), "--row", row.id),
        ]
        for act in (_plan, _apply_and_kill, _resume, _apply_again, _override, _verify_finds, _repair, _verify_clean, _lock):
            try:
                act(stage)
            except (AccelError, OSError) as error:
                stage.say(act.__name__.strip("_").replace("_", " "), False, str(error))
    return stage.report


def _prepare(stage: _Stage) -> Mapping[str, Path]:
    arch = platform.machine()
    make_machine(stage.root, arch)
    (stage.root / MARKER_FILE).write_text("scratch machine of accel-install rehearse\n")
    copy_recipes(stage.base / "recipes", stage.row)
    cann = stage.row.version_of("cann") or "9.1.0"
    versions = StandInVersions("26.0.RC1", "7.7.0.9.220", cann, stage.row.version_of("nnal") or cann)
    packages = make_packages(stage.packages, versions, arch)
    wheels = _wheels(stage, arch)
    folders = {name: stage.base / "indexes" / name for name in ("default", "pytorch-cpu", "ascend")}
    for folder in folders.values():
        folder.mkdir(parents=True)
    for wheel in wheels:
        build_wheel(folders[wheel.index], wheel)
    stage.say("prepare", True, f"bare machine with 8 x 910B2, {len(packages)} .run files, {len(wheels)} wheels (stand-ins)")
    return folders


def _wheels(stage: _Stage, arch: str) -> list[StandInWheel]:
    versions = {k: v for k, v in stage.row.components.items() if isinstance(v, str)}
    return stand_in_wheels(versions, stage.recipe.packages["torch"].local.get(arch))


def _last(text: str, word: str = "") -> str:
    lines = [line for line in text.strip().splitlines() if word in line]
    return lines[-1] if lines else text.strip()[-300:]


def _plan(stage: _Stage) -> None:
    ended = stage.call("plan", stage.recipe.name, *stage.options)
    stage.say("plan", ended.returncode == 0, _last(ended.output, "to download"))
    for line in ended.output.splitlines():
        if " wants " in line:
            stage.out(f"        predicted override: {line.strip()}")


def _apply_arguments(stage: _Stage) -> list[str]:
    return ["apply", stage.recipe.name, *stage.options, "--accept-license", _LICENCE, "--yes", "--root", str(stage.root)]


def _apply_and_kill(stage: _Stage) -> None:
    sign = b'"step":"plugin"'
    ended = run_and_kill(stage.tool, _apply_arguments(stage), stage.env, stage.state / "journal.jsonl", sign)
    done = [line.partition(":")[0] for line in ended.output.splitlines() if line.endswith(": done")]
    detail = f"done before the kill: {', '.join(done)}; then kill -9 in step plugin" if ended.killed else _last(ended.output)
    stage.say("apply, killed", ended.killed, detail)


def _resume(stage: _Stage) -> None:
    ended = stage.call("resume", *_index_options(stage), "--accept-license", _LICENCE, "--yes")
    stage.say("resume", ended.returncode == 0, _last(ended.output, "done:"))


def _index_options(stage: _Stage) -> list[str]:
    return [o for o in stage.options if o == "--index" or "=http" in o]


def _apply_again(stage: _Stage) -> None:
    ended = run_tool(stage.tool, _apply_arguments(stage), stage.env)
    stage.say("apply again", ended.returncode == 0 and "nothing to do" in ended.output, _last(ended.output, "nothing to do"))


def _live(stage: _Stage) -> Path:
    return stage.state / "envs" / stage.recipe.name / "current"


def _override(stage: _Stage) -> None:
    """Install another torch over the pinned one, as a careless hand would: with real uv."""
    from uv import find_uv_bin

    wheel = build_wheel(stage.base, _MOVED)
    argv = ["pip", "install", "--no-config", "--offline", "--no-cache", "--python", str(_live(stage) / "bin/python"), str(wheel)]
    ended = run_tool([find_uv_bin()], argv, stage.env)
    stage.say("forced override", ended.returncode == 0, f"uv pip install {wheel.name} over the pin (uv ended {ended.returncode})")


def _verify_finds(stage: _Stage) -> None:
    ended = stage.call("verify")
    found = ended.returncode == 21 and "torch" in ended.output and _MOVED.version in ended.output
    stage.say("verify finds it", found, _last(ended.output, "pins."))


def _repair(stage: _Stage) -> None:
    ended = stage.call("repair", "--yes", *_index_options(stage))
    stage.say("repair", ended.returncode == 0, _last(ended.output, "done:"))


def _verify_clean(stage: _Stage) -> None:
    ended = stage.call("verify")
    stage.say("verify", ended.returncode == 0, _last(ended.output))


def _lock(stage: _Stage) -> None:
    locks = sorted((stage.state / "lockfiles").glob("*.lock.toml"))
    text = locks[0].read_text() if locks else ""
    good = "[[wheels]]" in text and "://" not in text
    stage.say("lockfile", good, f"{locks[0].name if locks else 'none'}, {text.count('[[wheels]]')} wheels, no address in it")
