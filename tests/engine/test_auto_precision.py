"""`auto` is bf16 where that is fast and right, found once for a machine and its versions."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.data import EngineSpec, Precision
from pocket_batch.engine import auto_precision
from pocket_batch.engine.auto_precision import choose_precision, known_precisions, resolved
from pocket_batch.jobs.library import engine_spec
from pocket_batch.models import speed
from pocket_batch.models.cpu import Cpu, Measured

OLD = Cpu("old", frozenset({"avx2"}))
NEW = Cpu("new", frozenset({"avx2", "avx512_bf16"}))
GOOD: dict[Precision, Measured] = {
    "fp32": Measured(1.0, 0.0),
    "bf16": Measured(2.1, 0.003),
    "mixed": Measured(3.9, 0.012),
}


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., list[int]]:
    """Pretend to be on a machine; each measurement on it adds to the list that comes back."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def pretend(cpu: Cpu, bf16: Measured = GOOD["bf16"]) -> list[int]:
        done: list[int] = []

        def measure() -> dict[Precision, Measured]:
            done.append(1)
            return GOOD | {"bf16": bf16}

        monkeypatch.setattr(auto_precision, "read_cpu", lambda: cpu)
        monkeypatch.setattr(speed, "measure_precisions", measure)
        return done

    return pretend


@pytest.mark.parametrize(
    ("cpu", "bf16", "wanted"),
    [
        (NEW, GOOD["bf16"], "bf16"),
        (NEW, Measured(1.29, 0.003), "fp32"),
        (NEW, Measured(0.01, 0.003), "fp32"),
        (NEW, Measured(2.1, 0.02), "fp32"),
        (NEW, Measured(2.1, float("inf")), "fp32"),
        (NEW, Measured(2.1, float("nan")), "fp32"),
        (OLD, GOOD["bf16"], "fp32"),
    ],
)
def test_only_what_is_in_the_processor_and_fast_and_right_is_chosen(
    machine: Callable[..., list[int]], cpu: Cpu, bf16: Measured, wanted: Precision
) -> None:
    machine(cpu, bf16)
    assert choose_precision() == wanted
    assert choose_precision() == wanted, "when it was measured before"


def test_a_machine_is_measured_once(machine: Callable[..., list[int]]) -> None:
    done = machine(NEW)
    assert [choose_precision() for _ in range(3)] == ["bf16"] * 3
    assert len(done) == 1
    done = machine(Cpu("other", NEW.features))
    assert choose_precision() == "bf16"
    assert len(done) == 1


def test_a_processor_without_the_instructions_is_not_measured(
    machine: Callable[..., list[int]],
) -> None:
    done = machine(OLD)
    assert choose_precision() == "fp32"
    assert not done


def test_other_versions_are_measured_anew(
    machine: Callable[..., list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    done = machine(NEW)
    choose_precision()
    monkeypatch.setattr(auto_precision, "version", lambda _: "9.9")
    choose_precision()
    assert len(done) == 2


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"fp32": 1}', '{"fp32": [1], "bf16": [], "mixed": [2, 0]}']
)
def test_a_damaged_memory_is_made_anew(
    machine: Callable[..., list[int]], tmp_path: Path, content: str
) -> None:
    done = machine(NEW)
    choose_precision()
    (path,) = (tmp_path / "pocket-batch" / "precisions").iterdir()
    path.write_text(content)
    assert [choose_precision(), choose_precision()] == ["bf16", "bf16"]
    assert len(done) == 2


def test_without_a_place_to_remember_it_is_measured_again(
    machine: Callable[..., list[int]], tmp_path: Path
) -> None:
    (tmp_path / "pocket-batch").write_text("a file where a folder should be")
    done = machine(NEW)
    assert [choose_precision(), choose_precision()] == ["bf16", "bf16"]
    assert len(done) == 2


def test_what_the_machine_can_do_is_said_in_a_line(machine: Callable[..., list[int]]) -> None:
    machine(NEW)
    assert not known_precisions(), "before it was measured"
    choose_precision()
    assert known_precisions() == "bf16 2.1x, mixed 3.9x; auto is bf16"


def test_a_precision_that_was_asked_for_is_taken_without_looking(
    machine: Callable[..., list[int]],
) -> None:
    done = machine(NEW)
    assert [resolved(choice) for choice in ("fp32", "bf16", "mixed")] == ["fp32", "bf16", "mixed"]
    assert not done


def test_an_engine_is_made_with_a_real_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto_precision, "choose_precision", lambda: "bf16")
    assert engine_spec("pocket", "", "english", "auto", None).precision == "bf16"


def test_for_other_engines_nothing_is_measured(machine: Callable[..., list[int]]) -> None:
    done = machine(NEW)
    assert engine_spec("hibari", "", "", "auto", None) == EngineSpec("hibari")
    assert not done


def test_this_machine_is_measured_and_then_known_without_torch(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = auto_precision.measured(auto_precision.read_cpu())
    assert found["fp32"].speed == 1
    assert found["fp32"].error < 1e-5
    assert found["bf16"].error < auto_precision.MAX_ERROR
    assert found["mixed"].error < 0.05
    code = (
        "import sys; from pocket_batch.engine.auto_precision import choose_precision; "
        "choose_precision(); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
