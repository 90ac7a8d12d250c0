"""`accel-install lock`: write a machine's lockfile; check one, compare two."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from accel_install.cli import options as opt
from accel_install.cli.options import RunOptions
from accel_install.cli.output import print_json, report_error, say, write_file
from accel_install.errors import ExitCode, UsageError
from accel_install.lock.compare import diff_locks, lock_fits
from accel_install.lock.from_plan import lock_of
from accel_install.lock.names import lock_filename, machine_name
from accel_install.lock.read import load_lock
from accel_install.lock.write import lock_bytes

__all__ = ["command"]


def command(
    words: Annotated[list[str], typer.Argument(help="RECIPE, or `check LOCK`, or `diff A B`.")],
    machine: opt.MachineFile = None,
    arch: opt.Arch = None,
    python: opt.Python = None,
    glibc: opt.Glibc = None,
    musl: opt.Musl = None,
    os: opt.OsName = None,
    accelerator: opt.Accelerator = None,
    row: opt.Row = None,
    scope: opt.Scope = "host",
    root: opt.Root = Path("/"),
    env: opt.EnvPath = None,
    index: opt.Index = None,
    find_links: opt.FindLinks = None,
    artifacts: opt.Artifacts = None,
    requirements: opt.Requirements = None,
    offline: opt.Offline = False,
    refresh: opt.Refresh = False,
    state_dir: opt.StateDirOption = None,
    output: opt.Output = None,
    json: opt.Json = False,
) -> int:
    """Write the machine lockfile of a recipe, or check or compare lockfiles."""
    given = RunOptions.of(locals())
    if words[0] == "check" and len(words) == 2:
        return _check(Path(words[1]), given, json)
    if words[0] == "diff" and len(words) == 3:
        return _diff(Path(words[1]), Path(words[2]), json)
    if len(words) != 1 or words[0] in ("check", "diff"):
        raise UsageError(
            "usage.lock",
            "wrong arguments of `lock`",
            value=" ".join(words),
            expected="RECIPE, `check LOCK` or `diff A B`",
            hint="accel-install lock --help",
        )
    return _write(words[0], given, output, json)


def _write(recipe: str, given: RunOptions, output: Path | None, json: bool) -> int:
    from accel_install.cli.session import Session
    from accel_install.cli.show import plan_refusal
    from accel_install.cli.wiring import plan_with, situation
    from accel_install.recipe.load import load_recipe

    session = Session(given)
    plan = plan_with(session, load_recipe(recipe))
    facts = situation(session).facts
    name = machine_name(
        plan.recipe,
        plan.target,
        host=None if plan.described else session.host_name(),
        machine_file=given.machine.name if given.machine else None,
        described=plan.described,
    )
    path = output or Path("lockfiles") / lock_filename(name)
    lock = lock_of(plan, facts, tools=session.tools())
    write_file(path, lock_bytes(lock))
    refusal = plan_refusal(plan)
    document = {"lock": str(path), "digest": lock.digest, "complete": plan.complete, "wheels": len(lock.wheels)}
    if refusal is not None:
        if not json:
            say(f"{path}: {len(lock.wheels)} wheels, incomplete")
        return report_error(refusal, as_json=json, document=document)
    if json:
        print_json(document)
    else:
        say(f"{path}: {len(lock.wheels)} wheels")
    return int(ExitCode.OK)


def _check(path: Path, given: RunOptions, json: bool) -> int:
    from accel_install.cli.session import Session
    from accel_install.cli.wiring import situation

    lock = load_lock(path)
    about = situation(Session(given))
    problems = lock_fits(lock, about.facts, about.target)
    findings = [
        {"slug": p.slug, "severity": "fault", "expected": p.expected, "actual": p.actual, "detail": p.detail} for p in problems
    ]
    if json:
        print_json({"lock": str(path), "digest": lock.digest, "findings": findings})
    elif problems:
        for problem in problems:
            say(f"fault[{problem.slug}]: {problem.detail} (expected {problem.expected}, found {problem.actual})")
    else:
        say(f"{path}: sound, and fits this machine")
    return int(ExitCode.DRIFT if problems else ExitCode.OK)


def _diff(before: Path, after: Path, json: bool) -> int:
    found = diff_locks(load_lock(before), load_lock(after))
    if json:
        rows = [{"area": d.area, "name": d.name, "field": d.field, "before": d.before, "after": d.after} for d in found]
        print_json({"differences": rows})
    else:
        for d in found:
            say(f"{d.area} {d.name}{f' {d.field}' if d.field else ''}: {d.before} -> {d.after}")
        say(f"{len(found)} differences" if found else "no difference")
    return int(ExitCode.CHANGES if found else ExitCode.OK)
