"""What is told of the books of a night: sentences for people, figures for machines."""

import json
from pathlib import Path
from typing import Any

from pocket_batch.jobs.night.book import NightBook
from pocket_batch.jobs.night.job import open_job
from pocket_batch.jobs.night.summary import Line
from pocket_batch.jobs.night.telling import tell_end, tell_notes
from pocket_batch.jobs.progress import Level, Silent

Note = tuple[str, str, Level, dict[str, object]]


class Kept(Silent):
    """A reporter that keeps all notes."""

    def __init__(self) -> None:
        self.notes: list[Note] = []

    def note(self, event: str, text: str, level: Level = "info", **fields: object) -> None:
        self.notes.append((event, text, level, fields))


def book(folder: Path, **values: Any) -> NightBook:
    path = folder / "job.yaml"
    path.write_text(json.dumps({"inputs": ["a.txt"], "output": "out/{stem}.wav"}))
    line = Line("job", "a.txt", "done", **values)
    return NightBook(open_job(path, {}), folder / "a.txt", line)


def told_of(found: NightBook) -> list[Note]:
    found.notes.note("suspects", "3 segments may be read wrongly.", "warning", count=3)
    found.notes.note("quality", "Heard 0.50 % wrong.", "info", wer=0.005)
    found.notes.note("output_warning", "It is loud.", "warning")
    found.notes.note("written", "Wrote it.")
    kept = Kept()
    tell_notes(found, kept)
    return kept.notes


def test_suspects_and_words_that_were_heard_wrong_are_figures_and_news_only_if_bad(
    tmp_path: Path,
) -> None:
    assert told_of(book(tmp_path)) == [
        ("suspects", "a.txt: 3 segments may be read wrongly.", "warning", {"count": 3}),
        ("quality", "", "info", {"wer": 0.005}),
        ("book_warning", "a.txt: It is loud.", "warning", {}),
    ]


def test_what_the_problem_of_a_book_says_is_not_said_twice(tmp_path: Path) -> None:
    notes = told_of(book(tmp_path, exit_code=10, problem="4 % of the words were heard wrong."))
    assert [(event, text, level) for event, text, level, _ in notes[:2]] == [
        ("suspects", "", "info"),
        ("quality", "", "info"),
    ]


def test_the_end_of_a_book_has_its_verdict_for_machines(tmp_path: Path) -> None:
    kept = Kept()
    found = book(tmp_path, num_suspects=3, quality="warning", wer=0.025, output="out/a.wav")
    tell_end(found, kept)
    ((event, text, level, fields),) = kept.notes
    assert (event, text, level) == ("input_done", "a.txt: 0 s, a.wav.", "info")
    assert fields["status"] == "done"
    assert (fields["num_suspects"], fields["quality"], fields["wer"]) == (3, "warning", 0.025)
