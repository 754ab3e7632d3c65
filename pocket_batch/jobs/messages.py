"""The sentences of a run, in one place: what is said at the start, on the way and at the end."""

from collections import Counter
from pathlib import Path

from pocket_batch.data import Book, Failure
from pocket_batch.engine.base import Engine
from pocket_batch.executors.base import WorkerEvent
from pocket_batch.executors.cores import usable_cores
from pocket_batch.jobs.casting import find_cast_file
from pocket_batch.jobs.lexicon import lexicon_note, unread_ipa
from pocket_batch.jobs.plan import (
    WORK_BYTES_PER_S,
    WRITE_X_REALTIME,
    AudiobookPlan,
    output_bytes_per_s,
    x_realtime,
)
from pocket_batch.jobs.progress import Level, Reporter
from pocket_batch.jobs.reading import Reading
from pocket_batch.jobs.voice import Speaker
from pocket_batch.outputs.audiobook import WrittenFile
from pocket_batch.settings import AudiobookPipeline
from pocket_batch.stages.check import Check
from pocket_batch.words import duration, plural, size
from pocket_batch.work_folder import WorkFolder


def voice(speaker: Speaker) -> str:
    """Which voice speaks, and how to get another one."""
    chosen, engine = speaker.voice, speaker.engine
    about = f": {chosen.description}" * bool(chosen.description)
    model = engine.spec.model or engine.version
    precision = f" in {engine.spec.precision}" * bool(engine.spec.model)  # others have but one
    made_by = f"{engine.name} {model}{precision}"
    text = f"Voice {chosen.name}{about} ({made_by}, licence {chosen.licence})."
    others = [f"{v.name} (licence {v.licence})" for v in speaker.voices[1:]]
    text += f" Further voices: {', '.join(others)}." * bool(others)
    return f"{text} {speaker.hint}".rstrip()


def tell_reading(
    reporter: Reporter, reading: Reading, source: Path, pipeline: AudiobookPipeline
) -> None:
    """Who reads, and which files beside the book say how."""
    speaker = reading.speaker
    reporter.note(
        "voice",
        voice(speaker),
        voice=speaker.voice.name,
        cast=[v.name for v in speaker.voices[1:]],
        engine=speaker.engine.name,
        model=speaker.engine.spec.model,
        language=speaker.language,
    )
    if reading.is_script:
        return
    cast = find_cast_file(source, pipeline)
    if cast:
        reporter.note("cast", f"Who speaks quoted lines is in {cast.name}.", path=str(cast))
    reads_ipa = speaker.engine.takes_ipa
    note = lexicon_note(source, reading.book, pipeline.normalize, reads_ipa)
    if note:
        reporter.note("lexicon", note, num_entries=reading.lexicon.num_entries)
    unread = "" if reads_ipa else unread_ipa(source, pipeline.normalize, speaker.language)
    if unread:
        reporter.note("lexicon", unread, "warning")


def already_done(output: Path) -> str:
    """The same book with the same settings is there."""
    return f"{output} is already done: same book, same voice, same settings."


def dropped_words(book: Book) -> Counter[str]:
    """How many words are left out for each reason."""
    words: Counter[str] = Counter()
    for dropped in book.dropped:
        words[dropped.reason] += len(dropped.text.split())
    return words


def nothing_spoken(source: Path, failures: list[Failure]) -> str:
    """Every segment failed, or all of it was silence."""
    reason = failures[0].reason if failures else "All audio was silence."
    return f"{source.name}: nothing could be spoken, so no file was written. {reason}"


def tell_plan(reporter: Reporter, plan: AudiobookPlan) -> None:
    """Title, size, and what is wrong with the book or left out of it."""
    book = plan.book
    for warning in book.warnings:
        reporter.note("book_warning", warning, "warning")
    by = f" by {', '.join(book.authors)}" if book.authors else ""
    reporter.note(
        "plan",
        f"{book.title}{by}: {plural(len(plan.script), 'chapter')}, "
        f"{plural(len(plan.requests), 'segment')}, about {duration(plan.audio_s)} of audio.",
        title=book.title,
        num_chapters=len(plan.script),
        num_segments=len(plan.requests),
        audio_s=round(plan.audio_s),
    )
    if book.dropped:
        words = dropped_words(book)
        reasons = "; ".join(f"{reason}, {plural(n, 'word')}" for reason, n in words.most_common(3))
        more = "; and more" * (len(words) > 3)
        text = f"Left out: {reasons}{more}. `pocket-batch inspect --dropped` shows the text."
        reporter.note("dropped", text, num_words=words.total())


def tell_estimate(
    reporter: Reporter,
    plan: AudiobookPlan,
    engine: Engine,
    output: Path,
    pipeline: AudiobookPipeline,
) -> None:
    """What a run would take, for --dry-run."""
    settings = pipeline.executor
    output_bytes = plan.audio_s * output_bytes_per_s(pipeline)
    workers = settings.workers or max(1, usable_cores() // settings.cores_per_worker)
    speed = x_realtime(engine, pipeline.check) * workers
    seconds = plan.audio_s / speed + plan.audio_s / WRITE_X_REALTIME
    reporter.note(
        "estimate",
        f"Would take about {duration(max(1, seconds))} with {plural(workers, 'worker')} of "
        f"{plural(settings.cores_per_worker, 'core')}, {size(plan.audio_s * WORK_BYTES_PER_S)} in "
        f"the work folder and {size(output_bytes)} for {output}. "
        "Nothing was spoken or written.",
        elapsed_s=round(seconds),
        work_bytes=round(plan.audio_s * WORK_BYTES_PER_S),
        output_bytes=round(output_bytes),
    )


def tell_resume(reporter: Reporter, num_done: int, total: int) -> None:
    """Part of the work is there from an earlier run."""
    text = f"Going on: {num_done:,} of {plural(total, 'segment')} already spoken."
    reporter.note("resume", text, num_done=num_done, total=total)


def tell_outliers(reporter: Reporter, count: int) -> None:
    """Say that some are spoken again, of which one by one nothing was wrong."""
    text = f"{plural(count, 'utterance')} unlike the others of their voice: spoken again."
    reporter.note("outliers", text, count=count)


def tell_worker(reporter: Reporter, event: WorkerEvent) -> None:
    """A worker came or went."""
    if event.kind == "working":
        reporter.health(event.health)
        return
    level: Level = "info" if event.kind in ("starting", "ready") else "warning"
    reporter.note(f"worker_{event.kind}", event.detail, level, num_workers=event.num_workers)


def tell_result(reporter: Reporter, files: list[WrittenFile], elapsed_s: float) -> None:
    """What was written, as measured on it."""
    audio_s = sum(file.duration_s for file in files)
    for warning in {warning for file in files for warning in file.warnings}:
        reporter.note("output_warning", warning, "warning")
    for file in files if len(files) == 1 else ():
        reporter.note(
            "written",
            f"Wrote {file.path}: {duration(file.duration_s)}, "
            f"{plural(max(1, file.num_chapters), 'chapter')}, {file.lufs:.1f} LUFS, "
            f"{file.true_peak_dbtp:.1f} dBTP, {size(file.num_bytes)}.",
        )
    if len(files) > 1:
        total = size(sum(file.num_bytes for file in files))
        text = f"Wrote {len(files)} files in {files[0].path.parent}: {duration(audio_s)}, {total}."
        reporter.note("written", text)
    reporter.note(
        "done",
        f"Took {duration(elapsed_s)}, {_speed(audio_s / elapsed_s)}.",
        audio_s=round(audio_s, 3),
        elapsed_s=round(elapsed_s, 2),
        paths=[str(file.path) for file in files],
    )


def _speed(x_realtime: float) -> str:
    """`0.42` -> `0.4x real time`; `12.3` -> `12 times faster than real time`."""
    if x_realtime < 1.95:
        return f"{x_realtime:.1f}x real time"
    return f"{x_realtime:.0f} times faster than real time"


def tell_work_folder(reporter: Reporter, work: Path) -> None:
    """What stays behind, and what it is good for."""
    reporter.note(
        "work_folder",
        f"{work} keeps the speech, so that a change costs only what changed. "
        "Delete it when you are done.",
        path=str(work),
    )


def tell_suspects(reporter: Reporter, count: int, work: WorkFolder) -> None:
    """Some utterances may be wrong."""
    text = f"{plural(count, 'segment')} may be read wrongly: {work.file('report.html')} has them."
    reporter.note("suspects", text, "warning", count=count)


def partial(
    output: Path, failures: list[Failure], book: Book, check: Check, work: WorkFolder
) -> str:
    """What the finished file lacks."""
    missing = []
    if failures:
        missing.append(
            f"{plural(len(failures), 'segment')} could not be spoken "
            f"({work.file('failures.jsonl')}; the first: {failures[0].segment_id}, "
            f"{failures[0].reason})"
        )
    if check.num_cut_off:
        missing.append(f"{plural(check.num_cut_off, 'segment')} may be cut off (checks.jsonl)")
    if book.has_gaps:
        missing.append("parts of the book are missing from its file (see the warnings above)")
    return (
        f"{output} is finished but not whole: {'; '.join(missing)}."
        + " The same command tries the failed segments again." * bool(failures)
    )
