"""Trimming, fading, pauses, gain."""

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pocket_batch.audio.flac import decode_flac, encode_flac
from pocket_batch.audio.loudness import gain_to_target, integrated_lufs
from pocket_batch.audio.mastering import gained, silence, speech_bounds, utterance_piece
from pocket_batch.audio.measure import combined, measure
from pocket_batch.audio.pcm import to_float, to_int16
from pocket_batch.errors import AudioError
from pocket_batch.settings import MasterSettings

RATE_HZ = 24_000
SETTINGS = MasterSettings(keep_ms=40, fade_ms=8)


def tone(milliseconds: int, amplitude: int = 8000) -> NDArray[np.int16]:
    t = np.arange(RATE_HZ * milliseconds // 1000) / RATE_HZ
    return np.asarray(amplitude * np.cos(2 * np.pi * 440 * t), np.int16)


def padded(before_ms: int, after_ms: int, noise: int = 3) -> NDArray[np.int16]:
    hiss = np.random.default_rng(0).integers(-noise, noise + 1, RATE_HZ * 10, np.int16)
    before, after = RATE_HZ * before_ms // 1000, RATE_HZ * after_ms // 1000
    return np.concatenate((hiss[:before], tone(500), hiss[before : before + after]))


@pytest.mark.parametrize(("before_ms", "after_ms"), [(300, 700), (0, 0), (20, 30), (1000, 5)])
def test_silence_at_the_ends_is_cut_to_what_is_kept(before_ms: int, after_ms: int) -> None:
    begin, end = speech_bounds(padded(before_ms, after_ms), RATE_HZ, SETTINGS)
    assert (begin * 1000 / RATE_HZ) == pytest.approx(max(before_ms - 40, 0), abs=5)
    assert (end * 1000 / RATE_HZ) == pytest.approx(before_ms + 500 + min(after_ms, 40), abs=5)


def test_a_quiet_voice_is_not_cut_more_than_a_loud_one() -> None:
    loud = padded(300, 300, noise=0)
    quiet = np.asarray(loud // 100, np.int16)
    assert speech_bounds(quiet, RATE_HZ, SETTINGS) == speech_bounds(loud, RATE_HZ, SETTINGS)


def test_a_piece_begins_and_ends_at_zero_and_rises_over_the_fade() -> None:
    piece = utterance_piece(tone(500), RATE_HZ, 0, SETTINGS)
    fade = RATE_HZ * 8 // 1000
    assert len(piece) == RATE_HZ // 2
    assert abs(int(piece[0])) <= 1
    assert abs(int(piece[-1])) <= 100
    assert np.array_equal(piece[fade:-fade], tone(500)[fade:-fade])
    assert np.abs(np.diff(piece.astype(int))).max() <= np.abs(np.diff(tone(500).astype(int))).max()
    assert np.abs(piece[: fade // 2]).max() <= 4200


def test_the_pause_is_exact_digital_silence() -> None:
    piece = utterance_piece(tone(500), RATE_HZ, 350, SETTINGS)
    pause = RATE_HZ * 350 // 1000
    assert len(piece) == RATE_HZ // 2 + pause
    assert not piece[-pause:].any()
    assert np.array_equal(silence(350, RATE_HZ), np.zeros(pause))


@pytest.mark.parametrize("rate_hz", [16_000, 22_050, 24_000])
def test_a_piece_is_the_same_each_time_at_any_rate(rate_hz: int) -> None:
    pieces = [utterance_piece(padded(31, 77), rate_hz, 123, SETTINGS) for _ in range(2)]
    assert np.array_equal(*pieces)
    assert len(pieces[0]) > rate_hz // 2


@pytest.mark.parametrize("pcm", [np.zeros(0, np.int16), np.zeros(5000, np.int16), tone(100, 1)])
def test_an_utterance_without_speech_leaves_only_its_pause(pcm: NDArray[np.int16]) -> None:
    assert np.array_equal(utterance_piece(pcm, RATE_HZ, 200, SETTINGS), silence(200, RATE_HZ))


def test_an_utterance_shorter_than_two_fades_is_kept() -> None:
    assert len(utterance_piece(tone(5), RATE_HZ, 0, SETTINGS)) == len(tone(5))


def test_unit_gain_passes_samples_bit_for_bit_in_any_pieces() -> None:
    pcm = np.concatenate((tone(500), silence(100, RATE_HZ), tone(333)))
    pieces = np.split(pcm, [10, 11, 5000])
    assert np.array_equal(np.concatenate(list(gained(pieces, RATE_HZ, 1.0, -1.0))), pcm)


def test_a_measured_gain_reaches_the_target(speechlike: NDArray[np.float32]) -> None:
    pieces = np.split(to_int16(speechlike * np.float32(0.1)), [30_000, 200_000])
    found = measure(pieces, RATE_HZ)
    gain = gain_to_target(integrated_lufs(found.block_powers), -23.0)
    after = measure(gained(pieces, RATE_HZ, gain, -1.0), RATE_HZ)
    assert after.num_samples == len(speechlike)
    assert integrated_lufs(after.block_powers) == pytest.approx(-23.0, abs=0.1)
    assert 20 * math.log10(after.true_peak) <= -1.0


def test_parts_measured_apart_combine_to_the_whole(speechlike: NDArray[np.float32]) -> None:
    pcm = to_int16(speechlike * np.float32(0.5))
    whole = measure([pcm], RATE_HZ)
    parts = combined([measure([part], RATE_HZ) for part in np.split(pcm, [100_000])])
    assert parts.num_samples == whole.num_samples
    assert parts.mean_square == pytest.approx(whole.mean_square, rel=1e-5)
    assert parts.true_peak == pytest.approx(whole.true_peak, rel=1e-3)
    assert combined([]).num_samples == 0


def test_every_int16_survives_the_way_through_floating_point() -> None:
    pcm = np.arange(-32768, 32768, dtype=np.int16)
    assert np.array_equal(to_int16(to_float(pcm)), pcm)
    assert np.array_equal(to_int16(np.array([2.0, -2.0], np.float32)), [32767, -32768])


def test_flac_is_exact_and_its_bytes_are_always_the_same(speechlike: NDArray[np.float32]) -> None:
    encoded = encode_flac(speechlike, RATE_HZ)
    assert np.array_equal(decode_flac(encoded), to_int16(speechlike))
    assert encode_flac(speechlike, RATE_HZ) == encoded


def test_damaged_or_impossible_audio_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AudioError, match="not numbers"):
        encode_flac(np.array([0.0, np.nan], np.float32), RATE_HZ)
    with pytest.raises(AudioError, match="cannot be decoded"):
        decode_flac(encode_flac(np.zeros(100, np.float32), RATE_HZ)[:20])
    with pytest.raises(AudioError, match=r"nowhere\.flac"):
        decode_flac(tmp_path / "nowhere.flac")
