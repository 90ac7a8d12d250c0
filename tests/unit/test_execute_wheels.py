"""Wheels steps by real uv into a real environment: damage of every kind is seen by looking, and healed to the same tree."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from local_stack import tree_of
from real_envs import uv_install
from tiny_wheels import make_wheel

from accel_install.digests import sha256_file
from accel_install.errors import PreflightError, StepFailedError
from accel_install.execute.api import ApplyOptions, EngineDeps, apply_plan, probe_steps, resume_run
from accel_install.execute.journal import read_journal
from accel_install.facts.models import MachineFacts
from accel_install.host.clock import now_utc
from accel_install.host.local import LocalHost
from accel_install.plan.models import Plan, PlanStep, PlanWheel

PYTHON = f"{sys.version_info[0]}.{sys.version_info[1]}"


class Folder:
    """A downloader of addresses of files."""

    def fetch(self, url: str, filename: str, sha256: str | None, size_bytes: int | None) -> Path:
        return Path(urlsplit(url).path)

    def prefetch(self, items: object) -> None:
        pass

    def close(self) -> None:
        pass


def make_links(links: Path) -> Path:
    make_wheel(links, "base", "1.0", files={"base/__init__.py": "x = 1\n", "base/data.txt": "d" * 5000})
    make_wheel(links, "app", "2.0", ["base==9.0"], files={"app/__init__.py": "", **{f"app/m{n}.py": "y\n" for n in range(300)}})
    make_wheel(links, "fork", "3.2", files={"contested/__init__.py": "owner = 'fork'\n"})
    make_wheel(links, "base", "2.0")
    make_wheel(links, "upstream", "9.0", files={"contested/__init__.py": "owner = 'upstream'\n", "contested/more.py": ""})
    return links


def wheel(links: Path, name: str, version: str, step: str) -> PlanWheel:
    path = links / f"{name}-{version}-py3-none-any.whl"
    size = path.stat().st_size
    return PlanWheel(
        name=name, version=version, filename=path.name, url=path.as_uri(), index="default", sha256=sha256_file(path),
        size_bytes=size, step=step,
    )  # fmt: skip


def plan(links: Path) -> Plan:
    steps = [
        PlanStep(id="python-env", kind="python_env", title="Python environment"),
        PlanStep(id="base", kind="wheels", title="base", protects=["*"]),
        PlanStep(id="app", kind="wheels", title="app", protects=["*"]),
        PlanStep(id="fork", kind="wheels_nodeps", title="fork", protects=["*"]),
    ]
    wheels = [wheel(links, "base", "1.0", "base"), wheel(links, "app", "2.0", "app"), wheel(links, "fork", "3.2", "fork")]
    family = {"module": "contested", "provider": "fork", "members": ["fork", "upstream"], "reason": "both own contested"}
    target = {"python": PYTHON, "scope": "python"}
    return Plan(
        recipe="t", stack="t", row="r", target=target, complete=True, steps=steps, wheels=wheels, exclusive=[family],
        python_executable=sys.executable,
    )  # fmt: skip


def run(state: Path, links: Path, *, resume: bool = False, **more: object):
    options, deps = ApplyOptions(state, **more), EngineDeps(Folder(), MachineFacts, now_utc)
    return resume_run(LocalHost(), options, deps) if resume else apply_plan(LocalHost(), plan(links), options, deps)


@pytest.fixture(scope="module")
def links(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_links(tmp_path_factory.mktemp("links"))


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def site(state: Path) -> Path:
    return next((state / "envs/t/gen-1/lib").glob("python*/site-packages"))


def test_exactly_the_planned_files_are_installed_and_a_second_run_keeps_them(state: Path, links: Path) -> None:
    assert run(state, links).acted == ("python-env", "base", "app", "fork", "activate")
    names = sorted(p.name for p in site(state).glob("*.dist-info"))
    assert names == ["app-2.0.dist-info", "base-1.0.dist-info", "fork-3.2.dist-info"]
    assert not list(site(state).rglob("direct_url.json")) and not list(state.glob("runs/*/pages/*"))
    assert (state / "envs/t/current").readlink() == Path("gen-1")
    before = tree_of(state / "envs")
    assert run(state, links).nothing_to_do and tree_of(state / "envs") == before


def test_the_same_wheels_give_the_same_tree_whenever_they_were_fetched(state: Path, links: Path, tmp_path: Path) -> None:
    run(state, links)
    first = tree_of(state / "envs")
    shutil.rmtree(state)
    again = Path(shutil.copytree(links, tmp_path / "again"))
    for path in again.iterdir():
        os.utime(path, (1, 1))
    run(state, again)
    assert tree_of(state / "envs") == first


def lose_record(site: Path) -> None:
    (site / "app-2.0.dist-info/RECORD").unlink()


def empty_record(site: Path) -> None:
    (site / "app-2.0.dist-info/RECORD").write_bytes(b"")
    (site / "app/m7.py").write_bytes(b"")


def cut_record(site: Path) -> None:
    record = site / "app-2.0.dist-info/RECORD"
    record.write_bytes(record.read_bytes()[:5000])
    (site / "app/m299.py").unlink()


def empty_metadata(site: Path) -> None:
    (site / "app-2.0.dist-info/METADATA").write_bytes(b"")


def lose_dist_info(site: Path) -> None:
    shutil.rmtree(site / "app-2.0.dist-info")


def lose_a_file(site: Path) -> None:
    (site / "app/m7.py").unlink()


def empty_a_file(site: Path) -> None:
    (site / "app/m7.py").write_bytes(b"")


def half_copied(site: Path) -> None:
    lose_dist_info(site)
    (site / "app/.tmphfYSE5").write_text("half")


def two_versions(site: Path) -> None:
    shutil.copytree(site / "app-2.0.dist-info", site / "app-1.9.dist-info")
    for name in ("METADATA", "RECORD"):
        path = site / "app-1.9.dist-info" / name
        path.write_text(
            path.read_text().replace("Version: 2.0", "Version: 1.9").replace("app-2.0.dist-info", "app-1.9.dist-info")
        )


DAMAGE = (
    lose_record, empty_record, cut_record, empty_metadata, lose_dist_info, lose_a_file, empty_a_file, half_copied, two_versions,
)  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda d: d.__name__)
def test_damage_is_seen_and_healed_to_the_same_tree(state: Path, links: Path, damage: Callable[[Path], None]) -> None:
    run(state, links)
    wanted = tree_of(state / "envs")
    damage(site(state))
    assert run(state, links).acted == ("app",)
    assert tree_of(state / "envs") == wanted


def test_a_moved_pin_and_a_rival_are_healed_to_the_same_tree(state: Path, links: Path) -> None:
    run(state, links)
    wanted = tree_of(state / "envs/t/gen-1")
    uv_install(state / "envs/t/gen-1", links, "base==2.0", "upstream", options=("--no-deps",))
    assert run(state, links).acted == ("base", "fork")
    assert tree_of(state / "envs/t/gen-1") == wanted
    assert (site(state) / "contested/__init__.py").read_text() == "owner = 'fork'\n"


def test_a_wheel_that_is_not_the_planned_file_is_not_installed(state: Path, links: Path, tmp_path: Path) -> None:
    own = make_links(tmp_path / "own")
    made = plan(own)
    make_wheel(own, "app", "2.0", files={"app/__init__.py": "import os\n"})
    with pytest.raises(StepFailedError):
        apply_plan(LocalHost(), made, ApplyOptions(state), EngineDeps(Folder(), MachineFacts, now_utc))
    assert not list(site(state).glob("app-*")) and not (site(state) / "app").exists()


def test_an_environment_is_adopted_in_place(state: Path, links: Path, tmp_path: Path) -> None:
    env = tmp_path / "mine"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", env], check=True)
    result = run(state, links, env=env, in_place=True)
    assert result.env == env and "python-env" in result.kept and not (state / "envs/t").exists()
    assert len(list(env.rglob("*.dist-info"))) == 3
    assert run(state, links, env=env, in_place=True).nothing_to_do


def test_a_missing_interpreter_is_refused_before_anything_is_touched(state: Path, links: Path) -> None:
    made = plan(links).model_copy(update={"python_executable": None, "target": {"python": "3.99", "scope": "python"}})
    with pytest.raises(PreflightError) as caught:
        apply_plan(LocalHost(), made, ApplyOptions(state), EngineDeps(Folder(), MachineFacts, now_utc))
    assert caught.value.slug == "preflight.no-python" and "3.99" in caught.value.message
    assert not (state / "envs").exists()


def test_probing_reads_only(state: Path, links: Path) -> None:
    deps = EngineDeps(Folder(), MachineFacts, now_utc)
    probes = probe_steps(LocalHost(), plan(links), ApplyOptions(state), deps)
    assert {p.state for p in probes.values()} == {"absent"} and not state.exists()
    run(state, links)
    before = tree_of(state)
    probes = probe_steps(LocalHost(), plan(links), ApplyOptions(state), deps)
    assert {p.state for p in probes.values()} == {"present"} and tree_of(state) == before


TO_BE_KILLED = """import sys
sys.path[:0] = {path!r}
from pathlib import Path
import test_execute_wheels as t
t.run(Path(sys.argv[1]), Path(sys.argv[2]))
"""


@pytest.mark.parametrize("delay_ms", [0, 5, 15, 40])
@pytest.mark.parametrize("child", [2, 3])
def test_tool_and_installer_killed_together_end_in_the_same_tree(state: Path, links: Path, child: int, delay_ms: int) -> None:
    """As a cut of power does it: nobody finishes what was begun."""
    run(state, links)
    wanted = tree_of(state / "envs")
    shutil.rmtree(state)
    code = TO_BE_KILLED.format(path=[str(Path(__file__).parent), str(Path(__file__).parents[1] / "fakes")])
    process = subprocess.Popen([sys.executable, "-c", code, state, links], stderr=subprocess.DEVNULL)
    seen = []
    while process.poll() is None and len(seen) < child:
        records = read_journal(state / "journal.jsonl").records
        seen = [r.data["pgid"] for r in records if r.type == "child"]
    time.sleep(delay_ms / 1000)
    process.kill()
    for group in seen:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
    process.wait()
    run(state, links, resume=True)
    assert tree_of(state / "envs") == wanted
    assert run(state, links).nothing_to_do
