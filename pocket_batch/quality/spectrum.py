"""What the spectrum of an utterance tells: noise, pitch, timbre, clicks, steps, repetition."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

HOP_S = 0.02
NUM_BANDS = 20
LOWEST_HZ, HIGHEST_HZ = 80.0, 5_500.0
ENOUGH_HZ = 11_025  # a sampling rate that holds them; more would only take longer
FLOOR = 1e-8  # of power: -80 dB of full scale
FLAT = 0.2  # more than nearly all sounds of speech
SHORTEST_REPEAT_S, LONGEST_REPEAT_S = 0.2, 1.2
JUMP_FRAMES = 25
MIN_VARIANCE = 10.0  # of levels in dB: a steady sound is like itself without being repeated
SPEECH_BELOW_PEAK_DB = 35.0  # frames within this of the loudest are speech


@dataclass(frozen=True, slots=True)
class Frames:
    """Windowed frames of an utterance.

    Attributes:
        power: (F, K) of each FFT bin.
        mel_db: (F, NUM_BANDS).
        level_db: (F,) of each frame.
        is_speech: (F,) whether the frame is no silence.
        size: samples of a frame, which is the FFT's.
        rate_hz: of the samples.
    """

    power: Floats
    mel_db: Floats
    level_db: Floats
    is_speech: NDArray[np.bool_]
    size: int
    rate_hz: int


def frames_of(samples: Floats, rate_hz: int) -> Frames:
    """Cut samples of shape (S,), full scale 1.0, into frames every HOP_S seconds."""
    step = max(1, rate_hz // ENOUGH_HZ)
    whole = len(samples) // step * step
    parts = [samples[start:whole:step] for start in range(step)]
    samples = np.asarray(np.sum(parts, axis=0) / step, np.float32)
    rate_hz //= step
    size = 1 << int(np.ceil(np.log2(0.04 * rate_hz)))  # pitch down to 60 Hz fits in twice
    hop = round(HOP_S * rate_hz)
    num_frames = max(1, 1 + (len(samples) - size) // hop)
    if len(samples) < size:
        samples = np.pad(samples, (0, size - len(samples)))
    windows = np.lib.stride_tricks.sliding_window_view(samples, size)[::hop][:num_frames]
    spectrum = np.fft.rfft(windows * _hann(size))  # (F, K)
    power = np.square(spectrum.real) + np.square(spectrum.imag)  # (F, K)
    power = (power * np.float32(1 / (0.375 * size * size))).astype(np.float32)
    level_db = 10 * np.log10(2 * power.sum(axis=1) + FLOOR)  # (F,)
    bands = np.add.reduceat(power, _edges(size, rate_hz), axis=1)[:, :-1]  # (F, M)
    mel_db = 10 * np.log10(bands + FLOOR)  # (F, M)
    is_speech = level_db > level_db.max() - SPEECH_BELOW_PEAK_DB
    return Frames(power, mel_db, level_db, is_speech, size, rate_hz)


def flatness(frames: Frames) -> tuple[float, float]:
    """Spectral flatness of speech: the geometric by the arithmetic mean of power, 1 for noise.

    Returns:
        The median, and the seconds of the longest stretch of flat frames: longer than any sound
        of speech, it is noise or breath.
    """
    step = frames.rate_hz / frames.size
    low, high = int(200 / step), int(HIGHEST_HZ / step)
    power = frames.power[:, low:high] + 1e-12
    values = np.exp(np.log(power).mean(axis=1)) / power.mean(axis=1)  # (F,)
    is_flat = frames.is_speech & (values > FLAT)
    edges = np.flatnonzero(np.diff(np.concatenate(([False], is_flat, [False])).astype(np.int8)))
    longest = int((edges[1::2] - edges[::2]).max(initial=0))
    return float(np.median(values[frames.is_speech])), longest * HOP_S


def pitch(frames: Frames) -> tuple[float, float]:
    """The median pitch in Hz and the share of speech frames that have one.

    Autocorrelation of each frame, by its power spectrum, over that of its window.
    """
    power = frames.power[frames.is_speech]
    auto = np.fft.irfft(power)[:, : frames.size // 2]  # (F, L)
    auto = auto / (auto[:, :1] + 1e-12) / _window_autocorrelation(frames.size)
    low, high = int(frames.rate_hz / 400), int(frames.rate_hz / 60)
    best = auto[:, low:high].argmax(axis=1)
    is_voiced = auto[np.arange(len(auto)), low + best] > 0.5
    if not is_voiced.any():
        return 0.0, 0.0
    return float(frames.rate_hz / np.median(low + best[is_voiced])), float(is_voiced.mean())


def timbre(frames: Frames) -> tuple[float, ...]:
    """Mean level of each mel band over speech, less the mean of them all, dB."""
    mean = frames.mel_db[frames.is_speech].mean(axis=0)
    return tuple(round(float(value), 2) for value in mean - mean.mean())


def level_jump(frames: Frames) -> float:
    """The greatest lasting change of the level of speech, dB.

    The mean of two measures, as each errs elsewhere: the loud frames of half a second before and
    after a place, and those of all that is before and after it.
    """
    levels = frames.level_db[frames.is_speech]
    if len(levels) < 2 * JUMP_FRAMES:
        return 0.0
    windows = np.lib.stride_tricks.sliding_window_view(levels, JUMP_FRAMES)
    loud = np.quantile(windows, 0.8, axis=1)
    near = float(np.abs(loud[JUMP_FRAMES:] - loud[:-JUMP_FRAMES]).max(initial=0.0))
    places = range(JUMP_FRAMES, len(levels) - JUMP_FRAMES + 1, 4)
    before = (np.quantile(levels[:at], 0.9) - np.quantile(levels[at:], 0.9) for at in places)
    return (near + max(abs(float(change)) for change in before)) / 2


def click(samples: Floats, rate_hz: int) -> float:
    """The sharpest edge as a multiple of the sharpest within 2 to 20 ms of it.

    An edge is a second difference. What comes before and after the samples is silence.
    """
    size = max(1, rate_hz // 1000)
    edges = np.abs(np.diff(np.pad(samples, (2, 2 + 2 * size)), 2))
    num_frames = len(edges) // size  # what is left over is silence
    sharpest = edges[: num_frames * size].reshape(num_frames, size).max(axis=1)  # (F,)
    padded = np.pad(sharpest, 20)
    around = np.lib.stride_tricks.sliding_window_view(padded, 19).max(axis=1)
    before, after = around[:num_frames], around[22 : 22 + num_frames]
    return float((sharpest / (np.maximum(before, after) + 1e-3)).max())


def repetition(frames: Frames) -> tuple[float, float]:
    """How alike the two most alike stretches of equal length in a row are, and their length, s.

    The measure is the correlation of their mel levels, each stretch less its own mean.
    """
    mel = frames.mel_db.reshape(len(frames.mel_db), -1, 2).mean(axis=2)  # (F, M / 2)
    mel = mel - mel.mean(axis=0)
    mel[~frames.is_speech] = mel.min() / 2  # silence is like silence, whatever is in it
    sums = _cumulated(mel)
    squares = _cumulated(_dot(mel, mel))
    best, best_s = 0.0, 0.0
    longest = min(round(LONGEST_REPEAT_S / HOP_S), len(mel) // 2)
    for lag in range(round(SHORTEST_REPEAT_S / HOP_S), longest + 1):
        mean = (sums[lag:] - sums[:-lag]) * np.float32(1 / lag)  # (F - lag + 1, M / 2)
        own = squares[lag:] - squares[:-lag] - lag * _dot(mean, mean)
        products = _cumulated(_dot(mel[:-lag], mel[lag:]))
        covariance = products[lag:] - products[:-lag] - lag * _dot(mean[:-lag], mean[lag:])
        least = lag * mel.shape[1] * MIN_VARIANCE
        own = np.sqrt(np.maximum(own, 0))
        alike = float((covariance / (own[:-lag] * own[lag:] + least)).max(initial=0.0))
        if alike > best:
            best, best_s = alike, lag * HOP_S
    return best, best_s


def _cumulated(values: Floats) -> NDArray[np.float64]:
    """Sums of the first 0, 1, 2 ... rows."""
    return np.concatenate([np.zeros_like(values[:1]), values]).cumsum(axis=0, dtype=np.float64)


def _dot(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """Row by row. Small products by BLAS would wake up all its threads."""
    return np.asarray(np.einsum("fm,fm->f", first, second))


@cache
def _hann(size: int) -> Floats:
    return np.hanning(size).astype(np.float32)


@cache
def _window_autocorrelation(size: int) -> Floats:
    """Of the window, so that the autocorrelation of a tone does not fall with the lag."""
    auto = np.fft.irfft(np.abs(np.fft.rfft(_hann(size), 2 * size)) ** 2)[: size // 2]
    return np.asarray(auto / auto[0], np.float32)


@cache
def _edges(size: int, rate_hz: int) -> NDArray[np.intp]:
    """The first bin of each band of equal width on the mel scale, and where the last one ends.

    Source: HTK book, 5.4.
    """
    lowest, highest = (
        2595 * np.log10(1 + hz / 700) for hz in (LOWEST_HZ, min(HIGHEST_HZ, 0.49 * rate_hz))
    )
    hz = 700 * (10 ** (np.linspace(lowest, highest, NUM_BANDS + 1) / 2595) - 1)
    return np.asarray(np.rint(hz * size / rate_hz), np.intp)
