"""The example lockfile of the tree: sound, canonical, and refused where it is incomplete."""

from __future__ import annotations

from pathlib import Path

from accel_install.lock.read import load_lock
from accel_install.lock.to_plan import plan_of
from accel_install.lock.write import lock_bytes

EXAMPLE = Path(__file__).parents[2] / "lockfiles/ascend-910b-aarch64-3.11.lock.toml"


def test_the_example_is_canonical_and_names_no_address() -> None:
    lock = load_lock(EXAMPLE)
    assert lock_bytes(lock) == EXAMPLE.read_bytes()
    assert b"://" not in EXAMPLE.read_bytes() and b"[run]" not in EXAMPLE.read_bytes()


def test_the_example_gives_the_plan_it_was_made_of() -> None:
    plan = plan_of(load_lock(EXAMPLE))
    pins = {w.name: w.version for w in plan.wheels}
    assert (pins["torch"], pins["torch-npu"], pins["vllm-ascend"]) == ("2.10.0", "2.10.0.post4", "0.23.0")
    assert [u.name for u in plan.unresolved] == ["triton-ascend"] and not plan.complete


def test_an_incomplete_lock_is_refused(tool, tmp_path: Path) -> None:
    ended = tool("apply", "--locked", EXAMPLE, "--state-dir", tmp_path / "s")
    assert ended.returncode == 16 and "triton-ascend 3.2.2" in ended.stderr
    assert not (tmp_path / "s").exists()
