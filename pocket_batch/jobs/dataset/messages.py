"""The sentences of a data set run, in one place."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from pocket_batch.engine.base import Engine
from pocket_batch.executors.cores import usable_cores
from pocket_batch.jobs.dataset.record import SetStatistics
from pocket_batch.jobs.plan import LETTERS_PER_S, WORK_BYTES_PER_S
from pocket_batch.jobs.progress import Reporter
from pocket_batch.outputs.exports import Speaker
from pocket_batch.settings import ExecutorSettings
from pocket_batch.words import duration, plural, size

MAX_REASONS = 4


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a set will take: seconds of speech, bytes of its units, hours of one worker."""

    audio_s: float
    num_bytes: float
    worker_hours: float


def estimate(letters_by_engine: Mapping[Engine, int]) -> Estimate:
    """What speaking so many letters will take, by what is known of each engine."""
    seconds = {engine: n / LETTERS_PER_S for engine, n in letters_by_engine.items()}
    audio_s = sum(seconds.values())
    worker_s = sum(s / engine.x_realtime for engine, s in seconds.items())
    return Estimate(audio_s, audio_s * WORK_BYTES_PER_S, worker_s / 3600)


def tell_voices(reporter: Reporter, speakers: tuple[Speaker, ...], licence: str) -> None:
    """Who speaks, and what may be done with what they say."""
    for speaker in speakers:
        about = f": {speaker.description}" * bool(speaker.description)
        text = f"Voice {speaker.name}{about} (licence {speaker.licence})."
        reporter.note("voice", text, voice=speaker.name, licence=speaker.licence)
    if speakers:
        reporter.note("licence", f"Licence of the set: {licence}.", licence=licence)


def tell_rejects(reporter: Reporter, rejects: Mapping[str, int]) -> None:
    """What of the corpus is left out."""
    total = sum(rejects.values())
    if total:
        text = f"Left out: {plural(total, 'text')} ({reasons(rejects)}); rejects.jsonl lists them."
        reporter.note("rejects", text, reasons=dict(rejects))


def tell_plan(
    reporter: Reporter,
    num_rows: int,
    num_units: int,
    by_voice: Mapping[str, int],
    by_split: Mapping[str, int],
    whole: Estimate,
) -> None:
    """How much there is to speak, before it is spoken."""
    voices = ", ".join(f"{name} {count:,}" for name, count in by_voice.items())
    splits = ", ".join(f"{name} {count:,}" for name, count in by_split.items())
    by = f" By voice: {voices}; by split: {splits}." * bool(num_rows)
    reporter.note(
        "plan",
        f"Plan: {plural(num_rows, 'utterance')} in {plural(num_units, 'unit')}, about "
        f"{duration(whole.audio_s)} of audio, {size(whole.num_bytes)}, "
        f"{_hours(whole.worker_hours)}.{by}",
        num_rows=num_rows,
        num_units=num_units,
        audio_s=round(whole.audio_s),
        num_bytes=round(whole.num_bytes),
        worker_hours=round(whole.worker_hours, 3),
        by_voice=dict(by_voice),
        by_split=dict(by_split),
    )


def tell_dry(reporter: Reporter, whole: Estimate, settings: ExecutorSettings) -> None:
    """What a run would take, for --dry-run."""
    workers = settings.workers or max(1, usable_cores() // settings.cores_per_worker)
    seconds = max(1.0, whole.worker_hours * 3600 / workers)
    reporter.note(
        "estimate",
        f"Would take about {duration(seconds)} with {plural(workers, 'worker')} of "
        f"{plural(settings.cores_per_worker, 'core')}. Nothing was spoken or written.",
        elapsed_s=round(seconds),
        workers=workers,
    )


def tell_resume(reporter: Reporter, num_done: int, num_units: int) -> None:
    """Part of the work is there from an earlier run."""
    text = f"Going on: {num_done:,} of {plural(num_units, 'unit')} are done."
    reporter.note("resume", text, num_done=num_done, num_units=num_units)


def tell_result(
    reporter: Reporter, found: SetStatistics, elapsed_s: float, output: str, is_new: bool
) -> None:
    """What the set holds now."""
    voices = ", ".join(
        f"{name} {int(v['num_kept']):,} ({duration(v['audio_s'])})"
        for name, v in sorted(found.by_voice.items())
    )
    by = f" By voice: {voices}." * bool(voices)
    took = f"Took {duration(elapsed_s)}." if is_new else "All of it was done already."
    reporter.note(
        "done",
        f"{output}: {plural(found.num_kept, 'utterance')} kept, {found.num_filtered:,} filtered, "
        f"{plural(found.num_errors, 'error')}; {duration(found.audio_s)} of speech, "
        f"{size(found.num_bytes)}.{by} {took}",
        num_kept=found.num_kept,
        num_filtered=found.num_filtered,
        num_errors=found.num_errors,
        audio_s=round(found.audio_s, 3),
        elapsed_s=round(elapsed_s, 2),
    )
    if found.wer is not None:
        text = f"Heard {100 * found.wer:.2f} % wrong words in {found.num_words_heard:,}."
        reporter.note("quality", text, wer=found.wer)
    if found.num_filtered or found.num_errors:
        text = f"Not kept: {reasons(found.failures)}; {output}/failures.jsonl lists them."
        reporter.note("failures", text, "warning", reasons=dict(found.failures))
    if found.rejects:
        total = plural(sum(found.rejects.values()), "attempt")
        text = f"Rejected: {total} ({reasons(found.rejects)})."
        reporter.note("attempts", text, reasons=dict(found.rejects))


def reasons(counts: Mapping[str, int]) -> str:
    """`empty_text 12, too_long 3`: the most frequent ones."""
    most = Counter(counts).most_common(MAX_REASONS)
    more = ", ..." * (len(counts) > MAX_REASONS)
    return ", ".join(f"{reason} {count:,}" for reason, count in most) + more


def _hours(hours: float) -> str:
    """`0.42` -> `25 minutes of one worker`; above an hour `1,234.5 worker-hours`."""
    return f"{hours:,.1f} worker-hours" if hours >= 1 else f"{duration(hours * 3600)} of one worker"
