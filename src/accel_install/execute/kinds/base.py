"""The four gates of every step: probe, decide, act, verify; and what an interruption may do to it."""

from __future__ import annotations

from typing import ClassVar, Literal

from accel_install.errors import AccelError
from accel_install.execute.context import RunContext
from accel_install.plan.decide import decide
from accel_install.plan.models import Decision, PlanStep, Probe

__all__ = ["StepKind"]


class StepKind:
    """A kind of step. Subclasses fill in `probe` and `act`; the rest has a safe default.

    Attributes:
        name: as recipes write it.
        policy: `repeat`, when an act that was cut off may be done again; `wait`, when it must never be killed or repeated
            blindly (vendor installers).
        changes_system: whether acting changes facts of the machine.
    """

    name: ClassVar[str] = ""
    policy: ClassVar[Literal["repeat", "wait"]] = "repeat"
    changes_system: ClassVar[bool] = False

    def probe(self, ctx: RunContext, step: PlanStep) -> Probe:
        """Look at what is there. Never changes anything."""
        raise AssertionError(f"{type(self).__name__} does not say how to probe")

    def decide(self, step: PlanStep, probe: Probe) -> Decision:
        """Decide what to do. Pure."""
        return decide(step, probe)

    def preflight(self, ctx: RunContext, step: PlanStep, decision: Decision) -> list[AccelError]:
        """Return what stands against acting, before anything is touched."""
        return []

    def act(self, ctx: RunContext, step: PlanStep, decision: Decision) -> None:
        """Make it so. May be called again after an interruption where the policy allows it."""

    def verify(self, ctx: RunContext, step: PlanStep) -> list[str]:
        """Return what is still wrong after acting: by default, what a new probe says."""
        probe = self.probe(ctx, step)
        return [] if probe.state in ("present", "unknown") else probe.problems or [probe.detail or probe.state]
