"""Stage `check`: finds utterances that were spoken but may be wrong, from what is known of them."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields

from pocket_batch.data import Failure, Suspect, Utterance
from pocket_batch.quality.checks import find_problems, in_order
from pocket_batch.quality.learned import learned_problems
from pocket_batch.quality.sentences import sentence
from pocket_batch.records import Checked
from pocket_batch.rows import Scores
from pocket_batch.settings import CheckSettings
from pocket_batch.stages.attempts import plain
from pocket_batch.stages.listen import is_chosen
from pocket_batch.stages.repair import CheckSpec

# Below this many letters the silence around the words outweighs the words.
MIN_LETTERS = 12
_SCORES = {f.name for f in fields(Scores)}
_NEEDED = {f.name for f in fields(Scores) if f.default is MISSING}
UNLIKE = "voice_unlike"
CUT_OFF = "The engine reached its length limit before the end of the text."


class Check:
    """Lists in `suspects` what may be wrong, once all utterances have passed.

    Attributes:
        suspects: each with a sentence.
        problems: codes of each suspect that was measured, by key.
        num_cut_off: of utterances that ran into their length limit.
        wer: share of wrong words in what was listened to; None where nothing was.
        num_wrong: those words.
        num_heard: of how many.
    """

    name = "check"

    def __init__(
        self, settings: CheckSettings, texts: Mapping[str, str], language: str = "en"
    ) -> None:
        """`texts` holds the spoken text of each content key; `language` is theirs."""
        self._language = language
        self._settings = settings
        self._texts = texts
        self._spoken: dict[str, Utterance] = {}
        self.suspects: list[Suspect] = []
        self.problems: dict[str, tuple[str, ...]] = {}
        self.num_cut_off = 0
        self.wer: float | None = None
        self.num_wrong = 0
        self.num_heard = 0

    def run(self, items: Iterable[Utterance | Failure]) -> Iterator[Utterance | Failure]:
        """Pass everything on; remember what is to be judged."""
        for item in items:
            if isinstance(item, Utterance):
                self._spoken[item.key] = item
            yield item

    def judge(
        self,
        checked: Mapping[str, Checked],
        voices: Mapping[str, str],
        unlike: Collection[str] = (),
    ) -> None:
        """Find the suspects among all that passed.

        Args:
            checked: what is known of them; those that are missing there were not measured.
            voices: whose voice each key is in, as each has its own rate and level.
            unlike: keys of those that sound like another speaker.
        """
        scores = {
            key: scores_of(checked[key])
            for key, spoken in self._spoken.items()
            if key in checked and checked[key].attempt == spoken.attempt
        }
        learned = learned_by_voice(scores, self._texts, voices, self._settings)
        for key, utterance in self._spoken.items():
            text = plain(self._texts[key])
            self.num_cut_off += utterance.finish_reason == "length"
            found = scores.get(key)
            codes: tuple[str, ...] = ()
            if found is None:
                reason = self._reason(utterance, text)
                reason += " It sounds like another speaker." * (key in unlike)
            else:
                codes = find_problems(
                    found, utterance.finish_reason, text, self._settings, self._language
                )
                codes = in_order({*codes, *learned.get(key, ()), *[UNLIKE] * (key in unlike)})
                self.problems |= {key: codes} if codes else {}
                reason = " ".join(
                    sentence(code, found, text, language=self._language) for code in codes
                )
            if reason:
                written = self._texts[key]
                suspect = Suspect(key, utterance.segment_id, written, reason, codes)
                self.suspects.append(suspect)
        self._count_words(scores)

    def _count_words(self, scores: Mapping[str, Scores]) -> None:
        heard = [
            (s.wer, len(self._texts[k].split())) for k, s in scores.items() if s.wer is not None
        ]
        num_words, num_wrong = sum(n for _, n in heard), sum(wer * n for wer, n in heard)
        self.num_wrong, self.num_heard = round(num_wrong), num_words
        self.wer = round(num_wrong / num_words, 5) if num_words else None

    def _reason(self, utterance: Utterance, text: str) -> str:
        """Why an utterance that was not measured is suspect, or an empty string."""
        if utterance.finish_reason == "length":
            return CUT_OFF
        letters = sum(character.isalnum() for character in text)
        rate = letters * utterance.sampling_rate_hz / max(1, utterance.num_samples)
        if letters < MIN_LETTERS:
            return ""
        if rate < self._settings.min_letters_per_s:
            return f"Read at {rate:.1f} letters a second: too slow, perhaps noise or repetition."
        if rate > self._settings.max_letters_per_s:
            return f"Read at {rate:.1f} letters a second: too fast, perhaps words are missing."
        return ""


def learned_by_voice(
    scores: Mapping[str, Scores],
    texts: Mapping[str, str],
    voices: Mapping[str, str],
    settings: CheckSettings,
) -> dict[str, tuple[str, ...]]:
    """What differs from most that the same voice said: codes by key."""
    by_voice: dict[str, dict[str, tuple[str, Scores]]] = {}
    for key, found in scores.items():
        by_voice.setdefault(voices.get(key, ""), {})[key] = (plain(texts[key]), found)
    learned: dict[str, tuple[str, ...]] = {}
    for items in by_voice.values():
        learned |= learned_problems(items, settings)
    return learned


def is_settled(utterance: Utterance, checked: Checked | None, text: str, spec: CheckSpec) -> bool:
    """Whether an utterance of an earlier run needs no check and no further attempt."""
    settings = spec.settings
    if checked is None or checked.attempt != utterance.attempt:
        return False  # a kill came between the record of the audio and that of its check
    scores = scores_of(checked)
    share = {"off": 0.0, "sample": settings.sample_fraction, "all": 1.0}[settings.listen]
    is_heard = scores.wer is not None and checked.asr_model == settings.asr_model
    if not is_heard and is_chosen(utterance.key, share):
        return False
    problems = find_problems(scores, utterance.finish_reason, plain(text), settings, spec.language)
    return not problems or checked.num_attempts >= len(spec.attempts(text))


def has_scores(checked: Checked) -> bool:
    """Whether a record has all that every version measures."""
    return isinstance(checked.scores, dict) and checked.scores.keys() >= _NEEDED


def scores_of(checked: Checked) -> Scores:
    """The scores of a record; those that this version does not know are left out."""
    return Scores(**{name: value for name, value in checked.scores.items() if name in _SCORES})
