"""What is unlike the rest of a book is spoken again: only when all is spoken, it can be told.

In rounds: `requests` gives what to speak, `take` gets each result, `commit` keeps what is better,
until `requests` is empty. Nothing is stored before a round is whole, so that a run that was stopped
in one finds the same outliers again. (A kill while a whole round is stored leaves part of it: then
the others are judged beside that part.)
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from pocket_batch.data import Failure, Request, Utterance, Voice
from pocket_batch.executors.base import Spoken
from pocket_batch.jobs.speak import Spoke, finished, read_checked, voice_ids
from pocket_batch.quality.checks import badness
from pocket_batch.records import Checked
from pocket_batch.stages.check import learned_by_voice, scores_of
from pocket_batch.stages.repair import CheckSpec
from pocket_batch.work_folder import WorkFolder


class Outliers:
    """Further attempts at what is unlike the other utterances of its voice in a book."""

    def __init__(
        self,
        work: WorkFolder,
        requests: Iterable[Request],
        spec: CheckSpec,
        narrator: Voice,
        chosen: Collection[str] = (),
    ) -> None:
        """What to compare, and what to leave as it is.

        Args:
            work: where the utterances are.
            requests: those of the whole book, as it was planned.
            spec: how they are checked.
            narrator: whose voice is that of the book.
            chosen: segments that a person chose as they are.
        """
        self._work = work
        self._requests = {request.key: request for request in requests}
        self._chosen = frozenset(chosen)
        self._spec = spec
        self._texts = {key: request.text for key, request in self._requests.items()}
        self._voices = voice_ids(narrator, self._requests.values())
        self._checked: dict[str, Checked] = {}
        self._spoken: dict[str, Utterance] = {}
        self._asked: set[str] = set()
        self._results: dict[str, Spoken | Failure] = {}

    def requests(self) -> list[Request]:
        """What to speak again in the next round; empty when nothing is left to try."""
        self._results.clear()
        self._spoken = finished(self._work, self._requests.values())
        self._checked = {
            key: checked
            for key, checked in read_checked(self._work).items()
            if key in self._spoken and checked.attempt == self._spoken[key].attempt
        }
        again = [
            replace(self._requests[key], tried=self._checked[key].num_attempts)
            for key in self._learned(self._checked)
            if self._checked[key].num_attempts < len(self._spec.attempts(self._texts[key]))
            and self._requests[key].segment_id not in self._chosen
        ]
        self._asked = {request.key for request in again}
        return again

    def take(self, result: Spoken | Failure) -> bool:
        """Take one result; whether the round is whole with it."""
        key = result.utterance.key if isinstance(result, Spoken) else result.key
        self._results[key] = result
        return self.is_whole

    @property
    def is_whole(self) -> bool:
        """Whether there is a result of everything that was asked for."""
        return self._asked <= self._results.keys()

    def commit(self) -> list[Utterance]:
        """Store what is better than what was there; gives the utterances that changed.

        Raises:
            OutputError: the disk is full or gone.
        """
        new = {
            key: result.checked
            for key, result in self._results.items()
            if isinstance(result, Spoken) and result.checked is not None
        }
        before, after = self._badness(self._checked), self._badness({**self._checked, **new})
        changed = []
        with Spoke(self._work, self._spoken) as spoke:
            for key, result in sorted(self._results.items()):
                if isinstance(result, Spoken) and after[key] < before[key]:
                    segment_id = self._spoken[key].segment_id
                    utterance = replace(result.utterance, segment_id=segment_id)
                    changed.append(spoke.take(replace(result, utterance=utterance)))
                else:
                    num_all = len(self._spec.attempts(self._texts[key]))
                    num_tried = new[key].num_attempts if key in new else num_all
                    spoke.note(replace(self._checked[key], num_attempts=num_tried))
        return changed

    def _badness(self, checked: Mapping[str, Checked]) -> dict[str, float]:
        """How bad each utterance of the round is, as it is in itself and among the others."""
        learned = self._learned(checked)
        return {
            key: badness((*checked[key].problems, *learned.get(key, ())), scores_of(checked[key]))
            for key in self._results
        }

    def _learned(self, checked: Mapping[str, Checked]) -> dict[str, tuple[str, ...]]:
        scores = {key: scores_of(found) for key, found in checked.items()}
        return learned_by_voice(scores, self._texts, self._voices, self._spec.settings)
