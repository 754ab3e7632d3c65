"""A run of jobs holds its folders, and keeps there what is told of it."""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pocket_batch.errors import LockedError, writing
from pocket_batch.job_settings import MetricsSettings
from pocket_batch.jobs.log_file import LogFile, log_kept
from pocket_batch.jobs.progress import Reporter
from pocket_batch.jobs.status import status_kept
from pocket_batch.jobs.watchers import Several
from pocket_batch.lock import Lock

if TYPE_CHECKING:
    from pocket_batch.jobs.metrics import Metrics
    from pocket_batch.jobs.night.run import Night


@contextmanager
def held(night: "Night") -> Iterator[None]:
    """Hold the run folders of all jobs, so that no other run does the same work."""
    with ExitStack() as stack:
        folders = (_part(job.run_dir, night.shard) for job in night.jobs)
        for folder in dict.fromkeys((night.run_dir, *folders)):
            with writing(folder):
                folder.mkdir(parents=True, exist_ok=True)
            lock = Lock(folder / "lock")
            try:
                lock.take()
            except LockedError as error:
                raise LockedError(f"{folder}: {error}") from error
            stack.callback(lock.release)
        yield


def _part(folder: Path, shard: tuple[int, int] | None) -> Path:
    return folder if shard is None else folder / f"{shard[0]}-of-{shard[1]}"


@contextmanager
def watched(night: "Night", reporter: Reporter) -> Iterator[tuple[Reporter, LogFile]]:
    """All that is told of the run: what is shown, log, metrics, status."""
    name = "+".join(job.name for job in night.jobs)
    deadline_at = time.time() + night.deadline.left_s()
    facts: dict[str, Any] = {"title": name, "jobs": [str(job.path) for job in night.jobs]}
    if deadline_at < float("inf"):
        facts["deadline_at"] = round(deadline_at)
    with ExitStack() as stack:
        log = stack.enter_context(log_kept(night.run_dir))
        told: list[Reporter] = [reporter, log]
        for settings in dict.fromkeys(job.settings.metrics for job in night.jobs):
            if settings.file is not None or settings.port is not None:
                told.append(stack.enter_context(_metrics(night, settings, name, deadline_at)))
        several = Several(*told)
        status = stack.enter_context(status_kept(night.run_dir, "jobs", several, **facts))
        yield status, log


def _metrics(night: "Night", settings: MetricsSettings, name: str, deadline_at: float) -> "Metrics":
    """What Prometheus reads; a file is as seen from the first job."""
    from pocket_batch.jobs.metrics import Metrics

    if settings.file is not None:
        settings = replace(settings, file=str(night.jobs[0].place(settings.file)))
    return Metrics(settings, name, deadline_at)
