"""The closure: the solver's inputs, its words, its answer, and the memory of answers."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from accel_install.errors import IndexUnavailableError, ResolutionError
from accel_install.facts.target import Target
from accel_install.resolve.closure import CachedSolver, ClosureAnswer, ClosurePackage, ClosureRequest
from accel_install.resolve.closure_pylock import parse_pylock
from accel_install.resolve.closure_uv import UvSolver, platform_name, solver_environment
from accel_install.resolve.models import IndexFile
from accel_install.resolve.uv_errors import error_of

TARGET = Target("aarch64", "3.11", "glibc", "2.34")
INDEX = "https://idx.example/simple"
PYLOCK = """
lock-version = "1.0"
created-by = "uv"

[[packages]]
name = "torch"
version = "2.10.0"
archive = { url = "https://idx.example/f/torch-2.10.0-cp311-cp311-manylinux_2_28_aarch64.whl", hashes = { sha256 = "aa" } }

[[packages]]
name = "Num_Py"
version = "2.3.5"
wheels = [{ url = "https://idx.example/f/numpy-2.3.5%2Blocal-cp311.whl", upload-time = 2025-11-16T22:49:30Z, size = 7, hashes = { sha256 = "bb" } }]
"""  # noqa: E501


def request(**changes: object) -> ClosureRequest:
    base: dict[str, object] = {"requirements": ("vllm==0.23.0",), "target": TARGET, "default_index": INDEX}
    return ClosureRequest(**{**base, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("libc", "version", "expected"),
    [
        ("glibc", "2.17", "aarch64-manylinux_2_17"),
        ("glibc", "2.27", "aarch64-manylinux_2_17"),
        ("glibc", "2.30", "aarch64-manylinux_2_28"),
        ("glibc", "2.34", "aarch64-manylinux_2_34"),
        ("glibc", "2.43", "aarch64-manylinux_2_40"),
        ("glibc", "2.12", "aarch64-manylinux_2_17"),
        ("musl", "1.2", "aarch64-unknown-linux-musl"),
    ],
)
def test_the_greatest_platform_not_above_the_target(libc: str, version: str, expected: str) -> None:
    assert platform_name(Target("aarch64", "3.11", libc, version)) == expected  # type: ignore[arg-type]


def test_the_solver_inherits_proxies_and_certificates_only() -> None:
    environ = {
        "PATH": "/bin",
        "UV_INDEX": "x",
        "PIP_EXTRA_INDEX_URL": "y",
        "PIP_CERT": "/ca.pem",
        "HTTPS_PROXY": "http://proxy:1",
        "no_proxy": "local",
        "UV_DEFAULT_INDEX": "other",
    }
    assert solver_environment(environ, INDEX) == {
        "PATH": "/bin",
        "HTTPS_PROXY": "http://proxy:1",
        "no_proxy": "local",
        "SSL_CERT_FILE": "/ca.pem",
        "UV_DEFAULT_INDEX": INDEX,
    }
    assert "UV_DEFAULT_INDEX" not in solver_environment(environ, None)


def test_a_pylock_is_read_with_its_direct_archives() -> None:
    answer = parse_pylock(PYLOCK)
    assert [(p.name, p.version) for p in answer.packages] == [("num-py", "2.3.5"), ("torch", "2.10.0")]
    assert answer.packages[0].files == (
        IndexFile(
            "numpy-2.3.5+local-cp311.whl",
            "https://idx.example/f/numpy-2.3.5%2Blocal-cp311.whl",
            "bb",
            7,
            upload_time="2025-11-16T22:49:30+00:00",
        ),
    )
    assert answer.packages[1].files[0].sha256 == "aa"


@pytest.mark.parametrize("text", ["", "packages = 3", "[[packages]]\nversion = '1'", "x = ["])
def test_a_bad_pylock_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match="pylock"):
        parse_pylock(text)


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        (
            "error: No solution found when resolving dependencies\n  cause: Because a and b",
            "resolve.no-solution",
        ),
        ("  × No solution found when resolving dependencies:\n  ╰─▶ Because a and b", "resolve.no-solution"),
        (
            "error: No solution found when resolving dependencies\n  cause: Because x was not found in the cache\n\n"
            "hint: Packages were unavailable because the network was disabled.",
            "network.offline",
        ),
        (
            "error: Request failed after 3 retries in 6.9s\n  cause: Failed to fetch: https://u:p@idx.example/x/\n"
            "  cause: error sending request for url\n  cause: tcp connect error",
            "network.unreachable",
        ),
        (
            "error: No solution found when resolving dependencies\n  cause: Because x was not found\n\n"
            "hint: An index URL (https://idx.example/simple) returned a 403 Forbidden error.",
            "network.unreachable",
        ),
        ("thread 'main' panicked", "resolve.solver-failed"),
    ],
)
def test_the_solvers_words_become_errors(text: str, slug: str) -> None:
    error = error_of(text, 1)
    assert error.slug == slug
    assert "u:p@" not in (error.value or "")
    if slug == "resolve.no-solution":
        assert error.value == "Because a and b"


def fake_uv(folder: Path, body: str) -> str:
    script = folder / "uv"
    script.write_text(f"#!{sys.executable}\nimport json, os, pathlib, sys\n{body}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return str(script)


def test_the_solver_is_asked_by_files_and_a_clean_environment(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    uv = fake_uv(
        tmp_path,
        f"files = {{p.name: p.read_text() for p in pathlib.Path('.').iterdir()}}\n"
        f"json.dump([sys.argv[1:], dict(os.environ), files], open({str(report)!r}, 'w'))\n"
        f"open('pylock.toml', 'w').write({PYLOCK!r})",
    )
    solver = UvSolver(tmp_path / "cache", uv=uv, offline=True, environ={"PATH": "/bin", "UV_INDEX": "http://evil"})
    answer = solver.solve(
        request(
            direct=(("torch", "file:///w/torch.whl#sha256=aa"),),
            version_overrides=("numpy<2",),
            constraints=("setuptools<81",),
            excludes=("triton",),
        )
    )
    assert answer.names() == {"num-py", "torch"}
    arguments, environment, files = json.loads(report.read_text())
    assert "UV_INDEX" not in environment and environment["UV_DEFAULT_INDEX"] == INDEX
    assert not any("idx.example" in a for a in arguments)
    assert files["requirements.in"] == "vllm==0.23.0\n"
    assert files["overrides.txt"] == "torch @ file:///w/torch.whl#sha256=aa\nnumpy<2\n"
    assert files["constraints.txt"] == "setuptools<81\n" and files["excludes.txt"] == "triton\n"
    joined = " ".join(arguments)
    for part in (
        "--only-binary :all:",
        "--python-version 3.11",
        "--python-platform aarch64-manylinux_2_34",
        "--no-config",
        "--offline",
        f"--cache-dir {tmp_path / 'cache' / 'uv'}",
    ):
        assert part in joined


def test_a_failing_or_missing_solver_is_an_error_of_ours(tmp_path: Path) -> None:
    failing = fake_uv(tmp_path, "sys.stderr.write('error: No solution found when resolving\\n'); sys.exit(1)")
    with pytest.raises(ResolutionError) as caught:
        UvSolver(tmp_path, uv=failing).solve(request())
    assert caught.value.slug == "resolve.no-solution"
    with pytest.raises(ResolutionError) as caught:
        UvSolver(tmp_path, uv=str(tmp_path / "absent")).solve(request())
    assert caught.value.slug == "resolve.solver-failed"
    silent = fake_uv(tmp_path, "pass")
    with pytest.raises(ResolutionError) as caught:
        UvSolver(tmp_path, uv=silent).solve(request())
    assert caught.value.slug == "resolve.solver-failed"


class CountingSolver:
    def __init__(self, outcome: ClosureAnswer | Exception) -> None:
        self.outcome, self.calls = outcome, 0

    def solve(self, request: ClosureRequest) -> ClosureAnswer:
        self.calls += 1
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


ANSWER = ClosureAnswer((ClosurePackage("numpy", "2.3.5", (IndexFile("n.whl", "u", "bb", 7),)),))


def cached(inner: CountingSolver, folder: Path, now: float, **options: bool) -> CachedSolver:
    return CachedSolver(inner, folder, ttl_s=600, now=lambda: now, **options)


def test_answers_are_remembered_for_a_while(tmp_path: Path) -> None:
    inner = CountingSolver(ANSWER)
    assert cached(inner, tmp_path, 0).solve(request()) == ANSWER
    assert cached(inner, tmp_path, 600).solve(request()) == ANSWER
    assert inner.calls == 1
    cached(inner, tmp_path, 601).solve(request())
    assert inner.calls == 2
    cached(inner, tmp_path, 602, refresh=True).solve(request())
    assert inner.calls == 3
    cached(inner, tmp_path, 603).solve(request(excludes=("triton",)))
    assert inner.calls == 4
    assert cached(inner, tmp_path, 9e9, offline=True).solve(request()) == ANSWER
    assert inner.calls == 4


def test_a_refusal_is_remembered_too_but_not_a_dead_network(tmp_path: Path) -> None:
    no = CountingSolver(ResolutionError("resolve.no-solution", "no", value="because"))
    for _ in range(2):
        with pytest.raises(ResolutionError) as caught:
            cached(no, tmp_path, 0).solve(request())
        assert caught.value.value == "because"
    assert no.calls == 1
    dead = CountingSolver(IndexUnavailableError("network.unreachable", "dead"))
    for _ in range(2):
        with pytest.raises(IndexUnavailableError):
            cached(dead, tmp_path, 0).solve(request(excludes=("x",)))
    assert dead.calls == 2


def test_a_damaged_memory_is_no_memory(tmp_path: Path) -> None:
    inner = CountingSolver(ANSWER)
    cached(inner, tmp_path, 0).solve(request())
    for path in (tmp_path / "closure").iterdir():
        path.write_text('{"time": 0')
    assert cached(inner, tmp_path, 1).solve(request()) == ANSWER
    assert inner.calls == 2
