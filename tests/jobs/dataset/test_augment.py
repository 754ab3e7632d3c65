"""Variants beside originals: what was done is recorded, and the same seed does the same."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile

from pocket_batch.audio.augment import (
    CODECS,
    NOISES,
    at_speed,
    coloured_noise,
    in_room,
    rms,
    simulated_room,
    through_codec,
    with_noise,
)
from pocket_batch.cli.main import main
from pocket_batch.jobs.dataset.export import read_clips
from pocket_batch.jobs.dataset.validate import validate_dataset
from pocket_batch.jobs.progress import Silent

MakeSet = Callable[..., Path]
RATE_HZ = 24_000
TONE = (0.2 * np.sin(np.arange(RATE_HZ) * 2 * np.pi * 440 / RATE_HZ)).astype(np.float32)


def chance() -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(1))


@pytest.mark.parametrize("colour", NOISES)
def test_noise_is_as_far_below_the_speech_as_was_asked_for(colour: str) -> None:
    noise = coloured_noise(len(TONE), colour, chance())
    mixed = with_noise(TONE, noise, 10.0, chance())
    assert 20 * np.log10(rms(TONE) / rms(mixed - TONE)) == pytest.approx(10.0, abs=0.01)


def test_brown_noise_is_lower_than_pink_and_pink_than_white() -> None:
    def centre(colour: str) -> float:
        power = np.abs(np.fft.rfft(coloured_noise(48_000, colour, chance()))) ** 2
        return float((power * np.arange(len(power))).sum() / power.sum())

    assert centre("brown") < centre("pink") < centre("white")


def test_speed_changes_length_and_pitch() -> None:
    fast = at_speed(TONE, RATE_HZ, 1.25)
    assert len(fast) == pytest.approx(len(TONE) / 1.25, abs=2)
    peak = np.abs(np.fft.rfft(fast)).argmax() * RATE_HZ / len(fast)
    assert peak == pytest.approx(550, abs=2)


def test_a_room_keeps_level_and_length_and_rings() -> None:
    pytest.importorskip("pyroomacoustics")
    click = np.zeros(RATE_HZ, np.float32)
    click[1000] = 0.5
    wet = in_room(click, simulated_room(0.5, RATE_HZ, chance()))
    assert len(wet) == len(click)
    assert rms(wet) == pytest.approx(rms(click), rel=0.01)
    assert np.abs(wet[3000:6000]).max() > 0.0005
    again = in_room(click, simulated_room(0.5, RATE_HZ, chance()))
    np.testing.assert_array_equal(wet, again)


@pytest.mark.parametrize("codec", CODECS)
def test_a_codec_keeps_the_length_and_the_tone(codec: str) -> None:
    heard = through_codec(TONE, RATE_HZ, codec)
    assert len(heard) == len(TONE)
    assert np.abs(np.fft.rfft(heard)).argmax() == pytest.approx(440, abs=2)
    np.testing.assert_array_equal(heard, through_codec(TONE, RATE_HZ, codec))


def test_train_clips_get_variants_and_originals_stay(finished_set: MakeSet) -> None:
    source = finished_set()
    before = {clip.id: clip.audio for clip in read_clips(str(source))}
    words = ["augment", str(source), "--snr", "5:20", "--gain=-6:0", "--copies", "2"]
    assert main([*words, "--codec", "telephone", "--speed", "0.9:1.1"]) == 0
    clips = list(read_clips(str(source)))
    new = [clip for clip in clips if clip.columns["augmentation"]]
    assert {c.id: c.audio for c in clips if not c.columns["augmentation"]} == before
    assert len(new) == 2 * 3
    assert {clip.split for clip in new} == {"train"}
    for clip in new:
        done = json.loads(str(clip.columns["augmentation"]))
        assert clip.columns["original_id"] in before
        assert any(done[kind] is not None for kind in ("speed", "noise", "codec", "gain_db"))
    assert main(["export", str(source), "--format", "audiofolder"]) == 0
    assert main(["export", str(source), "--format", "nemo", "--originals-only"]) == 0
    report = validate_dataset(str(source), Silent())
    assert report.problems == []
    assert report.num_clips == 4 + 10 + 4


def test_the_same_seed_gives_the_same_bytes_and_other_settings_are_refused(
    finished_set: MakeSet, capsys: pytest.CaptureFixture[str]
) -> None:
    source = finished_set()
    words = ["augment", str(source), "--snr", "5:20"]
    assert main(words) == 0
    tar = next((source / "augmented").rglob("*.tar"))
    first = tar.read_bytes()
    tar.unlink()
    assert main(words) == 0
    assert tar.read_bytes() == first
    assert main([*words, "--seed", "2"]) == 5
    assert "--name" in capsys.readouterr().err
    assert main([*words, "--seed", "2", "--name", "other"]) == 0


def test_noise_and_rooms_of_ones_own_are_files(finished_set: MakeSet, tmp_path: Path) -> None:
    (tmp_path / "noise").mkdir()
    soundfile.write(tmp_path / "noise" / "hum.wav", TONE[:8000], 16_000)
    impulse = np.zeros(2000, np.float32)
    impulse[[0, 900]] = 1.0, 0.5
    (tmp_path / "rooms").mkdir()
    soundfile.write(tmp_path / "rooms" / "echo.wav", impulse, RATE_HZ)
    source = finished_set()
    words = ["augment", str(source), "--noise", str(tmp_path / "noise"), "--probability", "1"]
    assert main([*words, "--rooms", str(tmp_path / "rooms")]) == 0
    for clip in read_clips(str(source)):
        if clip.columns["augmentation"]:
            done = json.loads(str(clip.columns["augmentation"]))
            assert (done["noise"], done["impulse"]) == ("hum.wav", "echo.wav")


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--snr", "20:5"],
        ["--snr", "x"],
        ["--codec", "vinyl"],
        ["--splits", "dev"],
        ["--copies", "0"],
    ],
)
def test_what_cannot_be_done_is_refused(finished_set: MakeSet, words: list[str]) -> None:
    assert main(["augment", str(finished_set()), *words]) == 2
