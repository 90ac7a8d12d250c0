"""What people read, word for word: a plan, errors, facts. A change here is a change that users see."""

from __future__ import annotations

import io

from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from accel_install.errors import PreflightError, ResolutionError
from accel_install.events import Event
from accel_install.facts.models import AcceleratorFacts, LayerFacts, LayersFacts, MachineFacts, OsFacts
from accel_install.facts.render import facts_rows
from accel_install.plan.models import (
    Artifact,
    Plan,
    PlanLeftOut,
    PlanOverride,
    PlanRejected,
    PlanStep,
    PlanUnresolved,
    PlanWheel,
)
from accel_install.report.console import print_plan
from accel_install.report.events import event_line


def wheel(name: str, version: str, size_bytes: int, bound: bool) -> PlanWheel:
    filename = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
    url = f"https://idx.example/{filename}"
    return PlanWheel(
        name=name,
        version=version,
        filename=filename,
        url=url,
        index="default",
        sha256="ab" * 32,
        size_bytes=size_bytes,
        step="s",
        bound=bound,
    )


def plan() -> Plan:
    driver = PlanStep(
        id="driver",
        kind="runfile",
        title="NPU driver",
        decision="replace",
        reason="from 24.1.rc3 to 26.0.RC1; stop first: all that uses a device",
        artifacts=[Artifact(name="Ascend-hdk-910b-npu-driver_26.0.RC1_linux-aarch64.run")],
    )
    fork = PlanStep(
        id="triton-fork",
        kind="wheels_nodeps",
        title="triton-ascend, last",
        needs=["driver"],
        decision="defer",
        reason="triton-ascend 3.2.2: index `ascend` does not answer",
    )
    return Plan(
        recipe="ascend-910b",
        stack="ascend-910b",
        row="ascend-vllm-0.23.0",
        row_status="published",
        row_source="vendor table",
        row_date="2026-12-01",
        target={"arch": "aarch64", "python": "3.11", "glibc": "2.34", "musl": None, "accelerator": "910B2", "scope": "host"},
        complete=False,
        steps=[driver, fork],
        wheels=[wheel("torch", "2.10.0", 145_992_610, True), wheel("numpy", "2.3.5", 14_000_000, False)],
        rejected=[
            PlanRejected(
                name="vllm", filename="vllm-0.23.0.tar.gz", reason="not-a-wheel", detail="a source distribution; a wheel fits"
            )
        ],
        unresolved=[
            PlanUnresolved(
                name="triton-ascend",
                version="3.2.2",
                index="ascend",
                reason="index-unreachable",
                detail="index `ascend` does not answer",
                alternatives=["3.2.0"],
            )
        ],
        predicted_overrides=[
            PlanOverride(package="torch", pinned="2.10.0", wanted="==2.11.0", by="vllm 0.23.0", pinned_by="vllm-ascend 0.23.0"),
            PlanOverride(package="tilelang", pinned=None, wanted="==0.1.9", by="vllm 0.23.0"),
        ],
        left_out=[
            PlanLeftOut(name="tilelang", reason="CUDA build, no use on an NPU", size_bytes=40_000_000),
            PlanLeftOut(name="triton", reason="owns the module triton, which triton-ascend provides here"),
        ],
        download_bytes=159_992_610,
        plain_install_bytes=4_300_000_000,
        warnings=["described machine: layers that were not given are planned as on a bare machine"],
    )


def shown(all_files: bool) -> str:
    console = Console(file=io.StringIO(), width=120, highlight=False, color_system=None)
    print_plan(plan(), console, all_files=all_files)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(line.rstrip() for line in text.splitlines())


def test_a_plan(snapshot: SnapshotAssertion) -> None:
    assert shown(all_files=False) == snapshot


def test_a_plan_with_all_files(snapshot: SnapshotAssertion) -> None:
    assert shown(all_files=True) == snapshot


def test_errors(snapshot: SnapshotAssertion) -> None:
    full = PreflightError(
        "preflight.licence-not-accepted",
        "NPU driver comes under a licence that nobody accepted",
        value="Huawei EULA",
        expected="acceptance by name",
        hint='--accept-license "Huawei EULA"',
    )
    bare = ResolutionError("resolve.unresolved", "the plan is incomplete")
    assert full.render() + "\n\n" + bare.render() == snapshot


def test_facts(snapshot: SnapshotAssertion) -> None:
    facts = MachineFacts(
        os=OsFacts(id="openeuler", version_id="22.03", name="openEuler 22.03 (LTS-SP4)"),
        arch="aarch64",
        glibc="2.34",
        memory_bytes=1_600_000_000_000,
        container=False,
        accelerators=[AcceleratorFacts(vendor="huawei", family="910b", model="910B2", health="OK")] * 8,
        layers=LayersFacts(driver=LayerFacts(version="25.2.1", source="/usr/local/Ascend/driver/version.info")),
        unknown={"kernel": "no /proc/sys/kernel/osrelease", "layers.firmware": "firmware/version.info cannot be read"},
    )
    assert "\n".join(f"{name}: {value}" for name, value in facts_rows(facts)) == snapshot


def test_events(snapshot: SnapshotAssertion) -> None:
    events = [
        Event(1, "t", "r", None, "run-started", {}),
        Event(2, "t", "r", "driver", "step-decided", {"decision": "adopt", "reason": "25.2.1 fits"}),
        Event(3, "t", "r", "driver", "step-failed", {"message": "ended with 3"}),
        Event(4, "t", "r", "plugin", "finding", {"severity": "fault", "text": "torch: 2.10.0 -> 2.11.0"}),
        Event(5, "t", "r", None, "run-finished", {"result": "done"}),
    ]
    assert "\n".join(str(event_line(e)) for e in events) == snapshot
