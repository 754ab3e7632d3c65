"""Which attempt of each row is kept, and why the others are not."""

from collections.abc import Mapping, Sequence

from pocket_batch.data import Request
from pocket_batch.dataset_settings import FilterSettings
from pocket_batch.quality.hearing import reason_to_reject_heard
from pocket_batch.quality.levels import MIN_LETTERS, num_letters, rate_bounds, reason_to_reject
from pocket_batch.rows import AttemptReject, Sample
from pocket_batch.units.partial import Attempt

Attempts = Mapping[tuple[str, int], Attempt]
Bounds = tuple[float, float] | None


def judge(requests: Sequence[Request], attempts: Attempts, filters: FilterSettings) -> list[Sample]:
    """What each row comes to with the attempts that there are, in the order of the requests.

    A row whose attempts were all rejected has one reject for each of them.
    """
    bounds = _bounds(requests, attempts, filters)
    return [_verdict(request, attempts, filters, bounds) for request in requests]


def _bounds(requests: Sequence[Request], attempts: Attempts, filters: FilterSettings) -> Bounds:
    """Bounds of the reading rate, from the first attempts at texts that are long enough."""
    rates = []
    for request in requests:
        first = attempts.get((request.key, 0))
        scores = first.sample.scores if first else None
        if scores is not None and num_letters(request.text) >= MIN_LETTERS:
            rates.append(scores.letters_per_s)
    return rate_bounds(rates, filters.rate_mads)


def _verdict(
    request: Request, attempts: Attempts, filters: FilterSettings, bounds: Bounds
) -> Sample:
    rejects: list[AttemptReject] = []
    last = Sample(request.key, "error", error="It was not spoken.")
    for number in range(filters.max_attempts):
        found = attempts.get((request.key, number))
        if found is None:
            break
        last = found.sample
        reject = _reject(last, request.text, filters, bounds)
        if reject is None:
            return _final(last, "kept", rejects)
        rejects.append(reject)
    return _final(last, "error" if last.status == "error" else "filtered", rejects)


def _final(sample: Sample, status: str, rejects: list[AttemptReject]) -> Sample:
    """The record of a row; what was not kept has no audio."""
    if status == "kept":
        return Sample(
            key=sample.key,
            status="kept",
            num_samples=sample.num_samples,
            sampling_rate_hz=sample.sampling_rate_hz,
            finish_reason=sample.finish_reason,
            seed=sample.seed,
            attempt=sample.attempt,
            audio_sha256=sample.audio_sha256,
            scores=sample.scores,
            rejects=tuple(rejects),
        )
    return Sample(
        key=sample.key,
        status="error" if status == "error" else "filtered",
        seed=sample.seed,
        attempt=sample.attempt,
        rejects=tuple(rejects),
        error=sample.error,
    )


def _reject(
    sample: Sample, text: str, filters: FilterSettings, bounds: Bounds
) -> AttemptReject | None:
    """Why an attempt is not kept; None when it is."""
    if sample.scores is None:
        return AttemptReject(sample.attempt, sample.seed, "error")
    scores = sample.scores
    found = reason_to_reject(scores, sample.finish_reason, filters, text)
    if found is None and bounds and num_letters(text) >= MIN_LETTERS:
        low, high = bounds
        rate = scores.letters_per_s
        if not low <= rate <= high:
            found = "rate_outlier", rate, low if rate < low else high
    found = found or reason_to_reject_heard(scores, filters, text)
    if found is None:
        return None
    code, value, threshold = found
    return AttemptReject(sample.attempt, sample.seed, code, value, threshold)


def words_heard(requests: Sequence[Request], kept: Sequence[Sample]) -> tuple[int, int]:
    """Words of what was listened to, and how many of them were wrong."""
    num_words = {request.key: len(request.text.split()) for request in requests}
    wers = {s.key: s.scores.wer for s in kept if s.scores and s.scores.wer is not None}
    wrong = sum(round(wer * num_words[key]) for key, wer in wers.items())
    return sum(num_words[key] for key in wers), wrong
