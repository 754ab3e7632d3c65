"""Real speech with planted faults: fifty of a kind, the same every time."""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
import soxr
from numpy.typing import NDArray

from pocket_batch.audio.pcm import to_int16
from pocket_batch.data import EngineSpec, Request, Voice
from pocket_batch.engine.base import Engine, make_engine
from pocket_batch.quality.alignment import WordTime, align
from pocket_batch.quality.asr import Transcriber

Pcm = NDArray[np.int16]

VOICES = {
    "heart": Voice("heart", "hibari", "en-US", "Apache-2.0", parameters={"hibari_voice": "heart"}),
    "joe": Voice("joe", "piper", "en-US", "CC0-1.0"),
}
NEED_EARS = ("word_cut", "word_doubled", "words_swapped", "tail_cut")  # found by what is heard
KINDS = (*NEED_EARS, "noise", "silence", "click", "level_jump", "level_off", "wrong_voice")
FADE_S = 0.005  # where audio is cut, so that the cut itself is no click


@dataclass(frozen=True, slots=True)
class Clip:
    """What was to be said, and audio of shape (num_samples,) that says it, or does not."""

    text: str
    pcm: Pcm
    rate_hz: int


def speak(texts: Sequence[str], voice: str) -> list[Clip]:
    """All texts in one voice, in their order."""
    engine = _engine(voice)
    requests = [Request(str(i), "s", text, VOICES[voice], 1) for i, text in enumerate(texts)]
    outputs = {int(output.key): output.audio for output in engine.generate(requests)}
    rate_hz = engine.sampling_rate_hz
    return [Clip(text, to_int16(outputs[i]), rate_hz) for i, text in enumerate(texts)]


@cache
def _engine(voice: str) -> Engine:
    return make_engine(EngineSpec(VOICES[voice].engine))


class Planter:
    """Makes one faulty clip of a good one; what chance decides depends on the text alone."""

    def __init__(self, voice: str, listener: Transcriber | None = None) -> None:
        """`listener` finds where to cut; only the kinds of NEED_EARS want one."""
        self._voice = voice
        self._listener = listener

    def plant(self, kind: str, clip: Clip) -> Clip:
        """The clip with a fault of that kind in it, under the same text."""
        chance = random.Random(f"{kind} {clip.text}")
        make: Callable[[Clip, random.Random], Pcm] = getattr(self, f"_{kind}")
        return replace(clip, pcm=make(clip, chance))

    def _word_cut(self, clip: Clip, chance: random.Random) -> Pcm:
        """A word cut out of the audio or, in every second text, never spoken."""
        if chance.random() < 0.5:
            words = clip.text.split()
            at = _content_word(words, chance)
            return self._said([*words[:at], *words[at + 1 :]])
        word = self._word(clip, chance)
        begin, end = _quiet(clip, word.begin_s), _quiet(clip, word.end_s)
        return _joined(clip, [(0, begin), (end, len(clip.pcm))])

    def _word_doubled(self, clip: Clip, chance: random.Random) -> Pcm:
        """A word or two said twice, by the audio or by the voice."""
        if chance.random() < 0.5:
            words = clip.text.split()
            at = _content_word(words, chance)
            word = re.sub(r"\W+$", "", words[at])
            return self._said([*words[:at], word, *words[at:]])
        word = self._word(clip, chance)
        begin, end = _quiet(clip, word.begin_s), _quiet(clip, word.end_s)
        return _joined(clip, [(0, end), (begin, len(clip.pcm))])

    def _words_swapped(self, clip: Clip, chance: random.Random) -> Pcm:
        """A word and the one after it in the other order."""
        words = clip.text.split()
        stop = words[-1][-1] if not words[-1][-1].isalnum() else ""
        words[-1] = words[-1].rstrip(".?!")
        at = min(_content_word(words, chance), len(words) - 2)
        words[at], words[at + 1] = words[at + 1], words[at]
        words[-1] += stop
        return self._said(words)

    def _tail_cut(self, clip: Clip, chance: random.Random) -> Pcm:
        """It ends in the middle of one of the last two words, or before the last."""
        times = self._times(clip)
        last = times[-chance.choice((1, 1, 2))]
        end_s = chance.choice((last.begin_s, (last.begin_s + last.end_s) / 2))
        return clip.pcm[: round(end_s * clip.rate_hz)]

    def _noise(self, clip: Clip, chance: random.Random) -> Pcm:
        """White or pink noise as loud as the speech, instead of all or half of it."""
        level = float(np.std(clip.pcm))
        rng = np.random.default_rng(chance.randrange(2**32))
        noise = rng.standard_normal(len(clip.pcm))
        if chance.random() < 0.5:
            spectrum = np.fft.rfft(noise)
            noise = np.fft.irfft(spectrum / np.sqrt(1 + np.arange(len(spectrum))), len(noise))
        noise = to_int16((noise * level / noise.std() / 32_768).astype(np.float32))
        begin, end = self._stretch(clip, chance)
        return np.concatenate([clip.pcm[:begin], noise[begin:end], clip.pcm[end:]])

    def _silence(self, clip: Clip, chance: random.Random) -> Pcm:
        """Silence instead of all or half of it, or a gap of two seconds in it."""
        begin, end = self._stretch(clip, chance)
        if chance.random() < 1 / 3:
            gap = np.zeros(2 * clip.rate_hz, np.int16)
            return np.concatenate([clip.pcm[:begin], gap, clip.pcm[begin:]])
        pcm = clip.pcm.copy()
        pcm[begin:end] = 0
        return pcm

    def _click(self, clip: Clip, chance: random.Random) -> Pcm:
        """A few samples near full scale: in the speech, in the silence around it, at an end."""
        pcm = clip.pcm.copy()
        at = chance.choice((chance.randrange(len(pcm)), chance.randrange(len(pcm)), 0, -4))
        size = chance.choice((1, 2, 4))
        pcm[at : at + size or None] = round(32_767 * chance.uniform(0.3, 0.9))
        return pcm

    def _level_jump(self, clip: Clip, chance: random.Random) -> Pcm:
        """From somewhere in the middle on it is 12 to 18 dB quieter, or was until there."""
        gain = 10 ** (-chance.uniform(12, 18) / 20)
        at = round(len(clip.pcm) * chance.uniform(0.35, 0.65))
        gains = np.ones(len(clip.pcm), np.float32)
        gains[slice(at, None) if chance.random() < 0.5 else slice(at)] = gain
        return np.rint(clip.pcm * gains).astype(np.int16)

    def _level_off(self, clip: Clip, chance: random.Random) -> Pcm:
        """All of it is 5 to 12 dB quieter or, as far as full scale lets it, louder."""
        gain_db = chance.uniform(5, 12)
        room_db = 20 * np.log10(32_767 / np.abs(clip.pcm.astype(np.int32)).max())
        sign = 1 if room_db >= gain_db and chance.random() < 0.5 else -1
        return np.rint(clip.pcm * 10 ** (sign * gain_db / 20)).astype(np.int16)

    def _wrong_voice(self, clip: Clip, chance: random.Random) -> Pcm:
        """The same words by another speaker, as loud."""
        other = "joe" if self._voice == "heart" else "heart"
        (spoken,) = speak([clip.text], other)
        samples = soxr.resample(spoken.pcm / np.float32(32_768), spoken.rate_hz, clip.rate_hz)
        return to_int16(samples * np.float32(np.std(clip.pcm) / 32_768 / samples.std()))

    def _said(self, words: Sequence[str]) -> Pcm:
        (clip,) = speak([" ".join(words)], self._voice)
        return clip.pcm

    def _times(self, clip: Clip) -> Sequence[WordTime]:
        assert self._listener is not None
        heard = self._listener.words(clip.pcm, clip.rate_hz, "en")
        return align(clip.text, heard, "en").word_times

    def _word(self, clip: Clip, chance: random.Random) -> WordTime:
        times = self._times(clip)
        return times[_content_word([time.word for time in times], chance)]

    def _stretch(self, clip: Clip, chance: random.Random) -> tuple[int, int]:
        """All of a clip, or half of it somewhere."""
        size = len(clip.pcm)
        if chance.random() < 0.5:
            return 0, size
        begin = round(size * chance.uniform(0.2, 0.4))
        return begin, begin + size // 2


def _content_word(words: Sequence[str], chance: random.Random) -> int:
    """The place of a word of four letters or more that is not the last."""
    long = [i for i, word in enumerate(words[:-1]) if sum(map(str.isalpha, word)) >= 4]
    return chance.choice(long or list(range(len(words) - 1)))


def _quiet(clip: Clip, at_s: float) -> int:
    """The quietest 5 ms within 40 ms of a time: where to cut."""
    size = round(0.005 * clip.rate_hz)
    first = max(0, round((at_s - 0.04) * clip.rate_hz))
    starts = range(first, min(len(clip.pcm) - size, first + round(0.08 * clip.rate_hz)), size)
    return min(
        starts,
        key=lambda at: float(np.square(clip.pcm[at : at + size], dtype=np.float64).sum()),
        default=len(clip.pcm),
    )


def _joined(clip: Clip, parts: Sequence[tuple[int, int]]) -> Pcm:
    """Parts of a clip, faded into each other."""
    size = round(FADE_S * clip.rate_hz)
    ramp = np.linspace(0, 1, size)
    pieces = [clip.pcm[begin:end].astype(np.float64) for begin, end in parts]
    for before, after in pairwise(pieces):
        if len(before) >= size and len(after) >= size:
            before[-size:] *= ramp[::-1]
            after[:size] *= ramp
    return np.rint(np.concatenate(pieces)).astype(np.int16)
