"""Indexes that lie, cut off, or ask for a password: the right code, nothing half-done, no secret kept."""

from __future__ import annotations

import base64
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from local_stack import Stack, local_stack

from accel_install.rehearse import server

FILE = "leaf-1.5-py3-none-any.whl"
LOGIN = "Basic " + base64.b64encode(b"me:hunter2").decode()


def handler(folders: dict[str, Path], fault: str) -> type[http.server.BaseHTTPRequestHandler]:
    """The loopback index' own handler with one fault built in."""

    class Faulty(server._Handler):
        def _answer(self, found: tuple[str, bytes] | None) -> None:
            if fault == "auth" and self.headers.get("authorization") != LOGIN:
                self._status(401)
            elif fault == "http500" and "/simple/app" in self.path:
                self._status(500)
            elif fault == "page" and "/simple/leaf" in self.path:
                super()._answer(("text/html", b"<html><body>please log in</body></html>"))
            elif found is not None and self.path.endswith(f"/files/{FILE}"):
                super()._answer((found[0], spoiled(found[1], fault)))
            else:
                super()._answer(found)

        def _status(self, code: int) -> None:
            self.send_response(code)
            self.send_header("content-length", "0")
            self.end_headers()

    Faulty.folders = folders
    return Faulty


def spoiled(data: bytes, fault: str) -> bytes:
    if fault == "html":
        return b"<!DOCTYPE html><html>landing page</html>"
    if fault == "short":
        return data[: len(data) // 2]
    return data[:-30] + bytes([data[-30] ^ 1]) + data[-29:] if fault == "flip" else data


@contextmanager
def faulty(stack: Stack, fault: str, user: str = "") -> Iterator[list[str]]:
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(stack.folders, fault))
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    try:
        base = f"http://{user}127.0.0.1:{made.server_port}"
        yield [part for name in stack.folders for part in ("--index", f"{name}={base}/{name}/simple")]
    finally:
        made.shutdown()
        made.server_close()


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    with local_stack(tmp_path) as made:
        yield made


@pytest.mark.parametrize(
    ("fault", "code", "slug"),
    [
        ("html", 20, "download.not-a-wheel"),
        ("short", 20, "download.size-mismatch"),
        ("flip", 20, "download.digest-mismatch"),
        ("page", 12, "resolve.no-row-fits"),
        ("http500", 13, "resolve.index-unreachable"),
        ("auth", 13, "resolve.index-unreachable"),
    ],
)
def test_faults_have_their_code_and_nothing_goes_live(
    tool, stack: Stack, tmp_path: Path, fault: str, code: int, slug: str
) -> None:
    state = tmp_path / "state"
    with faulty(stack, fault) as options:
        ended = tool("apply", stack.recipe, *options, "--state-dir", state)
    assert ended.returncode == code and slug in ended.stderr, ended.stderr
    assert "Traceback" not in ended.stderr and not (state / "envs/tiny/current").exists()


def test_after_the_fault_resume_finishes_the_run(tool, stack: Stack, tmp_path: Path) -> None:
    """The saved plan names the addresses of the faulty index; a good apply afterwards heals the same generation."""
    state = tmp_path / "state"
    with faulty(stack, "flip") as options:
        assert tool("apply", stack.recipe, *options, "--state-dir", state).returncode == 20
    assert "hint: accel-install resume" in tool("status", "--state-dir", state).stdout
    ended = tool("apply", stack.recipe, *stack.options, "--refresh", "--state-dir", state)
    assert ended.returncode == 0, ended.stderr
    assert (state / "envs/tiny/current").resolve().name == "gen-1"


def test_credentials_are_used_and_kept_nowhere(tool, stack: Stack, tmp_path: Path) -> None:
    state, saved = tmp_path / "state", tmp_path / "plan.json"
    with faulty(stack, "auth", user="me:hunter2@") as options:
        first = tool("apply", stack.recipe, *options, "--state-dir", state)
        again = tool("apply", stack.recipe, *options, "--state-dir", tmp_path / "other")
        tool("plan", stack.recipe, *options, "--state-dir", state, "-o", saved)
    assert first.returncode == again.returncode == 0, first.stderr + again.stderr
    text = first.stdout + first.stderr + again.stdout + saved.read_text()
    for folder in (state, tmp_path / "other", tmp_path / "cache"):
        text += "".join(p.read_bytes().decode("utf-8", "replace") for p in folder.rglob("*") if p.is_file())
    assert "hunter2" not in text
