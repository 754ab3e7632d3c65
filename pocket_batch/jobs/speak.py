"""Hands the executor exactly the utterances that the work folder does not hold yet."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from pocket_batch.audio.flac import decode_flac
from pocket_batch.data import Failure, Request, Utterance, Voice
from pocket_batch.engine.base import Engine
from pocket_batch.errors import AudioError, StoppedError
from pocket_batch.executors.base import (
    Executor,
    Limits,
    Plan,
    Spoken,
    WorkerEvent,
    WorkerSpec,
    fingerprint,
    make_executor,
)
from pocket_batch.jobs.plan import x_realtime
from pocket_batch.manifest import Manifest
from pocket_batch.records import Checked
from pocket_batch.settings import AudiobookPipeline, ExecutorSettings
from pocket_batch.stages.check import has_scores, is_settled
from pocket_batch.stages.repair import CheckSpec
from pocket_batch.stages.unit import UnitSpec
from pocket_batch.work_folder import WorkFolder

# Ray is up after five to seven seconds on two cores; work that is over by then runs here.
RAY_START_S = 7.0


def finished(
    work: WorkFolder, requests: Iterable[Request], check: CheckSpec | None = None
) -> dict[str, Utterance]:
    """The utterances of earlier runs that can be used: recorded, and their audio whole on disk.

    A line that a crash of the machine damaged is passed over: its utterance is spoken again. With
    `check`, only those that were checked that way, and are good or were tried often enough.
    """
    texts = {request.key: request.text for request in requests}
    manifest = Manifest(work.file("utterances.jsonl"), Utterance)
    records = {u.key: u for u in manifest.read(damaged=[]) if u.key in texts}
    whole = {key: u for key, u in records.items() if _size(work.audio(key)) == u.num_bytes}
    if check is None:
        return whole
    checked = read_checked(work)
    return {
        key: utterance
        for key, utterance in whole.items()
        if is_settled(utterance, checked.get(key), texts[key], check)
    }


def read_checked(work: WorkFolder) -> dict[str, Checked]:
    """What is known of the quality of each utterance, by key."""
    records = Manifest(work.file("scores.jsonl"), Checked).read(damaged=[])
    return {checked.key: checked for checked in records if has_scores(checked)}


def check_spec(pipeline: AudiobookPipeline, engine: Engine, language: str) -> CheckSpec | None:
    """How workers check what they speak; tones are no speech."""
    if "check" not in pipeline.stages or engine.name == "fake":
        return None
    return CheckSpec(pipeline.check, language, engine.varies)


def voice_ids(narrator: Voice, requests: Iterable[Request]) -> dict[str, str]:
    """Whose voice each utterance is in, by key, with the narrator's at "".

    Two recordings may have one name, and are two voices.
    """
    return {"": repr(narrator)} | {request.key: repr(request.voice) for request in requests}


class Spoke:
    """Takes what was spoken into a work folder, each before the next; a context manager.

    Audio, then its record, then its check: a kill in between costs what is missing.
    """

    def __init__(self, work: WorkFolder, known: Mapping[str, Utterance]) -> None:
        """`known` is what is in the folder, perhaps not checked."""
        self._work = work
        self._known = known
        self._utterances = Manifest(work.file("utterances.jsonl"), Utterance)
        self._checked = Manifest(work.file("scores.jsonl"), Checked)

    def __enter__(self) -> Self:
        self._utterances.__enter__()
        self._checked.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._utterances.__exit__(*error)
        self._checked.__exit__(*error)

    def take(self, spoken: Spoken) -> Utterance:
        """Store one; the record of what is stored comes back.

        Raises:
            OutputError: the disk is full or gone.
        """
        utterance = spoken.utterance
        before = self._known.get(utterance.key)
        if before is not None and _is_same(before, utterance):  # it was only checked
            utterance = replace(before, level_db=utterance.level_db)
        else:
            self._work.store_audio(utterance.key, spoken.flac)
        if utterance != before:
            self._utterances.append(utterance)
        if spoken.checked is not None:
            self._checked.append(spoken.checked)
        return utterance

    def note(self, checked: Checked) -> None:
        """Store what is known now of an utterance that stays as it is."""
        self._checked.append(checked)


def _is_same(one: Utterance, other: Utterance) -> bool:
    return (one.attempt, one.num_bytes, one.num_samples) == (
        other.attempt,
        other.num_bytes,
        other.num_samples,
    )


def with_audio(
    requests: Iterable[Request], known: Mapping[str, Utterance], work: WorkFolder
) -> Iterator[Request]:
    """Requests with what earlier runs spoke of them, to be checked instead of spoken."""
    for request in requests:
        before = known.get(request.key)
        if before is None or before.finish_reason == "length":
            yield request
            continue
        try:
            flac = work.audio(request.key).read_bytes()
        except OSError:
            flac = b""  # it is gone: it is spoken again
        yield replace(request, spoken=flac, attempt=before.attempt if flac else request.attempt)


def choose_executor(
    settings: ExecutorSettings,
    engine: Engine,
    voices: tuple[Voice, ...],
    missing_audio_s: float,
    units: UnitSpec | None = None,
    limits: Limits | None = None,
    check: CheckSpec | None = None,
) -> tuple[str, Executor]:
    """The executor by its settings; `auto` is Ray unless the work would end before Ray starts.

    With `units` it makes units of a data set.
    """
    name: str = settings.name
    if name == "auto":
        speed = x_realtime(engine, check.settings) if check else engine.x_realtime
        short = missing_audio_s / speed < RAY_START_S
        name = "local" if short and not settings.address else "ray"
    known = fingerprint(engine, voices)
    spec = WorkerSpec(engine.spec, voices, settings.cores_per_worker, known, units, check)
    plan = Plan(
        spec=spec,
        num_workers=settings.workers,
        address=settings.address,
        start_timeout_s=settings.start_timeout_s,
        item_timeout_s=settings.item_timeout_s,
        limits=limits or Limits(),
    )
    return name, make_executor(name, plan)


def speak(
    requests: Iterable[Request],
    done: dict[str, Utterance],
    executor: Callable[[], Executor],
    work: WorkFolder,
    should_stop: Callable[[], bool],
    on_event: Callable[[WorkerEvent], None],
) -> Iterator[Utterance | Failure]:
    """Yield the utterances that are done, then speak the rest, each stored before it is yielded.

    Raises:
        StoppedError: `should_stop()` turned true, or the deadline is near; all that was yielded
            is on disk.
        OutputError: the disk is full.
    """
    yield from done.values()
    missing = [request for request in requests if request.key not in done]
    failures: list[Failure] = []
    num_spoken = 0
    if missing:
        known = finished(work, missing)
        with Spoke(work, known) as spoke:
            asked = with_audio(missing, known, work)
            for result in executor().run(asked, should_stop, on_event):
                if isinstance(result, Spoken):
                    num_spoken += 1
                    yield spoke.take(result)
                elif isinstance(result, Failure):
                    failures.append(result)
                    if result.key in known:  # what was there before is better than nothing
                        yield known[result.key]
                    yield result
    Manifest(work.file("failures.jsonl"), Failure).replace(failures)
    if should_stop() or num_spoken + len(failures) < len(missing):
        raise StoppedError("Stopped. Everything spoken so far is kept.")


def remove_damaged(work: WorkFolder, done: Iterable[Utterance]) -> int:
    """Decode the audio of utterances, remove what is damaged, and tell how many that were."""
    num_removed = 0
    for utterance in done:
        path = work.audio(utterance.key)
        try:
            is_whole = len(decode_flac(path)) == utterance.num_samples
        except AudioError:
            is_whole = False
        if not is_whole:
            path.unlink(missing_ok=True)
            num_removed += 1
    return num_removed


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
