"""From a recording of a voice to an audio prompt."""

import math
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile

from pocket_batch.audio.ffmpeg import QUIET, find_ffmpeg, run
from pocket_batch.audio.pcm import Samples
from pocket_batch.audio.prompt import check_prompt, examine_prompt, prepare_prompt
from pocket_batch.audio.recording import read_prompt
from pocket_batch.errors import InputError

RATE_HZ = 24_000
PAUSE_SAMPLES = 1920  # 80 ms
VOICES = (
    "jfk_inaugural_en.flac",
    "librispeech_2412-153948-0000_en.flac",
    "ljspeech_LJ001-0001_en.mp3",
)


def noise(seconds: float, rms: float, rate_hz: int = RATE_HZ) -> Samples:
    random = np.random.default_rng(3).standard_normal(round(seconds * rate_hz))
    return np.asarray(rms * random, np.float32)


def lufs(samples: Samples) -> float:
    return check_prompt(samples, RATE_HZ).lufs


# Reading


@pytest.mark.parametrize("suffix", ["wav", "flac", "ogg", "mp3"])
def test_a_recording_is_mixed_down_to_the_mean_of_its_channels(suffix: str, tmp_path: Path) -> None:
    left = 0.5 * np.sin(np.arange(44_100) / 30)
    path = tmp_path / f"voice.{suffix}"
    soundfile.write(path, np.stack([left, np.zeros_like(left)], axis=1), 44_100)
    samples, rate_hz = read_prompt(path)
    assert (samples.dtype, samples.ndim, rate_hz) == (np.float32, 1, 44_100)
    assert np.abs(samples[5000:40_000]).max() == pytest.approx(0.25, abs=0.03)


def unreadable(folder: Path) -> dict[str, Path]:
    (folder / "text.wav").write_text("no audio at all")
    (folder / "nothing.wav").write_bytes(b"")
    soundfile.write(folder / "header.wav", np.zeros(0), RATE_HZ)
    soundfile.write(folder / "nan.wav", np.full(RATE_HZ, np.nan), RATE_HZ, subtype="FLOAT")
    soundfile.write(folder / "slow.wav", noise(5.0, 0.1, 2_000), 2_000)
    return {
        "missing": folder / "none.wav",
        "a folder": folder,
        **{name: folder / f"{name}.wav" for name in ("text", "nothing", "header", "nan", "slow")},
    }


@pytest.mark.parametrize(
    "kind", ["missing", "a folder", "text", "nothing", "header", "nan", "slow"]
)
def test_what_is_no_audio_is_refused_in_a_sentence_with_its_name(kind: str, tmp_path: Path) -> None:
    path = unreadable(tmp_path)[kind]
    with pytest.raises(InputError) as caught:
        read_prompt(path)
    assert str(path) in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize("suffix", ["m4a", "wma", "aac", "webm", ""])
def test_what_ffmpeg_can_read_is_a_recording_whatever_its_name(suffix: str, tmp_path: Path) -> None:
    wav, path = tmp_path / "a.wav", tmp_path / f"-voice.{suffix}".rstrip(".")
    soundfile.write(wav, 0.5 * np.sin(np.arange(48_000) / 30), 48_000)
    kind = ("-f", "mp4") if not suffix else ()
    run([find_ffmpeg(), *QUIET, "-i", str(wav), *kind, f"file:{path}"], path)
    samples, rate_hz = read_prompt(path)
    assert rate_hz == 48_000
    assert len(samples) == pytest.approx(48_000, abs=5000)
    assert np.abs(samples[10_000:40_000]).max() == pytest.approx(0.5, abs=0.05)


def test_a_damaged_recording_is_refused_without_the_words_of_a_library(tmp_path: Path) -> None:
    path = tmp_path / "a.flac"
    soundfile.write(path, noise(3.0, 0.1), RATE_HZ)
    data = bytearray(path.read_bytes())
    half = len(data) // 2
    data[half : half + 400] = bytes(400)
    path.write_bytes(data)
    with pytest.raises(InputError, match="or it is damaged") as caught:
        read_prompt(path)
    assert "lost sync" not in str(caught.value)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [3e38, -1e6, math.nan, math.inf])
def test_samples_far_beyond_full_scale_are_refused(value: float, tmp_path: Path) -> None:
    samples = np.stack([noise(3.0, 0.1)] * 2, axis=1)
    samples[700] = value
    soundfile.write(tmp_path / "a.wav", samples, RATE_HZ, subtype="FLOAT")
    with pytest.raises(InputError, match="100 times full scale"):
        read_prompt(tmp_path / "a.wav")


def test_a_sampling_rate_that_no_recorder_has_is_refused(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", noise(3.0, 0.1), 500_000)
    with pytest.raises(InputError, match="500,000 Hz, which no recorder has"):
        read_prompt(tmp_path / "a.wav")


def test_a_name_of_any_length_or_bytes_is_refused_in_a_sentence(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"\xff.wav")
    odd.write_bytes(b"no audio")
    for path in (Path(5000 * "a"), odd):
        with pytest.raises(InputError) as caught:
            read_prompt(path)
        str(caught.value).encode()


def test_of_a_long_file_the_first_ten_minutes_are_read(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "long.wav", np.zeros((700 * 4_000, 2), np.int16), 4_000)
    samples, rate_hz = read_prompt(tmp_path / "long.wav")
    assert len(samples) == 600 * rate_hz


# Preparing


@pytest.mark.parametrize("name", VOICES)
def test_without_trim_and_level_a_prompt_is_that_of_the_reference(name: str, corpus: Path) -> None:
    audio = pytest.importorskip("pocket_tts.data.audio")
    utils = pytest.importorskip("pocket_tts.data.audio_utils")
    theirs, rate_hz = audio.audio_read(corpus / "voice" / name)
    theirs = utils.end_on_pause(utils.convert_audio(theirs, rate_hz, RATE_HZ, 1), RATE_HZ)
    ours, notes = prepare_prompt(
        *read_prompt(corpus / "voice" / name), max_s=math.inf, trim=False, level=False
    )
    assert ours.shape == (theirs.shape[1],)
    assert np.abs(ours - theirs[0].numpy()).max() <= 1e-6
    assert notes == []


def test_a_prompt_ends_on_a_fade_and_80_ms_of_silence(speechlike: Samples) -> None:
    padded = np.concatenate([speechlike, np.zeros(3 * RATE_HZ, np.float32)])
    prompt, _ = prepare_prompt(padded, RATE_HZ)
    assert len(prompt) < len(speechlike) + 2 * PAUSE_SAMPLES
    assert not prompt[-PAUSE_SAMPLES:].any()
    assert prompt[-PAUSE_SAMPLES - 10 : -PAUSE_SAMPLES].any()


def test_silence_before_the_first_word_is_trimmed_but_for_a_tenth_of_a_second(
    speechlike: Samples,
) -> None:
    padded = np.concatenate([np.zeros(2 * RATE_HZ, np.float32), speechlike])
    trimmed, _ = prepare_prompt(padded, RATE_HZ)
    plain, _ = prepare_prompt(speechlike, RATE_HZ)
    kept, _ = prepare_prompt(padded, RATE_HZ, trim=False)
    assert 0 <= len(trimmed) - len(plain) <= 0.12 * RATE_HZ
    assert len(kept) > len(trimmed) + 1.8 * RATE_HZ
    assert not trimmed[: round(0.05 * RATE_HZ)].any()


@pytest.mark.parametrize("gain", [0.003, 0.05, 1.0])
def test_a_prompt_is_levelled_without_exceeding_full_scale(
    gain: float, speechlike: Samples
) -> None:
    prompt, notes = prepare_prompt(speechlike * np.float32(gain), RATE_HZ)
    assert lufs(prompt) == pytest.approx(-23.0, abs=0.2)
    assert np.abs(prompt).max() < 1.0
    assert notes == []


def test_peaks_that_leave_no_room_are_told_of(speechlike: Samples) -> None:
    spiky = speechlike * np.float32(0.01)
    spiky[100_000] = 0.9
    prompt, (note,) = prepare_prompt(spiky, RATE_HZ)
    assert np.abs(prompt).max() == pytest.approx(0.98)
    assert "instead of -23" in note


def test_a_long_recording_is_cut_in_its_last_pause_and_that_is_said() -> None:
    sentence = np.concatenate([noise(3.7, 0.1), np.zeros(round(0.3 * RATE_HZ), np.float32)])
    prompt, (note,) = prepare_prompt(np.tile(sentence, 12), RATE_HZ)
    assert len(prompt) / RATE_HZ == pytest.approx(27.7 + 0.08, abs=0.03)
    assert "has 48.0 s" in note
    assert "the first 28.0 s are used" in note
    endless, _ = prepare_prompt(noise(48.0, 0.1), RATE_HZ)
    assert len(endless) / RATE_HZ == pytest.approx(30.08)
    short, _ = prepare_prompt(noise(48.0, 0.1), RATE_HZ, max_s=8.0)
    assert len(short) / RATE_HZ == pytest.approx(8.08)


@pytest.mark.parametrize("rate_hz", [8_000, 11_025, 16_000, 22_050, 44_100, 48_000, 96_000])
def test_every_sampling_rate_becomes_24_khz(rate_hz: int) -> None:
    tone = np.asarray(0.1 * np.sin(2 * np.pi * 440 * np.arange(2 * rate_hz) / rate_hz), np.float32)
    prompt, _ = prepare_prompt(tone, rate_hz, trim=False, level=False)
    assert prompt.dtype == np.float32
    assert len(prompt) / RATE_HZ == pytest.approx(2.08, abs=0.001)
    spectrum = np.abs(np.fft.rfft(prompt[:RATE_HZ]))
    assert int(spectrum.argmax()) == 440


def test_preparing_a_prepared_prompt_changes_next_to_nothing(speechlike: Samples) -> None:
    once, _ = prepare_prompt(np.pad(speechlike, 30_000), RATE_HZ)
    twice, notes = prepare_prompt(once, RATE_HZ)
    assert abs(len(twice) - len(once)) <= 0.02 * RATE_HZ
    length = min(len(once), len(twice)) - 2 * PAUSE_SAMPLES
    assert np.abs(once[:length] - twice[:length]).max() < 0.005
    assert notes == []


@pytest.mark.parametrize(
    "samples",
    [
        np.zeros(5 * RATE_HZ, np.float32),
        np.zeros(0, np.float32),
        noise(0.7, 0.1),
        noise(5.0, 1e-5),
        np.pad(noise(0.5, 0.1), 5 * RATE_HZ),
    ],
    ids=["silence", "empty", "short", "inaudible", "a word in silence"],
)
def test_less_than_a_second_of_speech_is_refused(samples: Samples) -> None:
    assert "s of speech" in check_prompt(samples, RATE_HZ).refusal
    with pytest.raises(InputError, match="at least 1 s is needed"):
        prepare_prompt(samples, RATE_HZ)


def test_the_recording_itself_is_not_changed(speechlike: Samples) -> None:
    before = speechlike.copy()
    prepare_prompt(speechlike, RATE_HZ)
    prepare_prompt(speechlike, RATE_HZ, trim=False, level=False)
    assert np.array_equal(before, speechlike)


# Checking


def test_a_good_recording_has_nothing_to_warn_of(corpus: Path) -> None:
    report = check_prompt(*read_prompt(corpus / "voice" / VOICES[1]))
    assert report.warnings == ()
    assert report.refusal == ""
    assert report.sampling_rate_hz == 16_000
    assert report.seconds == pytest.approx(11.66, abs=0.01)
    assert report.clipped_share == 0


@pytest.mark.parametrize("name", VOICES[1:])
@pytest.mark.parametrize("snr_db", [10, 15, 20, 30])
@pytest.mark.parametrize("colour", ["white", "brown"])
def test_the_noise_of_a_real_voice_is_estimated_within_3_db(
    name: str, snr_db: int, colour: str, corpus: Path
) -> None:
    from scipy.signal import lfilter

    samples, rate_hz = read_prompt(corpus / "voice" / name)
    frames = samples[: len(samples) // 400 * 400].reshape(-1, 400)
    powers = np.square(frames).mean(axis=1)
    voice_power = powers[powers > powers.mean() / 10].mean()
    hiss = noise(len(samples) / rate_hz, 1.0, rate_hz)[: len(samples)]
    if colour == "brown":
        hiss = lfilter([1], [1, -0.9], hiss)
    hiss = hiss * math.sqrt(voice_power / 10 ** (snr_db / 10)) / hiss.std()
    report = check_prompt(np.asarray(samples + hiss, np.float32), rate_hz)
    assert report.snr_db == pytest.approx(snr_db, abs=3)
    assert any("noise" in warning for warning in report.warnings) == (report.snr_db < 20)


@pytest.mark.parametrize("snr_db", [6, 12, 20, 30, 45])
def test_the_noise_under_made_up_syllables_is_estimated_within_2_db(
    snr_db: int, speechlike: Samples
) -> None:
    powers = np.square(speechlike.reshape(-1, 480)).mean(axis=1)
    voice_power = powers[powers > powers.mean() / 10].mean()
    hiss = noise(12.0, math.sqrt(voice_power / 10 ** (snr_db / 10)))
    assert check_prompt(speechlike + hiss, RATE_HZ).snr_db == pytest.approx(snr_db, abs=2)


def test_digital_silence_between_words_hides_no_noise(speechlike: Samples) -> None:
    noisy = speechlike + noise(12.0, 0.05)
    gated = np.concatenate([noisy, np.zeros(3 * RATE_HZ, np.float32)])
    assert check_prompt(gated, RATE_HZ).snr_db == pytest.approx(
        check_prompt(noisy, RATE_HZ).snr_db, abs=1
    )


def clipped(samples: Samples) -> Samples:
    return np.clip(samples * np.float32(4), -1, 1)


FLAWS: dict[str, Callable[[Samples], tuple[Samples, int]]] = {
    "s of speech: a voice is learned": lambda s: (s[: 4 * RATE_HZ], RATE_HZ),
    "are clipped": lambda s: (clipped(s), RATE_HZ),
    "of it is silence": lambda s: (np.pad(s, 10 * RATE_HZ), RATE_HZ),
    "sampling rate is 8,000 Hz": lambda s: (s[::3], 8_000),
    "dB below the voice": lambda s: (s + noise(12.0, 0.05), RATE_HZ),
}


@pytest.mark.parametrize("sentence", FLAWS)
def test_each_flaw_of_a_recording_has_a_warning(sentence: str, speechlike: Samples) -> None:
    report = check_prompt(*FLAWS[sentence](speechlike))
    assert any(sentence in warning for warning in report.warnings)
    assert report.refusal == ""


def tone(hz: float) -> Samples:
    return np.asarray(0.3 * np.sin(2 * np.pi * hz * np.arange(5 * 96_000) / 96_000), np.float32)


HOPELESS: dict[str, tuple[Callable[[Samples], Samples], int, str]] = {
    "noise": (lambda s: noise(12.0, 0.1), RATE_HZ, "no voice stands out"),
    "clipped": (lambda s: np.clip(1000 * s, -1, 1), RATE_HZ, "are clipped"),
    "constant": (lambda s: np.full(5 * RATE_HZ, 0.5, np.float32), RATE_HZ, "where speech is"),
    "ultrasound": (lambda s: tone(30_000), 96_000, "where speech is"),
    "rumble": (lambda s: tone(20), 96_000, "where speech is"),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", HOPELESS)
def test_what_no_voice_can_be_learned_from_is_refused(
    name: str, speechlike: Samples, tmp_path: Path
) -> None:
    spoil, rate_hz, reason = HOPELESS[name]
    soundfile.write(tmp_path / "a.wav", spoil(speechlike), rate_hz, subtype="FLOAT")
    report, prompt = examine_prompt(tmp_path / "a.wav")
    assert reason in report.refusal
    assert report.warnings == ()
    assert not len(prompt)


def test_a_constant_under_a_voice_does_not_hide_it(speechlike: Samples) -> None:
    assert "where speech is" not in check_prompt(0.1 * speechlike + 0.5, RATE_HZ).refusal


def test_examining_says_how_much_of_a_long_recording_is_used(
    speechlike: Samples, tmp_path: Path
) -> None:
    soundfile.write(tmp_path / "a.wav", np.tile(speechlike, 4), RATE_HZ)
    report, prompt = examine_prompt(tmp_path / "a.wav")
    assert "has 48.0 s" in report.warnings[-1]
    assert "s are used" in report.warnings[-1]
    assert 20 < len(prompt) / RATE_HZ < 31
