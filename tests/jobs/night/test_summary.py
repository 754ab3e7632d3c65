"""The summary of a run says of each input what became of it, to machines and to people."""

import json
from pathlib import Path

import pytest

from pocket_batch.jobs.night.summary import Line, LineStatus, Summary


def summary(*statuses: LineStatus, **values: object) -> Summary:
    lines = [Line("night", f"/in/b{n}.epub", status) for n, status in enumerate(statuses)]
    found = Summary(["night"], lines)
    for name, value in values.items():
        setattr(found, name, value)
    return found


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (summary(), 0),
        (summary("done", "already_done"), 0),
        (summary("done", "partial"), 10),
        (summary("done", "failed"), 10),
        (summary("done", "failed", "stopped"), 75),
        (summary("waiting"), 75),
        (summary("stopped", stop="The disk.", stop_code=5), 5),
        (summary("done", stop="Stopped.", stop_code=75), 75),
    ],
)
def test_the_exit_code_is_that_of_the_whole_run(found: Summary, code: int) -> None:
    assert found.exit_code == code
    assert found.as_dict()["exit_code"] == code


def test_the_headline_counts_every_input_once() -> None:
    found = summary("done", "done", "already_done", "partial", "failed", "stopped", "waiting")
    assert found.headline() == (
        "7 inputs: 2 done, 1 done before, 1 not whole, 1 failed, 1 to go on, 1 not started."
    )
    found.speech_s, found.elapsed_s = 7200.0, 600.0
    assert found.headline().endswith("Spoke 2 h 00 min in 10 min 0 s, 12x real time.")


def test_people_see_a_line_an_input_with_what_matters(tmp_path: Path) -> None:
    done = Line("n", "/in/emma.epub", "done", "/out/emma.m4b", audio_s=3661.0, num_bytes=31_000_000)
    done.num_suspects = 2
    failed = Line("n", "/in/b.epub", "failed", problem="It is encrypted.")
    stopped = Line("n", "/in/c.epub", "stopped", num_segments=200, num_spoken=150)
    found = Summary(["n"], [done, failed, stopped], warnings=["A hook failed."], stop="Deadline.")
    found.write(tmp_path)
    text = (tmp_path / "summary.txt").read_text()
    for line in (
        "done        emma.epub  1 h 01 min · 31 MB · 2 segments to look at · /out/emma.m4b",
        "FAILED      b.epub     It is encrypted.",
        "goes on     c.epub     75 % spoken",
        "Deadline.",
        "Warning: A hook failed.",
    ):
        assert line in text.splitlines()


def test_machines_see_all_fields_of_all_inputs(tmp_path: Path) -> None:
    summary("done", "failed").write(tmp_path)
    found = json.loads((tmp_path / "summary.json").read_text())
    assert [line["status"] for line in found["inputs"]] == ["done", "failed"]
    assert found["counts"] == {"done": 1, "failed": 1}
    assert set(found["inputs"][0]) == set(Line.__dataclass_fields__)


def test_names_that_are_no_text_or_have_lines_are_written_all_the_same(tmp_path: Path) -> None:
    lines = [Line("n", "/in/caf\udce9.txt", "done"), Line("n", "/in/a\nb.txt", "done")]
    Summary(["n"], lines).write(tmp_path)
    assert len(json.loads((tmp_path / "summary.json").read_text())["inputs"]) == 2
    text = (tmp_path / "summary.txt").read_text()
    assert r"caf\udce9.txt" in text
    assert sum(line.startswith("done ") for line in text.splitlines()) == 2
    assert "b.txt" not in [line.strip() for line in text.splitlines()]
