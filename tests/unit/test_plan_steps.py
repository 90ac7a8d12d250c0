"""Steps of a plan: adopt what fits, replace what does not with from and to, firmware before driver on an upgrade."""

from __future__ import annotations

import pytest

from accel_install.facts.models import AcceleratorFacts, LayerFacts, LayersFacts, MachineFacts
from accel_install.facts.target import Target
from accel_install.plan.build import PlanInputs, build_plan, facts_digest, stale_reasons
from accel_install.plan.layers import FoundArtifact
from accel_install.plan.models import Plan
from accel_install.recipe.load import load_recipe
from accel_install.recipe.rows import complete_row, load_rows, rows_for
from accel_install.report.graph import to_dot, to_mermaid
from accel_install.resolve.models import ChosenWheel, Resolution, UnresolvedPackage

LOADED = load_recipe("ascend-910b")
ALL = load_rows("ascend")
WHEELS = tuple(
    ChosenWheel(n, v, f"{n.replace('-', '_')}-{v}-py3-none-any.whl", "https://idx.example/f", "default", "ab" * 32, 10, True)
    for n, v in (("torch", "2.10.0"), ("vllm", "0.23.0"), ("triton-ascend", "3.2.2"))
)


def layer(version: str, **details: str) -> LayerFacts:
    return LayerFacts(version=version, path="/usr/local/Ascend/x", source="version.info", details=details)


def plan(layers: LayersFacts | None = None, row: str = "ascend-vllm-0.23.0", scope: str = "host", **more) -> Plan:
    given = complete_row(next(r for r in rows_for(LOADED.recipe) if r.id == row), ALL)
    unknown = {} if layers is not None else {"layers": "not given"}
    facts = MachineFacts(
        arch="aarch64",
        glibc="2.34",
        layers=layers or LayersFacts(),
        accelerators=[AcceleratorFacts(vendor="huawei", family="910b", model="910B2")],
        unknown=unknown,
    )
    at = Target("aarch64", "3.11", "glibc", "2.34", accelerator="910B2", family="910b", scope=scope)
    resolution = more.pop("resolution", Resolution(given.id, wheels=WHEELS))
    return build_plan(
        PlanInputs(LOADED.recipe, LOADED.digest, given, ALL, resolution, at, facts, described=layers is None, **more)
    )


FITTING = LayersFacts(
    driver=layer("25.2.1", compatible_version_fw="[7.0.0,8.9.9]"),
    firmware=layer("7.7.0.9.220", compatible_version_drv="[25.2,25.2.]"),
    sdk=layer("9.1.0"),
    ops=layer("9.1.0"),
    nnal=layer("9.1.0"),
)


def decisions(made: Plan) -> dict[str, str]:
    return {s.id: s.decision for s in made.steps}


def test_a_fitting_machine_is_adopted_with_version_and_owner() -> None:
    made = plan(FITTING)
    for step in ("driver", "firmware", "cann-toolkit", "cann-ops", "nnal"):
        assert decisions(made)[step] == "adopt"
    assert "25.2.1 fits" in made.step("driver").reason and "vendor" in made.step("driver").reason
    assert made.step("driver").artifacts == []


def test_an_old_machine_is_upgraded_firmware_first_with_from_and_to() -> None:
    old = LayersFacts(driver=layer("24.1.rc3"), firmware=layer("7.5.0.1.129"), sdk=layer("8.5.0"), ops=layer("8.5.0"))
    made = plan(old)
    assert decisions(made)["driver"] == decisions(made)["cann-toolkit"] == "replace"
    assert "from 24.1.rc3 to 26.0.RC1" in made.step("driver").reason
    assert "stop first" in made.step("driver").reason and "davinci" in made.step("driver").reason
    assert "is not among those CANN 9.1.0 accepts" in made.step("driver").reason
    assert made.step("firmware").decision == "replace" and "from 7.5.0.1.129" in made.step("firmware").reason
    assert "from 8.5.0 to 9.1.0" in made.step("cann-toolkit").reason
    ids = [s.id for s in made.steps]
    assert ids.index("firmware") < ids.index("driver")
    for n, step in enumerate(made.steps):
        assert set(step.needs) <= set(ids[:n]), step.id


def test_a_bare_machine_installs_the_driver_first() -> None:
    made = plan(LayersFacts())
    ids = [s.id for s in made.steps]
    assert decisions(made)["driver"] == "do" and ids.index("driver") < ids.index("firmware")
    assert made.step("driver").artifacts[0].name == "Ascend-hdk-910b-npu-driver_26.0.RC1_linux-aarch64.run"
    assert made.step("cann-ops").artifacts[0].name == "Ascend-cann-910b-ops_9.1.0_linux-aarch64.run"


def test_a_documented_misfit_of_firmware_is_replaced_and_says_why() -> None:
    bad = FITTING.model_copy(update={"firmware": layer("9.9.9.9.9")})
    step = plan(bad).step("firmware")
    assert step.decision == "replace" and "7.0.0,8.9.9" in step.reason


def test_what_nobody_documents_is_a_warning() -> None:
    made = plan(FITTING)
    assert any("firmware" in w for w in made.warnings)
    assert any("nobody documents" in w for w in plan(LayersFacts(), row="ascend-vllm-0.11.0").warnings)


def test_unknown_layers_are_planned_as_on_a_bare_machine_and_that_is_said() -> None:
    made = plan(None)
    assert made.step("driver").decision == "do" and "state unknown" in made.step("driver").reason
    assert any("bare machine" in w for w in made.warnings)


def test_found_artifacts_are_named_with_digest() -> None:
    found = FoundArtifact("Ascend-cann-kernels-910b_9.1.0_linux-aarch64.run", "/a/x.run", "cd" * 32, 5)
    made = plan(LayersFacts(), artifacts=(found,))
    assert made.step("cann-ops").artifacts[0].sha256 == "cd" * 32


@pytest.mark.parametrize(
    ("scope", "absent"),
    [("container", {"driver", "firmware"}), ("python", {"driver", "firmware", "cann-toolkit", "nnal", "env-profile"})],
)
def test_scopes_drop_layers_and_keep_the_order(scope: str, absent: set[str]) -> None:
    made = plan(LayersFacts(), scope=scope)
    ids = [s.id for s in made.steps]
    assert not absent & set(ids)
    for n, step in enumerate(made.steps):
        assert set(step.needs) <= set(ids[:n])


def test_a_row_without_fork_has_no_fork_step() -> None:
    assert "triton-fork" not in decisions(plan(LayersFacts(), row="ascend-vllm-0.11.0"))


def test_unresolved_packages_defer_their_step_and_make_the_plan_incomplete() -> None:
    missing = UnresolvedPackage("triton-ascend", "3.2.2", "ascend", "index-unreachable", "out of reach", ("3.2.0",))
    made = plan(FITTING, resolution=Resolution("r", wheels=WHEELS[:2], unresolved=(missing,)))
    assert not made.complete and decisions(made)["triton-fork"] == "defer"
    assert made.unresolved[0].alternatives == ["3.2.0"]


def test_wheels_belong_to_steps() -> None:
    made = plan(FITTING)
    assert {w.name: w.step for w in made.wheels} == {"torch": "torch-family", "vllm": "plugin", "triton-ascend": "triton-fork"}
    assert made.download_bytes == 30


def test_stale_plans_say_in_which_respect() -> None:
    fresh = plan(FITTING)
    assert stale_reasons(fresh, plan(FITTING)) == []
    assert stale_reasons(fresh, plan(LayersFacts())) == ["the machine's facts changed"]
    other = fresh.model_copy(update={"recipe_digest": "sha256:x"})
    assert "the recipe changed" in stale_reasons(other, fresh)
    fewer = plan(FITTING, resolution=Resolution("r", wheels=WHEELS[:1]))
    assert any("vllm" in r for r in stale_reasons(fresh, fewer))


def test_the_facts_digest_ignores_what_changes_by_itself() -> None:
    facts = MachineFacts(arch="aarch64", memory_bytes=1, kernel="a", accelerators=[AcceleratorFacts(model="910B2", health="OK")])
    later = MachineFacts(
        arch="aarch64", memory_bytes=2, kernel="b", accelerators=[AcceleratorFacts(model="910B2", health="Alarm")]
    )
    assert facts_digest(facts) == facts_digest(later)
    assert facts_digest(facts) != facts_digest(MachineFacts(arch="x86_64"))


def test_graphs_hold_every_step_and_edge() -> None:
    made = plan(FITTING)
    dot, mermaid = to_dot(made), to_mermaid(made)
    assert all(f'"{s.id}"' in dot for s in made.steps) and dot.count("->") == sum(len(s.needs) for s in made.steps)
    assert mermaid.startswith("flowchart") and mermaid.count("-->") == dot.count("->")


def test_a_plan_survives_its_own_json() -> None:
    made = plan(FITTING)
    assert Plan.model_validate(made.to_document()) == made
