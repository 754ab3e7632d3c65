"""A voice is compared with its recording, or with itself, by the same utterances every time."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from pocket_batch.audio.flac import encode_flac
from pocket_batch.data import Utterance, Voice
from pocket_batch.errors import ModelUnavailableError, UsageError
from pocket_batch.jobs.similarity import (
    VoiceLikeness,
    load_voice_model,
    lowest_similarity,
    measure_similarity,
    similarity_level,
    similarity_problem,
    unlike_keys,
)
from pocket_batch.quality.similarity import Embedding, SpeakerModel
from pocket_batch.settings import CheckSettings
from pocket_batch.stages.repair import CheckSpec
from pocket_batch.work_folder import WorkFolder

RATE_HZ = 16_000
SETTINGS = CheckSettings(voice_model="stub", voice_sample=20)
ANN = Voice("ann", "fake", "en", "CC0-1.0")
BEN = Voice("ben", "fake", "en", "CC0-1.0")


class Ear(SpeakerModel):
    """Takes the pitch for the voice: 1,000 Hz apart is nothing in common.

    Attributes:
        num_heard: pieces of audio.
    """

    def __init__(self) -> None:
        self.num_heard = 0

    def embed(self, pcm: NDArray[np.int16], rate_hz: int) -> Embedding:
        self.num_heard += 1
        hz = int(np.abs(np.fft.rfft(pcm)).argmax()) * rate_hz / len(pcm)
        angle = hz / 1000 * np.pi / 2
        return np.array([np.cos(angle), np.sin(angle)], np.float32)


class Run:
    """A work folder with utterances, each a tone of so many hertz."""

    def __init__(self, path: Path) -> None:
        self.work = WorkFolder(path)
        self.utterances: dict[str, Utterance] = {}
        self.voices: dict[str, Voice] = {}

    def say(self, key: str, voice: Voice, hz: float, seconds: float = 3.0) -> None:
        flac = encode_flac(tone(hz, seconds), RATE_HZ)
        self.work.store_audio(key, flac)
        self.voices[key] = voice
        self.utterances[key] = Utterance(
            key, "s", round(seconds * RATE_HZ), RATE_HZ, "eos", 1, 0, len(flac), 0.1
        )

    def measured(self, ear: Ear | None = None, **settings: object) -> Mapping[str, VoiceLikeness]:
        chosen = replace(SETTINGS, **settings)  # type: ignore[arg-type]
        return measure_similarity(self.work, self.utterances, self.voices, chosen, ear or Ear())


def tone(hz: float, seconds: float) -> NDArray[np.float32]:
    at = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    return (0.3 * np.sin(2 * np.pi * hz * at)).astype(np.float32)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path / "book.work")


def test_without_a_model_nothing_is_compared(run: Run) -> None:
    run.say("a1", ANN, 200)
    run.say("a2", ANN, 200)
    assert measure_similarity(run.work, run.utterances, run.voices, CheckSettings()) == {}


def test_the_line_of_another_speaker_is_found_among_those_of_a_voice(run: Run) -> None:
    for n in range(6):
        run.say(f"a{n}", ANN, 200 + 10 * n)
        run.say(f"b{n}", BEN, 800)
    run.say("wrong", BEN, 205)
    found = run.measured()
    assert list(found) == ["ann", "ben"]
    assert unlike_keys(found) == {"wrong"}
    assert found["ben"].num_compared == 7
    assert found["ben"].compared_with == "itself"
    assert next(iter(found["ben"].lowest)) == "wrong"
    assert found["ben"].lowest["wrong"] < 0.75 < found["ben"].mean < found["ben"].median
    assert min(found["ann"].lowest.values()) > 0.98


@pytest.mark.parametrize("place", ["", "pocket-batch/voices/"])
def test_a_cloned_voice_is_compared_with_its_recording(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    path = tmp_path / place / "me.wav"
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, tone(1_000, 4), RATE_HZ)
    prompt = path.name if place else str(path)  # a relative one is in the user's folder of voices
    voice = Voice("me", "fake", "en", "CC0-1.0", parameters={"prompt": prompt})
    for n in range(5):
        run.say(f"m{n}", voice, 200)
    found = run.measured()
    assert found["me"].compared_with == "recording"
    assert found["me"].median == pytest.approx(np.cos(0.8 * np.pi / 2), abs=0.01)
    assert unlike_keys(found) == set()  # one is as good as the other


@pytest.mark.parametrize("content", [None, b"", b"no audio"])
def test_a_recording_that_cannot_be_read_any_more_is_as_good_as_none(
    run: Run, tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "me.wav").write_bytes(content)
    voice = Voice("me", "fake", "en", "CC0-1.0", parameters={"prompt": str(tmp_path / "me.wav")})
    run.say("m1", voice, 200)
    run.say("m2", voice, 200)
    assert run.measured()["me"].compared_with == "itself"


def test_the_same_lines_are_compared_in_whatever_order_they_come(run: Run) -> None:
    for n in range(40):
        run.say(f"a{n}", ANN, 100 + 20 * n, 2.1)
    ear = Ear()
    found = run.measured(ear, voice_sample=10)
    assert ear.num_heard == found["ann"].num_compared == 10
    run.utterances = dict(reversed(run.utterances.items()))
    assert run.measured(voice_sample=10) == found


def test_lines_of_under_two_seconds_of_speech_are_not_compared(run: Run) -> None:
    run.say("short", ANN, 900, 1.9)
    for n in range(4):
        run.say(f"a{n}", ANN, 200)
    run.say("hollow", ANN, 900, 1.0)
    pause = np.zeros(3 * RATE_HZ, np.float32)
    flac = encode_flac(np.concatenate([tone(900, 1.0), pause]), RATE_HZ)
    run.work.store_audio("hollow", flac)
    whole = Utterance("hollow", "s", 4 * RATE_HZ, RATE_HZ, "eos", 1, 0, len(flac), 0.1)
    run.utterances["hollow"] = whole
    found = run.measured()
    assert found["ann"].num_compared == 4
    assert unlike_keys(found) == set()


def test_damaged_audio_is_passed_over_and_left_to_others(run: Run) -> None:
    for n in range(3):
        run.say(f"a{n}", ANN, 200)
    run.work.audio("a0").write_bytes(b"fLaC")
    run.work.audio("a1").unlink()
    assert run.measured() == {}  # one alone is like nothing
    assert run.work.audio("a0").exists()


def test_one_of_two_is_not_called_the_wrong_one(run: Run) -> None:
    run.say("a1", ANN, 100)
    run.say("a2", ANN, 900)
    found = run.measured()
    assert found["ann"].median < 0.75
    assert unlike_keys(found) == set()


def test_two_recordings_of_one_name_are_two_voices(run: Run) -> None:
    other = Voice("ann", "fake", "en", "CC0-1.0", parameters={"state": "other.safetensors"})
    for n in range(2):
        run.say(f"a{n}", ANN, 200)
        run.say(f"o{n}", other, 800)
    found = run.measured()
    assert list(found) == ["ann", "ann (2)"]
    assert [likeness.median for likeness in found.values()] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("value", "level"),
    [(None, "ok"), (0.85, "ok"), (0.849, "warning"), (0.75, "warning"), (0.749, "critical")],
)
def test_a_voice_below_its_levels_warns_and_then_fails(value: float | None, level: str) -> None:
    assert similarity_level(value, SETTINGS) == level


def test_the_least_like_itself_of_all_voices_is_the_figure_of_a_run() -> None:
    found = {
        "ann": VoiceLikeness("itself", 9, 0.93, 0.95, {}),
        "ben": VoiceLikeness("recording", 9, 0.73, 0.71, {}),
    }
    assert lowest_similarity(found) == 0.71
    assert "Voice ben is 0.71 like its recording, less than 0.75" in (
        similarity_problem(found, SETTINGS)
    )
    assert lowest_similarity({}) is None
    assert similarity_problem({"ann": found["ann"]}, SETTINGS) == ""


def test_a_wrong_model_is_told_before_anything_is_spoken() -> None:
    assert load_voice_model(None) is None
    assert load_voice_model(CheckSpec(CheckSettings(), "en")) is None
    with pytest.raises(ModelUnavailableError, match="`stub` is neither"):
        load_voice_model(CheckSpec(SETTINGS, "en"))
    odd = CheckSettings(voice_model="stub", warn_similarity=0.5)
    with pytest.raises(UsageError, match=r"critical_similarity is 0\.75, above .*, 0\.5"):
        load_voice_model(CheckSpec(odd, "en"))
