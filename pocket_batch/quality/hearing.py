"""What is wrong with an utterance by what was heard of it."""

from pocket_batch.dataset_settings import FilterSettings
from pocket_batch.quality.word_errors import is_loop
from pocket_batch.rows import Scores


def reason_to_reject_heard(
    scores: Scores, filters: FilterSettings, text: str
) -> tuple[str, float, float] | None:
    """A code, what was found, and the limit; None where nothing is wrong or nobody listened.

    Of a short text one wrong word is a large share, so wrong words are counted instead.
    """
    if scores.wer is None or scores.heard is None:
        return None
    num_words = len(text.split())
    if num_words < filters.short_words:
        num_edits = round(scores.wer * num_words)
        return ("asr", num_edits, filters.max_edits) if num_edits > filters.max_edits else None
    if is_loop(scores.heard) and not is_loop(text):
        return "asr_loop", scores.wer, filters.max_wer
    return ("asr", scores.wer, filters.max_wer) if scores.wer > filters.max_wer else None
