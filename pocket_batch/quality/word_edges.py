"""Where words begin and end by the signal: an ASR model counts silence around a word to it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocket_batch.quality.alignment import HeardWord
from pocket_batch.quality.levels import FRAME_S, SILENCE_BELOW_PEAK_DB

MIN_PAUSE_S = 0.12  # longer than the closure of a stop consonant
MAX_REACH_S = 0.3  # from where a word was heard to the pause beside it
MAX_REST_S = 0.1  # of a neighbour, on the other side of a pause


def without_silence(
    words: Sequence[HeardWord], pcm: NDArray[np.int16], rate_hz: int
) -> list[HeardWord]:
    """The same words without silence at their ends, times rounded to milliseconds.

    Args:
        words: in order.
        pcm: shape (num_samples,), mono, in which they were heard.
        rate_hz: of it.
    """
    size = max(1, round(FRAME_S * rate_hz))
    num_frames = len(pcm) // size
    if not num_frames:
        return list(words)
    frames = np.abs(pcm[: num_frames * size].astype(np.int32)).reshape(num_frames, size)
    levels = frames.max(axis=1)  # (F,)
    is_loud = levels > levels.max() * 10 ** (-SILENCE_BELOW_PEAK_DB / 20)
    tight = [_tight(word, is_loud, size / rate_hz) for word in words]
    return _to_pauses(tight, np.flatnonzero(is_loud) * (size / rate_hz), size / rate_hz)


def _to_pauses(words: Sequence[HeardWord], loud_s: NDArray[Any], frame_s: float) -> list[HeardWord]:
    """Let the first word after a pause begin, and the last one before it end, where it does."""
    breaks = np.flatnonzero(np.diff(loud_s) > MIN_PAUSE_S)
    begins = np.concatenate([loud_s[:1], loud_s[breaks + 1]])
    ends = np.concatenate([loud_s[breaks], loud_s[-1:]]) + frame_s
    result: list[HeardWord] = []
    for index, word in enumerate(words):
        begin, end = word.begin_s, word.end_s
        before = words[index - 1].end_s if index else 0.0
        after = words[index + 1].begin_s if index + 1 < len(words) else np.inf
        near = begins[(begins >= before) & (begins < begin) & (begins > begin - MAX_REACH_S)]
        begin = float(near[-1]) if len(near) else begin
        near = ends[(ends <= after) & (ends > end) & (ends < end + MAX_REACH_S)]
        end = float(near[0]) if len(near) else end
        result.append(HeardWord(word.text, round(begin, 3), round(end, 3)))
    return result


def _tight(word: HeardWord, is_loud: NDArray[np.bool_], frame_s: float) -> HeardWord:
    begin = round(word.begin_s / frame_s)
    loud = begin + np.flatnonzero(is_loud[begin : max(begin + 1, round(word.end_s / frame_s))])
    if not len(loud):
        return HeardWord(word.text, round(word.begin_s, 3), round(word.end_s, 3))
    pauses = np.flatnonzero(np.diff(loud) * frame_s > MIN_PAUSE_S)
    if len(pauses):
        first, last = int(pauses[0]) + 1, int(pauses[-1]) + 1
        if first * frame_s < MAX_REST_S and first < len(loud) - first:
            loud, last = loud[first:], last - first
        if last > 0 and (len(loud) - last) * frame_s < MAX_REST_S:
            loud = loud[:last]
    return HeardWord(
        word.text, round(float(loud[0] * frame_s), 3), round(float((loud[-1] + 1) * frame_s), 3)
    )
