"""What a run carries from step to step: host, plan, state, options, journal, events. Kinds act only through it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from accel_install.digests import file_digest
from accel_install.errors import StepFailedError
from accel_install.events import EventStream, Reader
from accel_install.execute.flush import flush_file_systems
from accel_install.execute.generations import Generations, wheels_digest
from accel_install.execute.journal import Journal
from accel_install.execute.signals import Interrupts
from accel_install.execute.state import StateDir
from accel_install.facts.models import MachineFacts
from accel_install.host.base import Host, RunningChild
from accel_install.plan.models import Plan, PlanWheel

__all__ = ["ApplyOptions", "Downloads", "EngineDeps", "RunContext"]

_LOG_TAIL_LINES = 12


class Downloads(Protocol):
    """What is needed of `fetch.download.Downloader`."""

    def fetch(self, url: str, filename: str, sha256: str | None, size_bytes: int | None) -> Path: ...
    def prefetch(self, items: Sequence[tuple[str, str, str | None, int | None]]) -> None: ...
    def close(self) -> None: ...


@dataclass(frozen=True)
class ApplyOptions:
    """Options of a run. `env` with `in_place` adopts an existing environment; alone it is a symlink to the generation."""

    state_dir: Path
    env: Path | None = None
    in_place: bool = False
    artifacts: Path | None = None
    accepted_licences: frozenset[str] = frozenset()
    unattended: bool = False
    wait: bool = False
    cache_dir: Path | None = None


@dataclass(frozen=True)
class EngineDeps:
    """What the engine needs besides plan and options; wiring fills it in.

    `on_success` is called with the plan when a run has ended well and returns the lockfile it wrote, if any.
    """

    downloader: Downloads
    collect_facts: Callable[[], MachineFacts]
    clock: Callable[[], str]
    readers: tuple[Reader, ...] = ()
    on_success: Callable[[Plan], Path | None] | None = None
    foreign: Mapping[str, str] = field(default_factory=dict)


class RunContext:
    """The running run.

    Args:
        host, plan, options, deps: as given by the caller.
        state: the state folder.
        run_id: of this run.
        journal: open journal, None for read-only probing.
    """

    def __init__(
        self,
        host: Host,
        plan: Plan,
        options: ApplyOptions,
        deps: EngineDeps,
        state: StateDir,
        run_id: str = "",
        journal: Journal | None = None,
    ) -> None:
        self.host, self.plan, self.options, self.deps = host, plan, options, deps
        self.state, self.run_id, self.journal = state, run_id, journal
        self.events = EventStream(run_id, deps.clock, deps.readers)
        self.interrupts = Interrupts()
        self.generations = Generations(state.envs(plan.stack))
        self.digest = wheels_digest(plan)
        self.doubted: set[str] = set()  # steps that were cut off: sizes prove nothing after a cut of power
        self._facts: MachineFacts | None = None

    def facts(self) -> MachineFacts:
        """Return the machine's facts, collected once per system change."""
        if self._facts is None:
            self._facts = self.deps.collect_facts()
        return self._facts

    def forget_facts(self) -> None:
        """Collect again when next asked: a step changed the system."""
        self._facts = None

    def env(self) -> Path | None:
        """Return the environment this plan's wheels belong in: the adopted one, or the generation for exactly this set."""
        if self.options.in_place and self.options.env is not None:
            return self.options.env if (self.options.env / "pyvenv.cfg").is_file() else None
        return self.generations.for_digest(self.digest)

    def require_env(self) -> Path:
        """Return the environment.

        Raises:
            StepFailedError: no step made one.
        """
        env = self.env()
        if env is None:
            raise StepFailedError(
                "step.no-environment", "there is no Python environment to install into", hint="accel-install apply"
            )
        return env

    def flush(self) -> None:
        """Flush the state folder and the environment, so that the outcome is not journaled before it is on disk."""
        flush_file_systems([self.state.path, *([self.options.env.resolve()] if self.options.env is not None else [])])

    def run_child(
        self,
        step: str,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        unset: Sequence[str] = (),
        protected: bool = False,
        success_codes: Sequence[int] = (0,),
    ) -> int:
        """Run a long command as a journaled child, its output in the step's log.

        Args:
            step: id of the step.
            argv: argument list.
            env, unset: changes to the child's environment.
            protected: never stop it: a signal is remembered, and raised after the step by the engine.
            success_codes: exit codes that count as success.

        Raises:
            StepFailedError: it ended otherwise; the message holds the end of its log.
            InterruptedRunError: a signal came.
        """
        log = self.state.log(self.run_id, step)
        log.parent.mkdir(parents=True, exist_ok=True)
        protected = protected or self.interrupts.protected
        with self.interrupts.held():
            child = self.host.spawn(list(argv), log_path=log, env=env, unset=tuple(unset))
            if self.journal is not None:
                self.journal.write("child", self.run_id, step, **child.record.to_dict())
            code = self._wait(child, protected)
        if code not in success_codes:
            raise self._failed(step, argv, code, log)
        if not protected:
            self.interrupts.check()
        return code

    def _wait(self, child: RunningChild, protected: bool) -> int:
        """Wait for a child. Unless it is protected, a signal stops it with its whole group."""
        from accel_install.execute.children import stop_group

        try:
            self.interrupts.protected = protected
            if not protected:
                self.interrupts.check()
            return child.wait()
        except BaseException:
            self.interrupts.protected = True  # stopping it comes to its end, too
            if not protected:
                stop_group(self.host, child.record)
            raise

    def _failed(self, step: str, argv: Sequence[str], code: int, log: Path) -> StepFailedError:
        tail = "\n    ".join(log.read_text("utf-8", "replace").splitlines()[-_LOG_TAIL_LINES:])
        full = "no space left" in tail.lower() or "errno 28" in tail.lower()
        return StepFailedError(
            "step.disk-full" if full else "step.command-failed",
            f"{Path(argv[0]).name} ended with {code} in step {step}",
            value=tail or None,
            expected="exit code 0",
            hint=f"the whole log: {log}; then accel-install resume",
        )

    def fetch(self, wheels: Sequence[PlanWheel]) -> dict[str, Path]:
        """Return verified local files of wheels, by file name.

        Raises:
            StepFailedError: a file is damaged or has no address. IndexUnavailableError: a download failed.
        """
        found: dict[str, Path] = {}
        for wheel in wheels:
            if wheel.url is None:
                raise StepFailedError(
                    "step.no-address", f"nobody says where {wheel.filename} is", value=wheel.filename, hint="--find-links DIR"
                )
            path = self.deps.downloader.fetch(wheel.url, wheel.filename, wheel.sha256, wheel.size_bytes)
            _check_hashes(path, wheel)
            found[wheel.filename] = path
        return found


def _check_hashes(path: Path, wheel: PlanWheel) -> None:
    """Compare a file with the digests of an index that states no sha256; the download itself has checked that one."""
    for pair in wheel.hashes if wheel.sha256 is None else ():
        name, _, wanted = pair.partition("=")
        actual = file_digest(path, name)
        if actual != wanted:
            raise StepFailedError(
                "step.digest-differs",
                f"{wheel.filename} is not the file that index `{wheel.index}` lists",
                value=f"{name} {actual}",
                expected=f"{name} {wanted}",
                hint="a changed file is never installed; ask whoever runs the index",
            )
