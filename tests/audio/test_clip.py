"""Clips in other encodings: exact lengths, the same bytes, and what needs no change untouched."""

import io

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from pocket_batch.audio.clip import Encoding, convert, decode, encode
from pocket_batch.audio.loudness import LoudnessMeter, integrated_lufs
from pocket_batch.errors import AudioError

RATE_HZ = 24_000


def _tone(seconds: float, level: float = 0.1) -> NDArray[np.int16]:
    t = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    return np.asarray(level * 32_767 * np.sin(2 * np.pi * 440 * t), np.int16)  # (S,)


def _flac(pcm: NDArray[np.int16]) -> bytes:
    return encode(pcm, RATE_HZ, "flac")


def test_what_needs_no_change_is_passed_on_byte_for_byte() -> None:
    flac = _flac(_tone(0.5))
    assert convert(flac, 12_000, RATE_HZ, Encoding()).audio is flac
    assert convert(flac, 12_000, RATE_HZ, Encoding("flac", RATE_HZ)).audio is flac


def test_wav_has_the_same_samples() -> None:
    pcm = _tone(0.5)
    found = convert(_flac(pcm), len(pcm), RATE_HZ, Encoding("wav"))
    assert np.array_equal(decode(found.audio)[0], pcm)
    assert soundfile.info(io.BytesIO(found.audio)).subtype == "PCM_16"


@pytest.mark.parametrize("kind", ["flac", "wav", "opus"])
@pytest.mark.parametrize("num_samples", [1, 959, 24_001, 50_000])
def test_the_told_length_is_what_is_decoded_and_the_bytes_are_the_same_again(
    kind: str, num_samples: int
) -> None:
    flac = _flac(_tone(3)[:num_samples])
    wanted = Encoding(kind, 16_000, -23.0)  # type: ignore[arg-type]
    found = convert(flac, num_samples, RATE_HZ, wanted)
    pcm, rate_hz = decode(found.audio)
    assert (len(pcm), rate_hz) == (found.num_samples, 16_000)
    assert abs(len(pcm) - num_samples * 2 / 3) <= 1
    assert convert(flac, num_samples, RATE_HZ, wanted) == found


@pytest.mark.parametrize("level", [0.003, 0.3])
def test_a_clip_gets_the_loudness_that_was_asked_for(level: float) -> None:
    pcm = _tone(2, level)
    found = decode(convert(_flac(pcm), len(pcm), RATE_HZ, Encoding("flac", None, -23.0)).audio)[0]
    meter = LoudnessMeter(RATE_HZ)
    meter.add(found.astype(np.float32) / 32_768)
    assert integrated_lufs(meter.result()) == pytest.approx(-23, abs=0.2)
    assert len(found) == len(pcm)


def test_a_short_clip_gets_a_level_and_silence_stays_silence() -> None:
    short = _tone(0.2, 0.01)
    wanted = Encoding("flac", None, -23.0)
    found = decode(convert(_flac(short), len(short), RATE_HZ, wanted).audio)[0]
    assert np.abs(found).max() > 4 * np.abs(short).max()
    silence = np.zeros(RATE_HZ, np.int16)
    found = decode(convert(_flac(silence), len(silence), RATE_HZ, wanted).audio)[0]
    assert not found.any()


def test_a_rate_that_opus_does_not_have_is_refused_with_those_it_has() -> None:
    flac = _flac(_tone(0.1))
    with pytest.raises(AudioError, match=r"24000.*--sampling-rate"):
        convert(flac, 2_400, RATE_HZ, Encoding("opus", 22_050))


def test_damaged_audio_is_an_error_of_ours() -> None:
    with pytest.raises(AudioError, match="cannot be decoded"):
        convert(b"fLaC and no more", 10, RATE_HZ, Encoding("wav"))
