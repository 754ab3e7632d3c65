"""What is spoken of one book of a run of jobs, and what is still missing of it."""

from collections.abc import Iterable
from dataclasses import replace

from pocket_batch.data import Failure, Request, Utterance
from pocket_batch.executors.base import Spoken
from pocket_batch.jobs.outliers import Outliers
from pocket_batch.jobs.prepared import Prepared
from pocket_batch.jobs.speak import Spoke, finished, with_audio

# What tells apart the requests that books have for one key: attempts that were made before, and the
# attempt and the bytes of audio that is to be checked.
Variant = tuple[int, int, int]


class BookSpeech:
    """Takes what is spoken of a planned book, and sees what is missing.

    Attributes:
        missing: what is to be spoken, by key; once all is there, what is unlike the rest of it.
        num_segments: of all that are to be spoken, equal ones once.
        num_spoken: of those that are there.
        failures: what could not be spoken.
    """

    def __init__(self, prepared: Prepared, is_dry: bool = False) -> None:
        """Look into the work folder; a dry one is only looked at."""
        plan, self._work = prepared.plan, prepared.work
        done = finished(self._work, plan.requests, prepared.check)
        missing = {r.key: r for r in plan.requests if r.key not in done}
        self._known = finished(self._work, missing.values())  # perhaps not checked yet
        self._spoke: Spoke | None = None
        self._outliers: Outliers | None = None
        if prepared.check is not None:
            narrator = prepared.record.speaker.voice
            chosen = [choice.segment_id for choice in plan.redone]
            self._outliers = Outliers(self._work, plan.requests, prepared.check, narrator, chosen)
        self._is_round = False
        self.num_segments = len(plan.requests)
        self.num_spoken = len(done)
        self.failures: list[Failure] = []
        self.missing = missing
        if not missing and not is_dry:
            self._next_round()

    def variant(self, key: str) -> Variant | None:
        """What is asked for; None when this key is not missing."""
        request = self.missing.get(key)
        if request is None:
            return None
        known = self._known.get(key)
        if self._is_round or known is None or known.finish_reason == "length":
            return request.tried, 0, 0
        return request.tried, known.attempt, known.num_bytes

    def request(self, key: str) -> Request:
        """What is missing, with what earlier runs spoke of it and nobody checked."""
        request = self.missing[key]
        if self._is_round:
            return request
        (found,) = with_audio([request], self._known, self._work)
        return found

    def store(self, result: Spoken | Failure) -> bool:
        """Take what came of one request; whether it was spoken now, and not only checked.

        Raises:
            OutputError: the disk is full or gone.
        """
        key = result.utterance.key if isinstance(result, Spoken) else result.key
        if self._is_round:
            self._store_again(key, result)
            return isinstance(result, Spoken)
        is_new = isinstance(result, Spoken) and not self._is_known(result.utterance)
        # another book may have asked for it
        segment_id = self.missing[key].segment_id
        if isinstance(result, Failure):
            self.failures.append(replace(result, segment_id=segment_id))
        else:
            if self._spoke is None:
                self._spoke = Spoke(self._work, self._known).__enter__()
            utterance = replace(result.utterance, segment_id=segment_id)
            self._spoke.take(replace(result, utterance=utterance))
            self.num_spoken += 1
        del self.missing[key]
        if not self.missing:
            self._next_round()
        return is_new

    def _is_known(self, utterance: Utterance) -> bool:
        before = self._known.get(utterance.key)
        found = utterance.attempt, utterance.num_bytes
        return before is not None and (before.attempt, before.num_bytes) == found

    def _store_again(self, key: str, result: Spoken | Failure) -> None:
        assert self._outliers is not None
        is_whole = self._outliers.take(result)
        if is_whole:
            self._outliers.commit()
        del self.missing[key]
        if is_whole:
            self._next_round()

    def _next_round(self) -> None:
        """All is there: what is unlike the rest is missing again."""
        self.close()
        self._is_round = self._outliers is not None
        found: Iterable[Request] = self._outliers.requests() if self._outliers else ()
        self.missing = {request.key: request for request in found}

    def make_do(self) -> bool:
        """Leave outliers as they are; True when all else is spoken."""
        if self.missing and self._is_round:
            self.missing = {}
        return not self.missing

    def close(self) -> None:
        """Close its files; they are opened again when they are needed."""
        if self._spoke is not None:
            self._spoke.__exit__(None, None, None)
            self._spoke = None
