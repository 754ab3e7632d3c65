"""Hands the executor exactly the utterances that the work folder does not hold yet."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

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
from pocket_batch.manifest import Manifest
from pocket_batch.settings import ExecutorSettings
from pocket_batch.stages.unit import UnitSpec
from pocket_batch.work_folder import WorkFolder

# Ray is up after five to seven seconds on two cores; work that is over by then runs here.
RAY_START_S = 7.0


def finished(work: WorkFolder, requests: Iterable[Request]) -> dict[str, Utterance]:
    """The utterances of earlier runs that can be used: recorded, and their audio whole on disk.

    A line that a crash of the machine damaged is passed over: its utterance is spoken again.
    """
    wanted = {request.key for request in requests}
    manifest = Manifest(work.file("utterances.jsonl"), Utterance)
    records = {u.key: u for u in manifest.read(damaged=[]) if u.key in wanted}
    return {key: u for key, u in records.items() if _size(work.audio(key)) == u.num_bytes}


def choose_executor(
    settings: ExecutorSettings,
    engine: Engine,
    voices: tuple[Voice, ...],
    missing_audio_s: float,
    units: UnitSpec | None = None,
    limits: Limits | None = None,
) -> tuple[str, Executor]:
    """The executor by its settings; `auto` is Ray unless the work would end before Ray starts.

    With `units` it makes units of a data set.
    """
    name: str = settings.name
    if name == "auto":
        short = missing_audio_s / engine.x_realtime < RAY_START_S
        name = "local" if short and not settings.address else "ray"
    spec = WorkerSpec(
        engine.spec, voices, settings.cores_per_worker, fingerprint(engine, voices), units
    )
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
        with Manifest(work.file("utterances.jsonl"), Utterance) as manifest:
            results = executor().run(missing, should_stop, on_event)
            for result in results:
                if isinstance(result, Spoken):
                    work.store_audio(result.utterance.key, result.flac)
                    manifest.append(result.utterance)
                    num_spoken += 1
                    yield result.utterance
                elif isinstance(result, Failure):
                    failures.append(result)
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
