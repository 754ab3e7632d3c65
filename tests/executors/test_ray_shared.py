"""A worker with a batched engine runs several calls at the same time."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.data import EngineSpec, Request, Sampling, Voice
from pocket_batch.engine.pocket import PocketEngine
from pocket_batch.engine.voice import VoiceState, write_state
from pocket_batch.executors import session
from pocket_batch.executors.base import Plan, Spoken, WorkerSpec, make_executor
from pocket_batch.models.made_up import random_voice_state

TEXTS = [f"{'Word ' * (i % 4)}number {i}." for i in range(200)]


@pytest.fixture
def spec(tiny_model: Callable[[str], Path], tmp_path: Path) -> WorkerSpec:
    """A random model that ends at once, with a voice of noise."""
    engine = EngineSpec("pocket", str(tiny_model("small")), sampling=Sampling(eos_threshold=-30.0))
    state = tmp_path / "voice.safetensors"
    write_state(VoiceState(random_voice_state(PocketEngine(engine).source.config, 20)), state)
    voice = Voice("noise", "pocket", "en", "CC0-1.0", parameters={"state": str(state)})
    return WorkerSpec(engine, (voice,), num_cores=2)


def speak(name: str, plan: Plan, on_result: Callable[[int], None] = lambda num: None) -> list[str]:
    """The keys of what is spoken, with lengths."""
    (voice,) = plan.spec.voices
    requests = [Request(f"key-{i}", "", text, voice, i) for i, text in enumerate(TEXTS)]
    found = []
    for result in make_executor(name, plan).run(requests, lambda: False, lambda event: None):
        assert isinstance(result, Spoken), result
        found.append(f"{result.utterance.key} {result.utterance.num_samples}")
        on_result(len(found))
    return sorted(found)


def test_calls_at_the_same_time_give_what_one_stream_gives(cluster: str, spec: WorkerSpec) -> None:
    assert speak("ray", Plan(spec, address=cluster)) == speak("local", Plan(spec))


@pytest.mark.slow
def test_killing_a_worker_with_several_calls_costs_no_text(
    spec: WorkerSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    parent = Path(f"/tmp/pbt-{os.getpid()}")  # sockets need a short path
    parent.mkdir(mode=0o700)
    monkeypatch.setattr(session, "PARENT", parent)
    kills: list[int] = []

    def kill(num_done: int) -> None:
        if num_done in (20, 100):
            for pid in session.processes_of(parent):
                if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::Worker"):
                    os.kill(pid, signal.SIGKILL)
                    kills.append(pid)

    assert speak("ray", Plan(spec), kill) == speak("local", Plan(spec))
    assert len(kills) == 2
    parent.rmdir()  # fails when something is left in it
