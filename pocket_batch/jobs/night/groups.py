"""Which books of a run are spoken by the same workers."""

from pocket_batch.data import EngineSpec, Voice
from pocket_batch.jobs.night.book import NightBook
from pocket_batch.settings import ExecutorSettings
from pocket_batch.stages.repair import CheckSpec

Group = tuple[EngineSpec, ExecutorSettings, CheckSpec | None]


def group_of(book: NightBook) -> Group:
    """Books of one group share workers."""
    prepared = book.prepared
    return prepared.engine.spec, prepared.job.pipeline.executor, prepared.check


def voices_of(books: list[NightBook]) -> tuple[Voice, ...]:
    """All voices of some books, each once."""
    found: dict[str, Voice] = {}
    for book in books:
        for voice in book.prepared.plan.voices:
            found.setdefault(repr(voice), voice)
    return tuple(found.values())
