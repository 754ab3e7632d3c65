"""What the books of a run are made into: no two of them into one file or one work folder."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pocket_batch.errors import OutputError
from pocket_batch.jobs.extra_records import latest_fingerprint
from pocket_batch.jobs.extras import kinds_of, targets_of
from pocket_batch.jobs.night.job import NightJob
from pocket_batch.jobs.record import earlier_results, earlier_source
from pocket_batch.settings import AudiobookPipeline
from pocket_batch.work_folder import WorkFolder


@dataclass(frozen=True, slots=True)
class Owner:
    """A book of a job, and what it is made into."""

    job: NightJob
    source: Path
    output: Path


@dataclass(slots=True)
class Taken:
    """Outputs and work folders of a run so far, with whose they are."""

    by_path: dict[Path, Owner] = field(default_factory=dict)

    def take(self, owner: Owner, pipeline: AudiobookPipeline) -> Path:
        """Note what a book is made into; gives its work folder.

        Raises:
            OutputError: it is what another book is made into, or the same one by another job.
        """
        self._take_output(owner)
        self._take_extras(owner, pipeline)
        return self._take_work(owner, pipeline)

    def _take_output(self, owner: Owner) -> None:
        output = owner.output
        other = self.by_path.setdefault(output, owner)
        if other.source != owner.source:
            raise OutputError(
                f"{output} is what {other.source} is made into. Give `output` another pattern, "
                "such as {folder}/{stem}.m4b."
            )
        if other.job != owner.job:
            raise OutputError(
                f"{output} is what the job {other.job.path} makes of the same book. Give one of "
                "the jobs another `output`."
            )

    def _take_extras(self, owner: Owner, pipeline: AudiobookPipeline) -> None:
        is_split = pipeline.write.split_chapters
        for kind in kinds_of(pipeline.write):
            files = [] if is_split else [owner.output]
            for path in targets_of(kind, owner.output, files, is_split):
                other = self.by_path.setdefault(path, owner)
                if other.output != owner.output:
                    raise OutputError(
                        f"{path} is made beside {other.output.name} as well. Ask one of the two "
                        f"jobs for {kind}, or give them different folders in `output`."
                    )

    def _take_work(self, owner: Owner, pipeline: AudiobookPipeline) -> Path:
        """The work folder beside the output; another one if two formats are made in one place."""
        output = owner.output
        stem = output.name if pipeline.write.split_chapters else output.stem
        work, own = output.with_name(f"{stem}.work"), output.with_name(f"{output.name}.work")
        other = self.by_path.get(work)
        if own.is_dir() or (other is not None and other.output != output):
            work = own
        self.by_path[work] = owner
        return work


def is_of_this_source(work: Path, source: Path) -> bool:
    """Whether what a work folder made may be replaced: not if it is of another book that has the
    same name."""
    before = earlier_source(WorkFolder(work))
    return before is None or before.absolute() == source.absolute()


def result_of(work: WorkFolder, output: Path) -> dict[str, Any]:
    """What an earlier run recorded of a finished output; empty where there is nothing."""
    target = str(output.resolve())
    results = {k: r for k, r in earlier_results(work).items() if r["target"] == target}
    latest = results.get(latest_fingerprint(work))
    return dict(latest or next(reversed(results.values()), {}))
