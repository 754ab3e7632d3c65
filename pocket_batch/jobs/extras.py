"""What can be made beside a finished audiobook, at any time: subtitles, a book to read along."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from pocket_batch.data import Book, Choices, Failure, ScriptChapter, Utterance
from pocket_batch.errors import OutputError, StoppedError
from pocket_batch.executors.cores import usable_cores
from pocket_batch.jobs.extra_records import describe_extra
from pocket_batch.jobs.progress import Meter, Reporter
from pocket_batch.jobs.record import is_as_written
from pocket_batch.jobs.speak import read_checked
from pocket_batch.jobs.subtitles import NO_WORDS, write_subtitles
from pocket_batch.manifest import Manifest
from pocket_batch.outputs.cues import WordTimes
from pocket_batch.settings import AudiobookPipeline, SubtitleKind, WriteSettings
from pocket_batch.stages.master import Joiner, Master, Mastered
from pocket_batch.words import duration, plural, size
from pocket_batch.work_folder import WorkFolder

READ_ALONG = "read-along"
KINDS = (*get_args(SubtitleKind), READ_ALONG)
READ_ALONG_SUFFIX = " (read-along).epub"


@dataclass(frozen=True, slots=True)
class Speech:
    """A book whose utterances are all in the work folder, and what joins them."""

    book: Book
    narrators: tuple[str, ...]
    script: tuple[ScriptChapter, ...]
    joiner: Joiner
    mastered: Sequence[Mastered]


def kinds_of(settings: WriteSettings) -> tuple[str, ...]:
    """What is asked for."""
    kinds = tuple(dict.fromkeys(settings.subtitles))
    return (*kinds, READ_ALONG) if settings.read_along else kinds


def targets_of(kind: str, output: Path, files: Sequence[Path], is_split: bool) -> list[Path]:
    """The files of a kind: subtitles beside each audio file, one EPUB for the book."""
    if kind != READ_ALONG:
        return [file.with_suffix(f".{kind}") for file in files]
    name = output.name if is_split else output.stem
    folder = output if is_split else output.parent
    return [folder / f"{name}{READ_ALONG_SUFFIX}"]


def missing_kinds(
    pipeline: AudiobookPipeline, output: Path, result: Mapping[str, Any]
) -> tuple[str, ...]:
    """What of what is asked for is not there, or not as it was written.

    Args:
        result: what an earlier run recorded of the audiobook.
    """
    files = [Path(str(o.get("path"))) for o in result["outputs"]]
    known = {str(e.get("path")): e for e in result.get("extras", ())}
    is_split = pipeline.write.split_chapters

    def is_there(path: Path) -> bool:
        found = known.get(str(path.resolve()))
        return found is not None and is_as_written(path, found)

    return tuple(
        kind
        for kind in kinds_of(pipeline.write)
        if not all(map(is_there, targets_of(kind, output, files, is_split)))
    )


def outdated(
    pipeline: AudiobookPipeline, output: Path, results: Mapping[str, Any]
) -> tuple[str, ...]:
    """What was made before beside an audiobook that was made anew: not asked for, but wrong now."""
    asked = kinds_of(pipeline.write)
    found = {
        str(extra.get("kind")): None
        for result in results.values()
        if result.get("target") == str(output.resolve())
        for extra in result.get("extras", ())
        if is_as_written(Path(str(extra.get("path"))), extra)
    }
    return tuple(kind for kind in found if kind not in asked and kind in KINDS)


def check_targets(
    pipeline: AudiobookPipeline, output: Path, results: Mapping[str, Any], overwrite: bool
) -> None:
    """Refuse to write over what this work folder did not make, before anything is spoken.

    Raises:
        OutputError: naming the file.
    """
    extras = [e for result in results.values() for e in result.get("extras", ())]
    mine = {str(e.get("path")) for e in extras if _is_mine(e)}
    is_split = pipeline.write.split_chapters
    for kind in kinds_of(pipeline.write):
        for path in targets_of(kind, output, [] if is_split else [output], is_split):
            if path.exists() and not overwrite and str(path.resolve()) not in mine:
                raise OutputError(
                    f"{path} exists, and was not made by this command, or was changed since. Move "
                    "it away, or give --overwrite to replace it."
                )


def _is_mine(extra: Mapping[str, Any]) -> bool:
    return not extra.get("sha256") or is_as_written(Path(str(extra.get("path"))), extra)


def planned(
    pipeline: AudiobookPipeline, output: Path, kinds: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """The entries of what is about to be written, so that a stopped run knows it for its own.

    `kinds` of None are all that are asked for.
    """
    is_split = pipeline.write.split_chapters
    return [
        {"kind": kind, "path": str(path.resolve())}
        for kind in (kinds_of(pipeline.write) if kinds is None else kinds)
        for path in targets_of(kind, output, [] if is_split else [output], is_split)
    ]


@dataclass(slots=True)
class Extras:
    """Makes them, and says so.

    `word_times` are those of `write_subtitles`.
    """

    source: Path
    output: Path
    work: WorkFolder
    pipeline: AudiobookPipeline
    choices: Choices
    reporter: Reporter
    should_stop: Callable[[], bool] = lambda: False
    word_times: Mapping[str, WordTimes] = field(default_factory=lambda: NO_WORDS)

    def make(
        self, kinds: Sequence[str], files: Sequence[Path], speech: Callable[[], Speech]
    ) -> list[dict[str, Any]]:
        """Make some kinds; gives their entries for `run.json`.

        Args:
            files: the finished audio, in order.
            speech: gives what is joined; asked for only where audio is encoded again.

        Raises:
            OutputError: a file cannot be written.
            StoppedError: while encoding.
        """
        made: list[dict[str, Any]] = []
        subtitles = [kind for kind in kinds if kind != READ_ALONG]
        if subtitles:
            made += self._subtitles(subtitles, files)
        if READ_ALONG in kinds:
            made.append(self._read_along(files, speech()))
        return made

    def _subtitles(self, kinds: Sequence[str], files: Sequence[Path]) -> list[dict[str, Any]]:
        written = write_subtitles(
            self.source,
            self.work,
            files,
            self.pipeline,
            kinds,
            self.choices,
            self.word_times or _word_times(self.work),
        )
        paths = list(written)
        where = paths[0] if len(paths) == 1 else f"{len(paths)} files in {paths[0].parent}"
        text = f"Wrote subtitles ({', '.join(kinds)}): {where}."
        self.reporter.note("subtitles", text, paths=[str(path) for path in paths])
        return [describe_extra(path, kind) for path, kind in written.items()]

    def _read_along(self, files: Sequence[Path], speech: Speech) -> dict[str, Any]:
        from pocket_batch.jobs.readalong import write_readalong

        rate = speech.joiner.sampling_rate_hz
        total_s = sum(item.chapter.num_samples for item in speech.mastered) / rate
        meter = Meter(self.reporter, "encoding", len(speech.mastered), total_s)

        def encoded(num_samples: int) -> None:
            meter.add(num_samples / rate, items=0)
            if self.should_stop():
                raise StoppedError("Stopped while encoding. All speech is kept.")

        is_split = self.pipeline.write.split_chapters
        (target,) = targets_of(READ_ALONG, self.output, files, is_split)
        found = write_readalong(
            self.source,
            self.work,
            target,
            self.pipeline,
            speech.book,
            speech.narrators,
            speech.script,
            speech.joiner,
            speech.mastered,
            self.choices,
            encoded,
        )
        meter.add(0.0, items=len(speech.mastered))
        meter.finish()
        lost = found.num_utterances - found.num_placed
        self.reporter.note(
            "read_along",
            f"Wrote {found.path}, to read along with: {duration(found.duration_s)}, "
            f"{plural(found.num_documents, 'document')}, {size(target.stat().st_size)}."
            + f" {plural(lost, 'segment')} of {found.num_utterances:,} have no place of their own "
            "in the text, and are heard with those before them." * bool(lost),
            path=str(found.path),
            num_placed=found.num_placed,
            num_utterances=found.num_utterances,
        )
        return describe_extra(target, READ_ALONG, found.duration_s)


def speech_of(
    book: Book,
    narrators: Sequence[str],
    script: tuple[ScriptChapter, ...],
    work: WorkFolder,
    joiner: Joiner,
    utterances: Sequence[Utterance | Failure],
) -> Speech:
    """Join what an earlier run spoke once more, to encode it again."""
    mastered = list(Master(work, joiner, script, usable_cores()).run(utterances))
    return Speech(book, tuple(narrators), script, joiner, mastered)


def _word_times(work: WorkFolder) -> dict[str, WordTimes]:
    """When each word was heard, of the utterances that were listened to."""
    records = Manifest(work.file("utterances.jsonl"), Utterance).read(damaged=[])
    attempts = {utterance.key: utterance.attempt for utterance in records}
    return {
        key: checked.words
        for key, checked in read_checked(work).items()
        if checked.words and checked.attempt == attempts.get(key)
    }
