"""Writes `report.html` into a work folder."""

from collections.abc import Sequence
from pathlib import Path

from pocket_batch.errors import PocketBatchError
from pocket_batch.jobs.progress import Reporter
from pocket_batch.jobs.report.facts import read_facts
from pocket_batch.jobs.report.measured import save_measured
from pocket_batch.jobs.report.page import make_page
from pocket_batch.manifest import write_atomic
from pocket_batch.outputs.audiobook import WrittenFile
from pocket_batch.stages.master import Mastered
from pocket_batch.work_folder import WorkFolder

REPORT_FILE = "report.html"


def write_report(work: WorkFolder, output: Path | None = None) -> Path:
    """Make the report of a run from the files of its work folder alone.

    Args:
        work: the folder; it need not be held.
        output: where to write, `report.html` in the folder if None.

    Returns:
        The path of what was written, a file that needs no other.

    Raises:
        InputError: the folder is no work folder.
        OutputError: the report cannot be written.
    """
    path = output or work.file(REPORT_FILE)
    page = make_page(read_facts(work))
    write_atomic(path, page.encode("utf-8", "replace"))
    return path


def report_run(
    work: WorkFolder, mastered: Sequence[Mastered], files: Sequence[WrittenFile], reporter: Reporter
) -> None:
    """Keep what was measured, and write the report of a run that ends: a warning if that fails."""
    try:
        save_measured(work, mastered, files)
        path = write_report(work)
    except Exception as error:  # noqa: BLE001  # the audiobook is finished, whatever this is
        why = str(error) if isinstance(error, PocketBatchError) else repr(error)
        reporter.note("report_failed", f"The report could not be made: {why}", "warning")
        return
    reporter.note("report", f"Report: {path}", path=str(path))
