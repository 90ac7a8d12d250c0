"""Lockfiles: canonical bytes, what stays out of them, tampering, and the way back to a plan."""

from __future__ import annotations

import locale
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accel_install.errors import BundleOrLockError
from accel_install.facts.models import (
    AcceleratorFacts,
    LayerFacts,
    LayersFacts,
    MachineFacts,
    OsFacts,
    PythonFacts,
)
from accel_install.lock.from_plan import lock_of
from accel_install.lock.model import LockFile
from accel_install.lock.names import lock_filename, machine_name
from accel_install.lock.read import load_lock, parse_lock
from accel_install.lock.to_plan import plan_of
from accel_install.lock.toml_text import toml_document, without_none
from accel_install.lock.write import lock_bytes, lock_digest
from accel_install.plan.models import (
    Artifact,
    Plan,
    PlanLeftOut,
    PlanOverride,
    PlanStep,
    PlanUnresolved,
    PlanWheel,
)

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def _wheel(name: str, **more: Any) -> PlanWheel:
    given_values: dict[str, Any] = {
        "name": name,
        "version": "1.0",
        "filename": f"{name}-1.0-py3-none-any.whl",
        "url": f"https://idx.example/simple/{name}/{name}-1.0-py3-none-any.whl",
        "index": "default",
        "sha256": "ab" * 32,
        "size_bytes": 12,
        "step": "wheels",
        "bound": False,
    }
    return PlanWheel(**{**given_values, **more})


def make_plan(**more: Any) -> Plan:
    values: dict[str, Any] = {
        "recipe": "ascend-910b",
        "recipe_source": "/somewhere/recipes/ascend-910b.yaml",
        "stack": "ascend-910b",
        "row": "ascend-vllm-0.23.0",
        "row_status": "published",
        "row_source": "policy page https://docs.example/policy.md; idx.example.com/simple",
        "row_date": "2026-08-22",
        "target": {"arch": "aarch64", "python": "3.11", "glibc": "2.34", "musl": None, "family": "910b"},
        "complete": True,
        "steps": [
            PlanStep(
                id="driver",
                kind="runfile",
                title="NPU driver (from support.example.com)",
                layer="driver",
                version="25.5.1",
                installed="25.2.0",
                accepts=["25.2", "25.5"],
                decision="adopt",
                reason="fits at /usr/local",
                artifacts=[Artifact(name="Ascend-hdk.run", path="/tmp/x/Ascend-hdk.run", sha256="cd" * 32, size_bytes=9)],
                params={
                    "page": "https://vendor.example/dl",
                    "options": {"--full": True, "n": [1, 2.5, 'é"\\']},
                },
            ),
            PlanStep(
                id="wheels",
                kind="wheels",
                title="closure",
                needs=["driver"],
                decision="skip",
                protects=["*"],
                params={"none": None, "nested": {"z": 1, "a": None, "b": [{"k": "v"}]}},
            ),
        ],
        "wheels": [
            _wheel("zeta"),
            _wheel("alpha", index="ascend", bound=True),
            _wheel("mid", index="file:///x/y"),
        ],
        "unresolved": [
            PlanUnresolved(
                name="triton-ascend",
                version="3.2.2",
                index="ascend",
                reason="index-unreachable",
                detail="https://mirror.example/ascend: timeout",
                alternatives=["3.2.0"],
            )
        ],
        "predicted_overrides": [PlanOverride(package="torch", pinned="2.10.0", wanted="==2.11.0", by="vllm 0.23.0")],
        "left_out": [PlanLeftOut(name="triton", reason="fork", size_bytes=None)],
        "expected_conflicts": [{"package": "vllm", "requires": "torch", "reason": "see http://bugs.example/1"}],
        "exclusive": [{"module": "triton", "provider": None, "members": ["triton"], "reason": "r"}],
        "environment": {"scripts": [["/a/set_env.sh", "/b/set_env.sh"]], "variables": {"B": "1", "A": "2"}},
        "recipe_digest": "sha256:1",
    }
    return Plan(**{**values, **more})


FACTS = MachineFacts(
    os=OsFacts(id="openeuler", version_id="22.03"),
    arch="aarch64",
    glibc="2.34",
    kernel="5.10.0",
    python=PythonFacts(executable="/opt/py/bin/python", version="3.11.7", abi="cp311"),
    accelerators=[AcceleratorFacts(vendor="huawei", family="910b", model="910B2", index=n) for n in range(8)],
    layers=LayersFacts(driver=LayerFacts(version="25.2.0", path="/usr/local/Ascend/driver")),
)
RUN = {
    "generated_at": "2026-12-01T12:00:00Z",
    "host": "npu-07",
    "verified_level": "L4",
    "page": "see https://x.example/e",
}


def test_bytes_come_back_as_the_same_lock(tmp_path: Path) -> None:
    lock = lock_of(make_plan(), FACTS, RUN, tools={"uv": "0.13.9"})
    path = tmp_path / "m.lock.toml"
    path.write_bytes(lock_bytes(lock))
    again = load_lock(path)
    assert lock_bytes(again) == path.read_bytes()
    assert again.digest == lock_digest(lock)
    assert again.machine.accelerators[0].count == 8
    assert again.layers[0].artifacts[0].name == "Ascend-hdk.run"
    assert [w.name for w in again.wheels] == ["alpha", "mid", "zeta"]
    assert again.steps[1].params == {"nested": {"b": [{"k": "v"}], "z": 1}}
    assert again.steps[0].params == {"options": {"--full": True, "n": [1, 2.5, 'é"\\']}}


def test_run_comes_last_and_is_not_digested() -> None:
    lock = lock_of(make_plan(), FACTS, RUN)
    other = lock_of(make_plan(), FACTS, {**RUN, "host": "other", "generated_at": "later"})
    text = lock_bytes(lock).decode()
    tables = [line for line in text.splitlines() if line.startswith("[")]
    assert tables[-1] == "[run]"
    assert lock_digest(lock) == lock_digest(other)
    assert text.partition("\n[run]\n")[0] == lock_bytes(other).decode().partition("\n[run]\n")[0]
    assert "[run]" not in lock_bytes(lock_of(make_plan(described=True), FACTS, RUN)).decode()
    assert "npu-07" not in text.partition("\n[run]\n")[0]


def test_no_address_no_host_and_no_path_of_this_machine() -> None:
    text = lock_bytes(lock_of(make_plan(), FACTS, RUN)).decode()
    for absent in (
        "://",
        "idx.example",
        "mirror.example",
        "vendor.example",
        "support.example",
        "/tmp/",
        "/somewhere",
    ):
        assert absent not in text
    assert 'index = "find-links"' in text
    assert "policy page" in text


def test_page_order_and_mirror_do_not_change_the_bytes() -> None:
    plan = make_plan()
    mirrored = make_plan(
        wheels=[w.model_copy(update={"url": f"file:///mirror/{w.filename}"}) for w in reversed(plan.wheels)],
        recipe_source="/elsewhere.yaml",
        inputs={"index": "other"},
        python_executable="/other/python",
        unresolved=[plan.unresolved[0].model_copy(update={"detail": "another text"})],
    )
    assert lock_bytes(lock_of(plan, FACTS)) == lock_bytes(lock_of(mirrored, FACTS))


_CHILD = """
import locale, os, sys
os.umask(int(sys.argv[2], 8)); os.chdir(sys.argv[3])
from accel_install.plan.models import Plan
from accel_install.facts.models import MachineFacts
from accel_install.lock.from_plan import lock_of
from accel_install.lock.write import lock_bytes
import json, pathlib
document = json.loads(pathlib.Path(sys.argv[1]).read_text("utf-8"))
plan, facts = Plan.model_validate(document["plan"]), MachineFacts.model_validate(document["facts"])
sys.stdout.buffer.write(lock_bytes(lock_of(plan, facts)))
"""


@pytest.mark.parametrize(("umask", "lang", "seed"), [("077", "C", "1"), ("000", "tr_TR.UTF-8", "2"), ("022", "C.UTF-8", "3")])
def test_other_umask_folder_and_locale_give_the_same_bytes(tmp_path: Path, umask: str, lang: str, seed: str) -> None:
    import json

    given_file = tmp_path / "in.json"
    given_file.write_text(json.dumps({"plan": make_plan().to_document(), "facts": FACTS.model_dump()}), "utf-8")
    folder = tmp_path / f"folder-{seed}"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(given_file), umask, str(folder)],
        env={**os.environ, "LC_ALL": lang, "LANG": lang, "PYTHONHASHSEED": seed, "TZ": "Asia/Tokyo"},
        capture_output=True,
        check=True,
    )
    assert done.stdout == lock_bytes(lock_of(make_plan(), FACTS))
    assert locale.setlocale(locale.LC_CTYPE) is not None


def _load_error(data: bytes) -> BundleOrLockError:
    with pytest.raises(BundleOrLockError) as caught:
        parse_lock(data, "m.lock.toml")
    assert caught.value.exit_code == 16
    return caught.value


@pytest.mark.parametrize(
    ("change", "slug"),
    [
        (lambda t: t.replace('version = "1.0"', 'version = "1.1"', 1), "lock.digest-mismatch"),
        (lambda t: t.replace("ab" * 32, "ac" * 32, 1), "lock.digest-mismatch"),
        (lambda t: t.replace('host = "npu-07"', 'host = "x"'), None),
        (lambda t: t.replace("version = 1\n", "version = 2\n", 1), "lock.bad-schema"),
        (lambda t: t + "\nbroken", "lock.unreadable"),
        (lambda t: t.replace("[[wheels]]", "[[wheelz]]"), "lock.bad-schema"),
    ],
)
def test_a_changed_lock_is_refused(change: Callable[[str], str], slug: str | None) -> None:
    data = change(lock_bytes(lock_of(make_plan(), FACTS, RUN)).decode()).encode()
    if slug is None:
        assert parse_lock(data, "m").run is not None
    else:
        assert _load_error(data).slug == slug


def test_all_problems_are_named_at_once() -> None:
    text = lock_bytes(lock_of(make_plan(), FACTS)).decode()
    text = text.replace('index = "ascend"\nsha256', 'index = "a b"\nsha256').replace("size_bytes = 12", 'size_bytes = "x"', 1)
    text = text.replace('digest = "sha256:', 'digits = "sha256:', 1)
    fields = {p["field"] for p in _load_error(text.encode()).details["problems"]}
    assert {"digest", "digits", "wheels.0.index", "wheels.0.size_bytes"} <= fields


def test_inconsistent_locks_are_refused() -> None:
    lock = lock_of(make_plan(), FACTS)
    lock.wheels[1].name = lock.wheels[0].name
    lock.wheels[2].step = "nowhere"
    messages = str(_load_error(lock_bytes(lock)).details["problems"])
    assert "alpha is locked twice" in messages
    assert "no step nowhere" in messages


def test_missing_file_and_binary_file(tmp_path: Path) -> None:
    with pytest.raises(BundleOrLockError) as caught:
        load_lock(tmp_path / "none.toml")
    assert caught.value.slug == "lock.unreadable"
    assert _load_error(b"\xff\xfe\x00").slug == "lock.unreadable"
    assert _load_error(b"").slug == "lock.bad-schema"


def test_wheels_without_digest_cannot_be_locked_unless_it_is_supplied() -> None:
    plan = make_plan(wheels=[_wheel("bare", sha256=None)])
    with pytest.raises(BundleOrLockError) as caught:
        lock_of(plan, FACTS)
    assert (caught.value.slug, caught.value.value) == ("lock.no-digest", "bare-1.0-py3-none-any.whl")
    assert lock_of(plan, FACTS, digests={"bare-1.0-py3-none-any.whl": "EF" * 32}).wheels[0].sha256 == "ef" * 32


def test_a_plan_of_a_lock_makes_the_same_lock() -> None:
    lock = parse_lock(lock_bytes(lock_of(make_plan(), FACTS)), "m")
    plan = plan_of(lock, "sha256:facts")
    assert plan.facts_digest == "sha256:facts"
    assert {w.url for w in plan.wheels} == {None}
    assert plan.target["musl"] is None
    assert plan.exclusive[0]["provider"] is None
    driver = plan.step("driver")
    assert (driver.version, driver.installed, driver.accepts, driver.decision) == (
        "25.5.1",
        "25.2.0",
        ["25.2", "25.5"],
        "adopt",
    )
    assert driver.artifacts == [Artifact(name="Ascend-hdk.run", sha256="cd" * 32, size_bytes=9)]
    assert plan.step("wheels").decision == "do"
    assert lock_digest(lock_of(plan, FACTS)) == lock.digest


def test_an_empty_plan_can_be_locked() -> None:
    lock = lock_of(Plan(recipe="r", stack="r", row=None, target={}, complete=True, steps=[]), MachineFacts())
    assert isinstance(parse_lock(lock_bytes(lock), "m"), LockFile)


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",))),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=("Cs",)), max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=("Cs",)), max_size=6), _JSON, max_size=5))
def test_any_document_is_read_back_as_it_was_written(document: dict[str, Any]) -> None:
    plain = without_none(document)
    assert tomllib.loads(toml_document(plain)) == plain


def test_names_of_machines() -> None:
    target = {"arch": "aarch64", "python": "3.11"}
    assert machine_name("ascend-910b", target, host="npu 07/x") == "npu-07-x"
    assert machine_name("ascend-910b", target, host="h", described=True) == "ascend-910b-aarch64-3.11"
    assert machine_name("r", target, host="h", machine_file="/m/a2.box.yaml", described=True) == "a2.box"
    assert lock_filename("npu-07") == "npu-07.lock.toml"
