"""What a scheduler must know of a job: its name, when it starts, where it reads and writes."""

import os
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pocket_batch.config import cache_folder
from pocket_batch.dataset_settings import DatasetPipeline
from pocket_batch.errors import UsageError
from pocket_batch.job_settings import JobSettings
from pocket_batch.jobs.night.job import SHIPPED, NightJob, open_job
from pocket_batch.jobs.night.naming import literal_folder
from pocket_batch.jobs.schedule.quoting import check_text, job_name

# Where models and voices are found: what is set in the shell that makes the files holds at night.
KEPT = ("HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")


@dataclass(frozen=True, slots=True)
class ScheduleOptions:
    """What the command line says of a schedule.

    `at` is a time of day, `HH:MM`. `shards` is into how many parts the work is cut, which need no
    Ray; `nodes` the number of machines of a Ray cluster; `cpus` the cores taken of each. `image` is
    the container's, `time_zone` one of the IANA database. None is what is usual.
    """

    at: str = "22:00"
    shards: int | None = None
    nodes: int | None = None
    cpus: int | None = None
    image: str | None = None
    time_zone: str | None = None


@dataclass(frozen=True, slots=True)
class Nightly:
    """A job and its night. All paths are absolute; `reads` and `writes` are folders.

    `program` is the command `pocket-batch` on this machine, `environment` what it needs there.
    """

    name: str
    job: Path
    settings: JobSettings
    is_dataset: bool
    options: ScheduleOptions
    hour: int
    minute: int
    reads: tuple[Path, ...]
    writes: tuple[Path, ...]
    program: tuple[str, ...]
    environment: dict[str, str]

    @property
    def shards(self) -> int | None:
        """Into how many parts the work is cut, usually for data sets; None: Ray spreads it."""
        if self.options.shards or self.options.nodes:
            return self.options.shards
        return 8 if self.is_dataset else None

    @property
    def nodes(self) -> int:
        """The machines of a Ray cluster."""
        return self.options.nodes or 2

    @property
    def notes(self) -> tuple[str, ...]:
        """What parts leave to a person."""
        if self.shards is None or not self.settings.exports:
            return ()
        run = shlex.join(["pocket-batch", "run", str(self.job)])
        return (f"Parts export nothing: once all are done, type `{run}`.",)

    @property
    def cpus(self) -> int:
        """The cores taken of each machine."""
        return self.options.cpus or 4

    @property
    def until(self) -> str:
        """When the job stops, for people: `until 05:30`."""
        found = [f"until {self.deadline}"] if self.deadline else []
        if self.settings.max_hours is not None:
            found.append(f"for at most {self.settings.max_hours:g} hours")
        return " and ".join(found) or "until all is done (the job file has no `deadline`)"

    @property
    def deadline(self) -> str | None:
        """The job's own deadline as `HH:MM`."""
        given = self.settings.deadline
        if isinstance(given, int):
            given = f"{given // 60}:{given % 60:02}"
        return given.strip().zfill(5) if given is not None else None

    @property
    def hours(self) -> float | None:
        """How long a night may be at most, by the job's deadline and hours."""
        found = [] if self.settings.max_hours is None else [self.settings.max_hours]
        if self.deadline:
            hour, minute = (int(part) for part in self.deadline.split(":"))
            minutes = (hour * 60 + minute - self.hour * 60 - self.minute) % (24 * 60)
            found.append((minutes or 24 * 60) / 60)
        return min(found, default=None)


def plan_nightly(job: Path, options: ScheduleOptions) -> Nightly:
    """Read a job file and find out what a scheduler must know of it.

    Raises:
        UsageError: the job file is not valid, or an option makes no sense for it.
    """
    opened = open_job(job, {})
    hour, minute = _time_of_day(options.at)
    _check_options(options)
    nightly = Nightly(
        name=job_name(job.stem),
        job=Path(os.path.abspath(job)),
        settings=opened.settings,
        is_dataset=isinstance(opened.pipeline, DatasetPipeline),
        options=options,
        hour=hour,
        minute=minute,
        reads=_reads(opened),
        writes=_writes(opened),
        program=_program(),
        environment={name: os.environ[name] for name in KEPT if os.environ.get(name)},
    )
    for path in (nightly.job, *nightly.reads, *nightly.writes, *nightly.program):
        check_text(str(path), "A path")
    for name, value in nightly.environment.items():
        check_text(value, name)
    return nightly


def caches() -> tuple[Path, ...]:
    """The folders where models, states of voices and the like are kept on this machine."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    home = os.environ.get("HF_HOME") or base / "huggingface"
    hub = os.environ.get("HF_HUB_CACHE") or home
    return cache_folder(), Path(os.path.abspath(hub))


def _time_of_day(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", text.strip(), re.ASCII)  # 22:00 -> 22, 00
    if not found:
        raise UsageError(f"--at wants a time of day such as 22:00, not `{text:.40}`.")
    return int(found[1]), int(found[2])


def _check_options(options: ScheduleOptions) -> None:
    for name in ("shards", "nodes", "cpus"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise UsageError(f"--{name} is {value}; it must be at least 1.")
    if options.shards and options.nodes:
        raise UsageError("--shards works without Ray and --nodes with it: give one of them.")
    if options.image is not None and not re.fullmatch(r"[\w./:@-]+", options.image, re.ASCII):
        raise UsageError(f"--image is `{options.image:.60}`, which is no name of an image.")


def _reads(job: NightJob) -> tuple[Path, ...]:
    """The folders of the inputs, and of voices and settings that are files."""
    settings = job.settings
    found = [] if settings.inbox is None else [_plain(job.place(settings.inbox))]
    for name in settings.inputs:
        if "://" not in name:
            found.append(_input_folder(name, job))
    inner = (
        value.values() if isinstance(value, dict) else [value]
        for value in job.settings.set.values()
    )
    words: list[Any] = [
        settings.voice,
        *settings.voices,
        *(word for each in inner for word in each),
    ]
    for word in (settings.pipeline, *words):
        if isinstance(word, str) and word not in SHIPPED and job.place(word).is_file():
            found.append(_plain(job.place(word)).parent)
    return tuple(dict.fromkeys(found))


def _input_folder(name: str, job: NightJob) -> Path:
    """The folder of an input: `books/*/a*.epub` -> `books`."""
    path = _plain(job.place(name))
    if path.is_dir():
        return path
    while re.search(r"[*?\[]", str(path)) and not path.exists():
        path = path.parent
    return path if path.is_dir() or name.endswith("/") else path.parent


def _writes(job: NightJob) -> tuple[Path, ...]:
    """The folders of the output, of what tells of the run, and of metrics."""
    found = [_plain(job.run_dir)]
    if "://" not in job.output:
        is_dataset = isinstance(job.pipeline, DatasetPipeline)
        output = job.settings.output  # as written: the folder of the job may have a brace too
        folder = Path(output) if is_dataset else literal_folder(output, "audiobook")
        found.insert(0, _plain(job.place(str(folder))))
    if job.settings.metrics.file is not None:
        found.append(_plain(job.place(job.settings.metrics.file)).parent)
    return tuple(dict.fromkeys(found))


def _plain(path: Path) -> Path:
    """An absolute path without `..`."""
    return Path(os.path.abspath(path))


def _program() -> tuple[str, ...]:
    """The command `pocket-batch` of this installation, by its absolute path."""
    beside = Path(sys.executable).parent / "pocket-batch"
    return (str(beside),) if beside.is_file() else (sys.executable, "-m", "pocket_batch")
