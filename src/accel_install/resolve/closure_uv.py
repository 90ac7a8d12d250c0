"""The solver: `uv pip compile`, run as a program on files in a scratch folder, with an environment of its own.

uv sees the default index only, never a vendor's: it would take every name it finds there from there. What is read out of
its words lives in `uv_errors`, its answer in `closure_pylock`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from accel_install.errors import ResolutionError
from accel_install.facts.target import Target
from accel_install.resolve.closure import ClosureAnswer, ClosureRequest
from accel_install.resolve.closure_pylock import parse_pylock
from accel_install.resolve.closure_stub import local_copy
from accel_install.resolve.uv_errors import error_of

__all__ = ["UvSolver", "platform_name", "solver_environment"]

# glibc minors that uv 0.13.9 accepts as `<arch>-manylinux_2_NN` (`uv pip compile --help`).
_GLIBC_MINORS = (17, 28, *range(31, 41))
_TIMEOUT_S = 600
_KEPT_VARIABLES = (
    "PATH",
    "HOME",
    "TMPDIR",
    "LANG",
    "NETRC",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "SSL_CLIENT_CERT",
)
_PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


class UvSolver:
    """Solve closures by uv.

    Args:
        cache_dir: the tool's cache folder; uv's own cache is a folder in it.
        offline: touch no network.
        refresh: ask again despite uv's cache.
        uv: the program, None for the one that came with this package.
        environ: the environment to take proxies and certificates from, None for this process's.
    """

    def __init__(
        self,
        cache_dir: Path,
        *,
        offline: bool = False,
        refresh: bool = False,
        uv: str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._cache_dir = cache_dir
        self._offline = offline
        self._refresh = refresh
        self._uv = uv
        self._environ = os.environ if environ is None else environ

    def solve(self, request: ClosureRequest) -> ClosureAnswer:
        """Return the closure.

        Raises:
            ResolutionError: no solution, or uv failed otherwise. IndexUnavailableError: the index does not answer.
        """
        with tempfile.TemporaryDirectory(prefix="accel-install-solve-") as name:
            folder = Path(name)
            write_inputs(request, folder, self._cache_dir)
            done = self._run(request, folder)
            if done.returncode != 0:
                raise error_of(done.stderr, done.returncode)
            try:
                return parse_pylock((folder / "pylock.toml").read_text("utf-8"))
            except (OSError, ValueError) as error:
                raise ResolutionError("resolve.solver-failed", "the solver's answer cannot be read", value=str(error)) from error

    def _run(self, request: ClosureRequest, folder: Path) -> subprocess.CompletedProcess[str]:
        links = [part for link in request.find_links for part in ("--find-links", link)]
        command = [*self._command(request.target), *links, *(["--no-index"] if request.no_index else [])]
        try:
            return subprocess.run(
                command,
                cwd=folder,
                env=solver_environment(self._environ, request.default_index, request.more_indexes),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ResolutionError(
                "resolve.solver-failed",
                "the solver could not be run",
                value=f"{Path(command[0]).name}: {error}",
                expected="uv, which is a dependency of this package",
                hint="pip install 'uv>=0.13.9,<0.14'",
            ) from error

    def _command(self, target: Target) -> list[str]:
        options = ["--offline"] if self._offline else ["--refresh"] if self._refresh else []
        return [
            *(self._uv or find_uv(), "pip", "compile", "requirements.in"),
            *("--overrides", "overrides.txt", "--excludes", "excludes.txt", "-c", "constraints.txt"),
            *(
                "--only-binary",
                ":all:",
                "--python-version",
                target.python,
                "--python-platform",
                platform_name(target),
            ),
            *("--format", "pylock.toml", "-o", "pylock.toml", "--no-header", "-q", "--color", "never"),
            *("--no-config", "--no-python-downloads", "--python", sys.executable),
            *("--cache-dir", str((self._cache_dir / "uv").absolute())),
            *options,
        ]


def find_uv() -> str:
    """Return the path of the uv that is installed beside this package.

    Raises:
        ResolutionError: there is none.
    """
    from uv import find_uv_bin

    try:
        return str(find_uv_bin())
    except FileNotFoundError as error:
        raise ResolutionError(
            "resolve.solver-failed", "uv is missing", value=str(error), hint="pip install 'uv>=0.13.9,<0.14'"
        ) from error


def platform_name(target: Target) -> str:
    """Return uv's name of the target's platform: the greatest it knows that is not above the target's libc."""
    if target.libc == "musl":
        return f"{target.arch}-unknown-linux-musl"
    minor = int(target.libc_version.split(".")[1])
    fitting = [known for known in _GLIBC_MINORS if known <= minor]
    return f"{target.arch}-manylinux_2_{max(fitting, default=_GLIBC_MINORS[0])}"


def solver_environment(environ: Mapping[str, str], default_index: str | None, more_indexes: Sequence[str] = ()) -> dict[str, str]:
    """Return uv's environment: proxies and certificates, nothing of pip's or uv's settings.

    The index goes in as a variable, because its address may hold a password and arguments are seen by everybody.
    """
    kept = {key: value for key, value in environ.items() if key in _KEPT_VARIABLES or key.lower() in _PROXY_VARIABLES}
    bundle = environ.get("PIP_CERT") or environ.get("REQUESTS_CA_BUNDLE")
    if "SSL_CERT_FILE" not in kept and bundle:
        kept["SSL_CERT_FILE"] = bundle
    if default_index is not None:
        kept["UV_DEFAULT_INDEX"] = default_index
    if more_indexes:
        kept["UV_INDEX"] = " ".join(more_indexes)
        kept["UV_INDEX_STRATEGY"] = "first-index"
    return kept


def write_inputs(request: ClosureRequest, folder: Path, cache_dir: Path) -> None:
    """Write the four files that the solver reads; files that are fixed stand there as local copies of their metadata."""
    direct = [f"{name} @ {local_copy(url, cache_dir, folder / 'fixed')}" for name, url in request.direct]
    _write(folder / "requirements.in", request.requirements)
    _write(folder / "overrides.txt", [*direct, *request.version_overrides])
    _write(folder / "constraints.txt", request.constraints)
    _write(folder / "excludes.txt", request.excludes)


def _write(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
