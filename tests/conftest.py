"""Shared by all tests: the tool as a command, a clean environment, and the loud word about the network."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

FAKES = Path(__file__).parent / "fakes"
sys.path.insert(0, str(FAKES))

_CLEARED = ("UV_", "PIP_", "ACCEL_INSTALL_", "PYTHON", "VIRTUAL_ENV", "CONDA_", "ASCEND_", "LD_LIBRARY_PATH")


@functools.lru_cache(maxsize=1)
def index_answers() -> str | None:
    """Ask the default index for one small page; return why it does not answer, None when it does."""
    from accel_install.errors import AccelError
    from accel_install.fetch.http import HttpClient
    from accel_install.fetch.retry import RetryPolicy
    from accel_install.resolve.indexes import discover_indexes

    try:
        config = discover_indexes({}, [], environ=os.environ, home=Path.home())
        status = HttpClient(timeout_s=10, policy=RetryPolicy(attempts=1)).get(f"{config.default_url}idna/").status
    except AccelError as error:
        return error.message
    return None if status == 200 else f"HTTP {status}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip tests that need the public index when it does not answer."""
    wanted = [item for item in items if item.get_closest_marker("network")]
    if not wanted:
        return
    why = index_answers()
    if why is not None:
        for item in wanted:
            item.add_marker(pytest.mark.skip(reason=f"NETWORK: the public index does not answer: {why}"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly that network tests were left out."""
    skipped = [r for r in terminalreporter.stats.get("skipped", []) if "NETWORK:" in str(r.longrepr)]
    if skipped:
        terminalreporter.section("NETWORK TESTS WERE SKIPPED", sep="!", red=True, bold=True)
        terminalreporter.line(f"{len(skipped)} tests that need the public index did not run.")


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this environment without what steers pip, uv, Python or the tool."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(_CLEARED)}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return {**kept, "PATH": path, "NO_COLOR": "1", "COLUMNS": "200", **(extra or {})}


Tool = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def tool_env(tmp_path: Path) -> dict[str, str]:
    """The environment of the tool in a test: its own home and cache."""
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    return clean_environment({"HOME": str(home), "ACCEL_INSTALL_CACHE_DIR": str(tmp_path / "cache")})


@pytest.fixture
def tool(tool_env: dict[str, str]) -> Tool:
    """Run the tool as a whole process."""

    def run(*arguments: object, env: Mapping[str, str] | None = None, timeout: float = 300) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "accel_install", *map(str, arguments)],
            env={**tool_env, **(env or {})},
            capture_output=True,
            text=True,
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            check=False,
        )

    return run
