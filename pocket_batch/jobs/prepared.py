"""What a user asked for, and a book that is planned for it."""

from dataclasses import dataclass, field
from pathlib import Path

from pocket_batch.data import Choices
from pocket_batch.engine.base import Engine
from pocket_batch.executors.base import Limits
from pocket_batch.jobs.plan import AudiobookPlan
from pocket_batch.jobs.record import RunRecord
from pocket_batch.jobs.redone import Redone
from pocket_batch.settings import AudiobookPipeline
from pocket_batch.stages.repair import CheckSpec
from pocket_batch.work_folder import WorkFolder


@dataclass(frozen=True, slots=True)
class AudiobookJob:
    """What the user asked for."""

    source: Path
    output: Path
    work: Path
    pipeline: AudiobookPipeline
    choices: Choices = field(default_factory=Choices)
    fresh: bool = False
    overwrite: bool = False
    command: tuple[str, ...] = field(default=("pocket-batch",))
    limits: Limits = field(default_factory=Limits)
    replaces_own: bool = False  # what this work folder made, and nobody changed since
    redo: tuple[Redone, ...] = ()  # new choices for single lines


@dataclass(frozen=True, slots=True)
class Prepared:
    """A book that is planned, in a work folder that this process holds until it is released."""

    job: AudiobookJob
    plan: AudiobookPlan
    engine: Engine
    check: CheckSpec | None
    work: WorkFolder
    record: RunRecord
