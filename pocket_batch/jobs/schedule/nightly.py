"""What a scheduler must know of a job: its name, when it starts, where it reads and writes."""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pocket_batch.config import cache_folder, load_job
from pocket_batch.errors import UsageError
from pocket_batch.job_settings import JobSettings
from pocket_batch.jobs.deadline import make_deadline
from pocket_batch.jobs.schedule.quoting import check_text, job_name
from pocket_batch.yaml_files import read_yaml

# Where models and voices are found: what is set in the shell that makes the files holds at night.
KEPT = ("HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")


@dataclass(frozen=True, slots=True)
class ScheduleOptions:
    """What the command line says of a schedule.

    `at` is a time of day, `HH:MM`. A data set is cut into `shards` parts that need no Ray; `nodes`
    is the number of machines of a Ray cluster, and `cpus` the cores taken of each. `image` is the
    container's, `time_zone` one of the IANA database. None is what is usual.
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
        """Into how many parts a data set is cut; None for a job that Ray spreads."""
        if not self.is_dataset or self.options.nodes:
            return None
        return self.options.shards or 8

    @property
    def nodes(self) -> int:
        """The machines of a Ray cluster."""
        return self.options.nodes or 2

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
    settings = load_job(job)
    make_deadline(settings.deadline, settings.max_hours)  # refuses what is no time of day
    hour, minute = _time_of_day(options.at)
    job = Path(os.path.abspath(job))
    is_dataset = _is_dataset(settings, job)
    _check_options(options, is_dataset)
    nightly = Nightly(
        name=job_name(job.stem),
        job=job,
        settings=settings,
        is_dataset=is_dataset,
        options=options,
        hour=hour,
        minute=minute,
        reads=_reads(settings, job.parent),
        writes=_writes(settings, job.parent, is_dataset),
        program=_program(),
        environment={name: os.environ[name] for name in KEPT if os.environ.get(name)},
    )
    for path in (job, *nightly.reads, *nightly.writes, *nightly.program):
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


def _check_options(options: ScheduleOptions, is_dataset: bool) -> None:
    for name in ("shards", "nodes", "cpus"):
        value = getattr(options, name)
        if value is not None and value < 1:
            raise UsageError(f"--{name} is {value}; it must be at least 1.")
    if options.shards and not is_dataset:
        raise UsageError("--shards is for data sets; books are spread by Ray: give --nodes.")
    if options.shards and options.nodes:
        raise UsageError("--shards works without Ray and --nodes with it: give one of them.")
    if options.image is not None and not re.fullmatch(r"[\w./:@-]+", options.image, re.ASCII):
        raise UsageError(f"--image is `{options.image:.60}`, which is no name of an image.")


def _is_dataset(settings: JobSettings, job: Path) -> bool:
    """Whether it makes a data set; its pipeline may be a file that says so."""
    if settings.pipeline in ("audiobook", "dataset"):
        return settings.pipeline == "dataset"
    return read_yaml(_from(job.parent, settings.pipeline)).get("pipeline") == "dataset"


def _from(folder: Path, path: str) -> Path:
    """A path of a job file, as seen from its folder."""
    return Path(os.path.abspath(folder / os.path.expanduser(path)))


def _reads(settings: JobSettings, folder: Path) -> tuple[Path, ...]:
    """The folders of the inputs, and of voices and settings that are files."""
    found = [] if settings.inbox is None else [_from(folder, settings.inbox)]
    for text in settings.inputs:
        if "://" not in text:
            literal = re.split(r"[*?\[]", text)[0]  # `books/a*.epub` -> `books/a`
            path = _from(folder, literal)
            is_folder = literal.endswith("/") or not literal or path.is_dir()
            found.append(path if is_folder else path.parent)
    words = (settings.pipeline, settings.voice, *settings.voices, *settings.set.values())
    for word in words:
        found += _file_folder(word, folder)
    return tuple(dict.fromkeys(found))


def _file_folder(word: Any, folder: Path) -> list[Path]:
    """The folder of a file that a setting names, if it names one."""
    if not isinstance(word, str) or not word or "\0" in word:
        return []
    path = _from(folder, word)
    return [path.parent] if path.is_file() else []


def _writes(settings: JobSettings, folder: Path, is_dataset: bool) -> tuple[Path, ...]:
    """The folders of the output, of what tells of the run, and of metrics."""
    found = []
    if "://" not in settings.output:
        literal, field, _ = settings.output.partition("{")  # `out/{stem}.m4b` -> `out/`
        path = _from(folder, literal)
        is_folder = literal.endswith("/") or not literal or (is_dataset and not field)
        found.append(path if is_folder else path.parent)
    elif settings.run_dir is None:
        found.append(folder)
    if settings.run_dir is not None:
        found.append(_from(folder, settings.run_dir))
    if settings.metrics.file is not None:
        found.append(_from(folder, settings.metrics.file).parent)
    return tuple(dict.fromkeys(found))


def _program() -> tuple[str, ...]:
    """The command `pocket-batch` of this installation, by its absolute path."""
    beside = Path(sys.executable).parent / "pocket-batch"
    return (str(beside),) if beside.is_file() else (sys.executable, "-m", "pocket_batch")
