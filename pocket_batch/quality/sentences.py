"""What is wrong with an utterance, in sentences for people."""

from collections.abc import Sequence

from pocket_batch.quality.alignment import Alignment, align
from pocket_batch.quality.checks import as_heard
from pocket_batch.rows import Scores

MAX_WORDS = 6  # that are named

_SENTENCES = {
    "no_eos": "The engine reached its length limit before the end of the text.",
    "too_quiet": "Hardly anything can be heard ({rms_db:.0f} dB).",
    "noise": "It sounds like noise or breath instead of speech.",
    "asr_loop": "The same words are heard again and again.",
    "truncated": "The end of the text was not heard: {missing}.",
    "words_missing": "Words were not heard: {missing}.",
    "words_repeated": "Words were heard twice: {repeated}.",
    "words_inserted": "Words were heard that are not in the text: {inserted}.",
    "words_swapped": "Words were heard in another order: {swapped}.",
    "misheard": "Other words were heard: {unlike}.",
    "repetition": "A stretch of {repetition_s:.1f} s sounds like the one before it.",
    "too_slow": "Read at {letters_per_s:.1f} letters a second: too slow, perhaps noise or "
    "repetition.",
    "too_fast": "Read at {letters_per_s:.1f} letters a second: too fast, perhaps words are "
    "missing.",
    "cut_off": "It ends in the middle of a sound.",
    "voice_unlike": "It sounds like another speaker.",
    "voice_outlier": "It sounds unlike the rest of this voice.",
    "internal_silence": "There is a gap of {longest_gap_s:.1f} s inside.",
    "mostly_silence": "Most of it is silence ({silence_share:.0%}).",
    "click": "There is a click.",
    "level_jump": "The level changes by {level_jump_db:.0f} dB inside.",
    "clipped": "The signal is clipped.",
    "rate_outlier": "Read much faster or slower than this voice reads "
    "({letters_per_s:.1f} letters a second).",
    "level_outlier": "Louder or quieter than this voice is ({speech_db:.0f} dB).",
    "edge_silence": "It begins or ends with a long silence.",
    "dc_offset": "The signal has an offset of {dc:.3f}.",
}


def sentence(
    code: str, scores: Scores, text: str, alignment: Alignment | None = None, language: str = "en"
) -> str:
    """What a code means for this utterance.

    Args:
        code: of `checks.WEIGHTS`.
        scores: of the utterance.
        text: in spoken form.
        alignment: of what was heard; without one it is made of `scores.heard`.
        language: of the text, a BCP 47 tag.
    """
    template = _SENTENCES.get(code, f"Something is wrong with it ({code}).")
    if alignment is None and code in _BY_WORDS:
        alignment = align(text, as_heard(scores.heard or ""), language)
    values = {name: getattr(scores, name) or 0.0 for name in _MEASURED}
    return template.format(**values, **_words(alignment))


_BY_WORDS = {"truncated", "words_missing", "words_repeated", "words_inserted", "words_swapped"} | {
    "misheard"
}
_MEASURED = (
    "rms_db repetition_s letters_per_s longest_gap_s silence_share level_jump_db speech_db dc"
).split()


def _words(found: Alignment | None) -> dict[str, str]:
    if found is None:
        return {}
    unlike = [f"{heard} for {said}" for said, heard in found.unlike]
    return {
        "missing": _list(found.missing),
        "repeated": _list(found.repeated),
        "inserted": _list(found.inserted),
        "swapped": _list(found.swapped),
        "unlike": _list(unlike),
    }


def _list(words: Sequence[str]) -> str:
    """The first words, quoted."""
    shown = ", ".join(f"“{word}”" for word in words[:MAX_WORDS])
    return shown + (" and more" if len(words) > MAX_WORDS else "") if words else "other words"
