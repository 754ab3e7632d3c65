"""Listing voices, checking recordings, adding voices, and hearing those of small engines."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from pocket_batch.config import load_voices
from pocket_batch.data import Request, Voice
from pocket_batch.engine.base import Output
from pocket_batch.engine.fake import FakeEngine

Command = Callable[..., int]
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of the user's own for each test, where nothing was downloaded."""
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.delenv("POCKET_BATCH_MIRROR", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home" / "pocket-batch" / "voices"


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """Six seconds of syllables at 44.1 kHz in stereo, with little noise."""
    seconds = np.arange(6 * 44_100) / 44_100
    tone = np.sign(np.sin(2 * np.pi * 150 * seconds)) * np.clip(np.sin(9 * seconds), 0, 1) ** 2
    tone = 0.3 * tone + 1e-4 * np.random.default_rng(1).standard_normal(len(tone))
    soundfile.write(tmp_path / "ann.wav", np.stack([tone, 0.5 * tone], axis=1), 44_100)
    return tmp_path / "ann.wav"


def write(path: Path, samples: object, rate_hz: int = 24_000) -> Path:
    soundfile.write(path, samples, rate_hz)
    return path


def added(name: str) -> Voice:
    voices, problems = load_voices()
    assert problems == []
    return voices[name]


# Listing


def test_the_list_is_what_comes_without_a_word(command: Command, capsys: Capture) -> None:
    assert command("voices", "--all", "--json") == 0
    plain = capsys.readouterr().out
    for words in (("list", "--all", "--json"), ("--all", "list", "--json")):
        assert command("voices", *words) == 0
        assert capsys.readouterr().out == plain
    voices = {v["name"]: v for v in map(json.loads, plain.splitlines())}
    assert voices["tone"]["here"] == voices["heart"]["here"] == "yes"
    assert voices["alba"]["here"] == "no"
    assert len(voices) >= 33
    assert command("voices") == 0
    shown = capsys.readouterr().out
    assert "alba" in shown
    assert "tone" not in shown


def test_each_voice_is_one_line_where_there_is_no_terminal(
    command: Command, capsys: Capture, recording: Path
) -> None:
    command("voices", "add", "ann", recording, "--description", 300 * "x")
    capsys.readouterr()
    assert command("voices") == 0
    lines = capsys.readouterr().out.splitlines()
    (own,) = (line for line in lines if line.startswith("ann "))
    assert 300 * "x" in own
    (emma,) = (line for line in lines if line.startswith("emma "))
    assert "hibari " not in emma.replace("hibari", "", 1)


@pytest.mark.parametrize("words", ["", "--json"])
def test_a_reader_of_the_list_that_leaves_is_no_failure(words: str) -> None:
    shell = f"{sys.executable} -m pocket_batch voices {words} | true; exit ${{PIPESTATUS[0]}}"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        ["bash", "-c", shell], env=environment, check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_list_is_quick(command: Command) -> None:
    command("voices", "--json")
    started = time.perf_counter()
    command("voices", "--json")
    assert time.perf_counter() - started < 1.0


def test_a_file_that_is_no_voice_is_told_of_and_hurts_no_other(
    command: Command, capsys: Capture, home: Path
) -> None:
    home.mkdir(parents=True)
    (home / "odd.yaml").write_text("name: odd\nengin: pocket\n")
    assert command("voices", "--json") == 0
    captured = capsys.readouterr()
    assert all(json.loads(line) for line in captured.out.splitlines())
    assert "odd.yaml" in captured.err


# Checking


def test_a_usable_recording_is_shown_with_its_warnings_and_no_failure(
    command: Command, capsys: Capture, recording: Path, tmp_path: Path
) -> None:
    assert command("voices", "check", recording) == 0
    shown = capsys.readouterr().out
    for part in ("6.0 s", "44,100 Hz", "LUFS", "dB below", "It can be a voice"):
        assert part in shown
    samples, rate_hz = soundfile.read(recording)
    samples = samples[: 4 * rate_hz, 0]
    samples += 0.03 * np.random.default_rng(1).standard_normal(len(samples))
    flawed = write(tmp_path / "flawed.wav", samples, rate_hz)
    assert command("voices", "check", flawed) == 0
    shown = capsys.readouterr().out
    assert "Warning: It has only" in shown
    (estimate,) = re.findall(r"Noise          about (\S+) dB", shown)
    assert f"Warning: The noise is only about {estimate} dB below the voice" in shown
    assert command("voices", "check", flawed, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["seconds"] == 4.0
    assert len(report["warnings"]) == 2
    assert report["refusal"] == ""


def test_noise_is_not_called_a_voice(command: Command, capsys: Capture, tmp_path: Path) -> None:
    noise = write(tmp_path / "noise.wav", 0.1 * np.random.default_rng(1).standard_normal(72_000))
    for words in (("check", noise), ("add", "noise", noise)):
        assert command("voices", *words) == 3
        captured = capsys.readouterr()
        assert "not good enough" in captured.err
        assert "can be a voice" not in captured.out


def test_of_a_long_recording_the_first_half_minute_counts(
    command: Command, capsys: Capture, recording: Path, tmp_path: Path
) -> None:
    samples, rate_hz = soundfile.read(recording)
    long = write(tmp_path / "long.wav", np.tile(samples, (6, 1)), rate_hz)
    assert command("voices", "check", long) == 0
    assert "a voice prompt at most 30 s: the first" in capsys.readouterr().out


def test_an_unusable_recording_is_shown_and_refused_with_3(
    command: Command, capsys: Capture, tmp_path: Path
) -> None:
    silent = write(tmp_path / "silent.wav", np.zeros(72_000))
    assert command("voices", "check", silent) == 3
    assert "silent.wav: The recording has 0.0 s of speech" in capsys.readouterr().err
    assert command("voices", "check", silent, "--json") == 3
    report = json.loads(capsys.readouterr().out)
    assert report["lufs"] is None
    assert report["refusal"]
    assert command("voices", "check", tmp_path / "none.wav") == 3
    assert "no such file" in capsys.readouterr().err


# Adding


def test_a_recording_becomes_a_voice_with_a_prepared_copy(
    command: Command, capsys: Capture, recording: Path, home: Path
) -> None:
    words = ("--language", "en-GB", "--licence", "CC0-1.0", "--description", 'Ann: "me"')
    assert command("voices", "add", "ann", recording, *words) == 0
    assert "Length         6.0 s" in capsys.readouterr().out
    voice = added("ann")
    assert (voice.engine, voice.language, voice.licence) == ("pocket", "en-GB", "CC0-1.0")
    assert (voice.description, voice.source) == ('Ann: "me"', "ann.wav")
    assert voice.parameters == {"prompt": str(home / "ann.flac")}
    samples, rate_hz = soundfile.read(home / "ann.flac")
    assert (rate_hz, samples.ndim) == (24_000, 1)
    assert not samples[-1900:].any()
    assert sorted(path.name for path in home.iterdir()) == ["ann.flac", "ann.yaml"]
    assert command("voices", "--json") == 0
    assert '"ann"' in capsys.readouterr().out


def test_a_voice_that_cannot_speak_yet_is_added_with_what_it_needs(
    command: Command, capsys: Capture, recording: Path
) -> None:
    assert command("voices", "add", "ann", recording) == 0
    shown = capsys.readouterr().out
    assert "was not compared" in shown
    assert "pocket-batch models pull english" in shown
    assert "Hear it" not in shown


def test_a_voice_without_a_description_gets_one(command: Command, recording: Path) -> None:
    assert command("voices", "add", "ann", recording) == 0
    assert re.fullmatch(
        r"recording ann\.wav, 6\.0 s, added \d{4}-\d\d-\d\d", added("ann").description
    )


def test_a_model_or_language_that_there_is_not_is_refused_before_anything_is_kept(
    command: Command, capsys: Capture, recording: Path, home: Path
) -> None:
    assert command("voices", "add", "ann", recording, "--model", "nobody") == 4
    assert "no model `nobody`" in capsys.readouterr().err
    assert command("voices", "add", "ann", recording, "--language", "ja") == 4
    assert "No released model speaks `ja`" in capsys.readouterr().err
    assert command("voices", "add", "ann", recording, "--language", "french") == 2
    assert "The code of French is `fr`" in capsys.readouterr().err
    assert not home.exists()


def test_odd_names_and_words_end_in_a_sentence_of_their_own(
    command: Command, capsys: Capture, recording: Path, home: Path, tmp_path: Path
) -> None:
    odd = recording.rename(tmp_path / os.fsdecode(b"\xff.wav"))
    assert command("voices", "add", 64 * "\U00020000", odd) == 2
    assert command("voices", "add", "ann", odd, "--description", "\udcff") == 2
    assert command("voices", "add", "ann", 5000 * "a") == 3
    assert command("voices", "preview", 5000 * "a", "Hello.") == 4
    assert command("voices", "add", "ann", odd) == 0
    assert added("ann").source == "?.wav"
    assert "bug" not in capsys.readouterr().err


def test_a_voice_of_ones_own_can_be_removed_and_no_other(
    command: Command, capsys: Capture, recording: Path, home: Path
) -> None:
    assert command("voices", "remove", "alba") == 2
    assert "came with the package" in capsys.readouterr().err
    assert command("voices", "remove", "ann") == 4
    command("voices", "add", "ann", recording)
    assert command("voices", "remove", "ann") == 0
    assert list(home.iterdir()) == []
    assert command("voices", "remove", "../ann") == 4
    command("voices", "add", "alba", recording, "--overwrite")
    assert command("voices", "remove", "alba") == 0
    assert "shipped voice `alba`" in capsys.readouterr().out
    (home / "zoe.yaml").write_text("{name: ann, engine: fake, language: en, licence: CC0-1.0}")
    assert command("voices", "remove", "ann") == 5


def test_a_name_that_is_taken_is_refused_unless_it_may_be_replaced(
    command: Command, capsys: Capture, recording: Path, home: Path
) -> None:
    assert command("voices", "add", "alba", recording) == 5
    assert "There is a voice `alba` already" in capsys.readouterr().err
    assert not home.exists()
    assert command("voices", "add", "alba", recording, "--overwrite") == 0
    assert added("alba").parameters == {"prompt": str(home / "alba.flac")}
    assert command("voices", "add", "alba", recording) == 5


def test_the_recording_itself_is_never_written_over(
    command: Command, capsys: Capture, recording: Path, home: Path
) -> None:
    home.mkdir(parents=True)
    mine = home / "ann.flac"
    soundfile.write(mine, *soundfile.read(recording))
    before = mine.read_bytes()
    assert command("voices", "add", "ann", mine, "--overwrite") == 5
    assert "Move it to another folder" in capsys.readouterr().err
    assert mine.read_bytes() == before


def test_a_second_file_of_the_same_voice_is_told_of(
    command: Command, capsys: Capture, recording: Path, home: Path
) -> None:
    home.mkdir(parents=True)
    (home / "zoe.yaml").write_text("{name: ann, engine: fake, language: en, licence: CC0-1.0}")
    assert command("voices", "add", "ann", recording, "--overwrite") == 0
    assert "another file" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "options"),
    [("../ann", ()), ("", ()), ("a b", ()), ("ann.wav", ()), ("ann", ("--language", "English!"))],
)
def test_names_and_languages_that_make_no_sense_are_refused_with_2(
    name: str, options: tuple[str, ...], command: Command, recording: Path, home: Path
) -> None:
    assert command("voices", "add", name, recording, *options) == 2
    assert not home.exists()


def test_an_unusable_recording_is_not_added(command: Command, tmp_path: Path, home: Path) -> None:
    short = write(tmp_path / "short.wav", 0.3 * np.sin(np.arange(9_000) / 20))
    assert command("voices", "add", "short", short) == 3
    assert command("voices", "add", "none", tmp_path / "none.wav") == 3
    assert command("voices", "add", "none", tmp_path / "none.safetensors") == 3
    assert not home.exists()


# Hearing


@pytest.mark.parametrize("name", ["tone", "heart"])
def test_a_preview_speaks_all_of_a_text_whatever_its_length(
    name: str, command: Command, capsys: Capture, tmp_path: Path
) -> None:
    sentence = "The rain had stopped an hour ago, and 12 lamps were lit. "
    lengths = []
    for text in (sentence, sentence + "\n\n" + 12 * sentence):
        assert command("voices", "preview", name, text) == 0
        pcm, rate_hz = soundfile.read(tmp_path / f"{name}-preview.wav")
        assert rate_hz == 24_000
        lengths.append(len(pcm))
    assert lengths[1] > 8 * lengths[0]
    assert f"{name}-preview.wav: " in capsys.readouterr().out


def test_a_preview_goes_where_it_was_asked_to_and_replaces_nothing(
    command: Command, capsys: Capture, tmp_path: Path
) -> None:
    out = tmp_path / "new" / "a.wav"
    assert command("voices", "preview", "tone", "Good evening.", "-o", out) == 5
    assert "there is no folder" in capsys.readouterr().err
    out.parent.mkdir()
    assert command("voices", "preview", "tone", "Good evening.", "-o", out) == 0
    assert command("voices", "preview", "tone", "Good evening.", "-o", out) == 5
    assert command("voices", "preview", "tone", "Good day.", "-o", out, "--overwrite") == 0
    assert command("voices", "preview", "tone", "Good day.", "-o", tmp_path / "a.mp3") == 2
    assert "a .wav file" in capsys.readouterr().err
    assert [path.name for path in out.parent.iterdir()] == ["a.wav"]


def test_a_preview_that_was_cut_off_says_so(command: Command, capsys: Capture) -> None:
    assert command("voices", "preview", "tone", "Here is noeos: for you.") == 0
    assert "did not come to an end" in capsys.readouterr().out


def test_a_preview_says_what_it_is_doing(command: Command, capsys: Capture) -> None:
    assert (
        command("voices", "preview", "tone", "Good evening, all of you.\n\nGood night to you.") == 0
    )
    shown = capsys.readouterr().err
    assert "Loading the voice." in shown
    assert "Speaking 2 segments." in shown


def test_a_preview_speaks_each_text_once(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    spoken: list[str] = []
    generate = FakeEngine.generate

    def counted(self: FakeEngine, requests: Iterable[Request]) -> Iterator[Output]:
        requests = list(requests)
        spoken.extend(request.text for request in requests)
        return generate(self, requests)

    monkeypatch.setattr(FakeEngine, "generate", counted)
    day, night = "Good day to you all.", "Good night to you all."
    assert command("voices", "preview", "tone", f"{day}\n\n{night}\n\n{day}") == 0
    assert sorted(spoken) == [day, night]


def test_samples_that_are_no_numbers_are_never_written(
    command: Command, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: FakeEngine, requests: Iterable[Request]) -> Iterator[Output]:
        for request in requests:
            yield Output(request.key, np.full(24_000, np.nan, np.float32), "eos", 0.0)

    monkeypatch.setattr(FakeEngine, "generate", broken)
    assert command("voices", "preview", "tone", "Good evening.") == 5
    assert "The voice tone with the model fake" in capsys.readouterr().err
    assert not (tmp_path / "tone-preview.wav").exists()


def test_a_text_without_words_is_refused_with_2(command: Command, capsys: Capture) -> None:
    assert command("voices", "preview", "tone", " ... ") == 2
    assert "nothing to speak" in capsys.readouterr().err


def test_a_voice_that_is_not_here_is_refused_with_4(
    command: Command, capsys: Capture, tmp_path: Path
) -> None:
    assert command("voices", "preview", "haert", "Hello.") == 4
    shown = capsys.readouterr().err
    assert "There is no voice `haert`. Did you mean `heart`?" in shown
    assert command("voices", "preview", "xyzzy", "Hello.") == 4
    assert "alba" not in capsys.readouterr().err
    assert command("voices", "preview", "", "Hello.") == 2
    for words in (("preview", "alba", "Hello."), ("export", "alba", "-o", "a.safetensors")):
        assert command("voices", *words) == 4
    assert list(tmp_path.glob("*.*")) == []


def test_an_engine_with_one_model_and_no_states_says_so(command: Command, capsys: Capture) -> None:
    assert command("voices", "preview", "tone", "Hello.", "--model", "english") == 2
    assert "is for voices of Pocket TTS" in capsys.readouterr().err
    assert command("voices", "export", "tone", "-o", "a.safetensors") == 2
    assert "has no states" in capsys.readouterr().err
    assert command("voices", "export", "tone", "-o", "a.wav") == 2
