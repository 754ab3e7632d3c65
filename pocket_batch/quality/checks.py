"""What can be measured on an utterance in a few milliseconds, and what of it is wrong."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from pocket_batch.data import FinishReason
from pocket_batch.quality import spectrum
from pocket_batch.quality.alignment import Alignment, HeardWord, align
from pocket_batch.quality.levels import (
    FULL_SCALE,
    MIN_LETTERS,
    Pcm,
    db_of,
    measure_levels,
    num_letters,
)
from pocket_batch.quality.word_errors import is_loop
from pocket_batch.rows import Scores
from pocket_batch.settings import CheckSettings

EDGE_S = 0.02
WITHOUT_STOP = 0.5  # of the longest gap, in a text that gives no reason for one
# How much worse each is than nothing; an utterance's problems come in this order.
WEIGHTS = {
    "no_eos": 10.0,
    "too_quiet": 10.0,
    "noise": 9.0,
    "asr_loop": 8.0,
    "truncated": 6.0,
    "words_missing": 6.0,
    "words_repeated": 5.0,
    "words_inserted": 5.0,
    "words_swapped": 5.0,
    "repetition": 4.0,
    "misheard": 4.0,
    "too_slow": 4.0,
    "too_fast": 4.0,
    "voice_unlike": 4.0,
    "cut_off": 3.0,
    "voice_outlier": 3.0,
    "internal_silence": 3.0,
    "mostly_silence": 3.0,
    "click": 2.0,
    "level_jump": 2.0,
    "clipped": 2.0,
    "rate_outlier": 2.0,
    "level_outlier": 1.0,
    "edge_silence": 1.0,
    "dc_offset": 1.0,
}
# What good speech is hardly ever taken for.
CERTAIN = frozenset({"no_eos", "too_quiet", "noise", "mostly_silence", "truncated"})
# Words that a listener often leaves out, and those that it often puts in by itself.
_LEFT_OUT = frozenset(
    "a an the and of to in it is that was he i his as at on so oh uh um if".split()
)
_PUT_IN = _LEFT_OUT | frozenset(
    "or but for from with by be are were am has had she we you they them me him her my your our "
    "this these there theres then than what who im its thats".split()
)


def measure(pcm: Pcm, rate_hz: int, text: str) -> Scores:
    """Measure an utterance in every way; see `measure_levels`."""
    scores = measure_levels(pcm, rate_hz, text)
    samples = pcm.astype(np.float32) * np.float32(1 / FULL_SCALE)  # (S,)
    frames = spectrum.frames_of(samples, rate_hz)
    power = np.square(samples)
    edge = max(1, round(EDGE_S * rate_hz))
    speech = float(10 * np.log10(np.mean(10 ** (frames.level_db[frames.is_speech] / 10))))
    pitch_hz, voiced_share = spectrum.pitch(frames)
    flatness, noise_s = spectrum.flatness(frames)
    alike, alike_s = spectrum.repetition(frames)
    return replace(
        scores,
        speech_db=round(speech, 2),
        silence_share=round(1 - float(frames.is_speech.mean()), 3),
        begin_db=round(db_of(float(np.sqrt(power[:edge].mean()))) - speech, 1),
        end_db=round(db_of(float(np.sqrt(power[-edge:].mean()))) - speech, 1),
        click=round(spectrum.click(samples, rate_hz), 1),
        level_jump_db=round(spectrum.level_jump(frames), 1),
        flatness=round(flatness, 3),
        noise_s=round(noise_s, 2),
        voiced_share=round(voiced_share, 3),
        pitch_hz=round(pitch_hz, 1),
        repetition=round(alike, 3),
        repetition_s=round(alike_s, 2),
        timbre=spectrum.timbre(frames),
    )


def find_problems(
    scores: Scores,
    finish_reason: FinishReason,
    text: str,
    settings: CheckSettings,
    language: str = "en",
    alignment: Alignment | None = None,
) -> tuple[str, ...]:
    """What is wrong with an utterance by itself.

    Args:
        scores: those of `measure` or `measure_levels`; what was heard counts if `wer` is there.
        finish_reason: of the engine.
        text: in spoken form.
        settings: the bounds.
        language: of the text, a BCP 47 tag.
        alignment: of what was heard; without one it is made of `scores.heard`.

    Returns:
        Codes of WEIGHTS, the worst first.
    """
    found = {"no_eos"} if finish_reason == "length" else set()
    if scores.rms_db < settings.min_rms_db:
        return in_order(found | {"too_quiet"})
    found |= {*_by_levels(scores, text, settings), *_by_spectrum(scores, text, settings)}
    found |= {*_by_rate(scores, text, settings)}
    if scores.wer is not None:
        heard = scores.heard or ""
        alignment = alignment or align(text, as_heard(heard), language)
        found |= {*_by_words(alignment, text, heard, settings)}
    return in_order(found)


def in_order(codes: set[str]) -> tuple[str, ...]:
    """The worst first."""
    return tuple(code for code in WEIGHTS if code in codes)


def badness(problems: Sequence[str], scores: Scores) -> float:
    """How bad an utterance is, to keep the least bad of several: less than 1 without problems."""
    wer = min(1.0, scores.wer or 0.0)
    return sum(WEIGHTS.get(code, 1.0) for code in problems) + 0.9 * wer


def as_heard(text: str) -> list[HeardWord]:
    """Words that were heard nobody knows when."""
    return [HeardWord(word, 0.0, 0.0) for word in text.split()]


def _by_levels(scores: Scores, text: str, settings: CheckSettings) -> Iterator[str]:
    if scores.clipped > settings.max_clipped:
        yield "clipped"
    if abs(scores.dc) > settings.max_dc:
        yield "dc_offset"
    if max(scores.leading_silence_s, scores.trailing_silence_s) > settings.max_edge_silence_s:
        yield "edge_silence"
    longest_s = settings.max_gap_s * (1.0 if _has_stop_inside(text) else WITHOUT_STOP)
    if scores.longest_gap_s > longest_s:
        yield "internal_silence"
    if (scores.silence_share or 0.0) > settings.max_silence_share:
        yield "mostly_silence"
    if scores.end_db is not None and scores.end_db > settings.max_end_db:
        yield "cut_off"


def _has_stop_inside(text: str) -> bool:
    return any(mark in text.rstrip("\"'”’» .,;:!?…—–-") for mark in ",;:.!?…—–")


def _by_spectrum(scores: Scores, text: str, settings: CheckSettings) -> Iterator[str]:
    is_flat = (scores.flatness or 0.0) > settings.max_flatness
    is_hoarse = scores.voiced_share is not None and scores.voiced_share < settings.min_voiced_share
    if is_flat or is_hoarse or (scores.noise_s or 0.0) > settings.max_noise_s:
        yield "noise"
    if (scores.click or 0.0) > settings.max_click:
        yield "click"
    if (scores.level_jump_db or 0.0) > settings.max_level_jump_db:
        yield "level_jump"
    if (scores.repetition or 0.0) > settings.max_repetition and not repeats_itself(text):
        yield "repetition"


def _by_rate(scores: Scores, text: str, settings: CheckSettings) -> Iterator[str]:
    """A rate that no speaker has. Of a short text only a very slow one is told."""
    is_short = num_letters(text) < MIN_LETTERS
    slowest = min(settings.min_letters_per_s, 1.0) if is_short else settings.min_letters_per_s
    if scores.letters_per_s < slowest:
        yield "too_slow"
    if scores.letters_per_s > settings.max_letters_per_s and not is_short:
        yield "too_fast"


def _by_words(found: Alignment, text: str, heard: str, settings: CheckSettings) -> Iterator[str]:
    """Of a short text the edits are counted; of others each kind has its own measure."""
    if found.num_words < settings.short_words:
        if found.num_edits > settings.max_edits or (found.num_words and not heard.strip()):
            yield "misheard"
        return
    if is_loop(heard) and not is_loop(text):
        yield "asr_loop"
    if found.is_truncated:
        yield "truncated"
    if _weight(found.missing, _LEFT_OUT) >= 1:
        yield "words_missing"
    if found.repeated:
        yield "words_repeated"
    if _weight(found.inserted, _PUT_IN) >= 1:
        yield "words_inserted"
    if found.swapped:
        yield "words_swapped"
    num_unlike = sum(len(said.split()) for said, _ in found.unlike)
    if num_unlike > max(settings.max_edits, settings.max_unlike_words * found.num_words):
        yield "misheard"


def _weight(words: Sequence[str], little: frozenset[str]) -> float:
    """One little word may be the listener's fault; two are not."""
    return sum(0.5 if word in little else 1.0 for word in words)


def repeats_itself(text: str) -> bool:
    """Whether a text itself says something twice in a row: `very, very`."""
    words = "".join(c if c.isalnum() else " " for c in text.casefold()).split()
    return any(
        words[at : at + length] == words[at + length : at + 2 * length]
        for length in range(1, 5)
        for at in range(len(words) - 2 * length + 1)
    )
