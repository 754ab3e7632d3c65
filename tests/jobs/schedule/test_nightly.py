"""What a scheduler is told of a job."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.jobs.schedule.nightly import Nightly, ScheduleOptions, plan_nightly

Plan = Callable[..., Nightly]


@pytest.fixture
def plan(tmp_path: Path, put_job: Callable[[Path, str], Path]) -> Plan:
    """The plan of a job file with such lines, in a folder with a few files."""
    for name in ("books/a.epub", "voices/me.wav", "odd[1]/b.epub", "words.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    def planned(*lines: str, at: str = "22:00") -> Nightly:
        lines = lines if any("output" in line for line in lines) else (*lines, "output: o/{stem}")
        job = put_job(tmp_path / "a.yaml", "\n".join(lines) + "\n")
        return plan_nightly(job, ScheduleOptions(at=at))

    return planned


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (["inputs: [books]"], ["books"]),
        (["inputs: [books/a.epub]"], ["books"]),
        (["inputs: ['books/*.epub', 'books/a*']"], ["books"]),
        (["inputs: ['**/*.epub']"], ["."]),
        (["inputs: ['odd[1]', 'odd[1]/b.epub']"], ["odd[1]"]),
        (["inputs: [later/]"], ["later"]),
        (["inbox: in", "inputs: [../elsewhere/b.epub]"], ["in", "../elsewhere"]),
        (["inbox: in", "voice: voices/me.wav"], ["in", "voices"]),
        (["inbox: in", "voice: heart"], ["in"]),
        (["inbox: in", "set: {normalize: {lexicon: words.txt}}"], ["in", "."]),
        (["inbox: in", "set: {normalize.lexicon: words.txt}"], ["in", "."]),
        (["pipeline: dataset", "output: s", "inputs: ['s3://bucket/a.txt']"], []),
    ],
)
def test_it_knows_where_a_job_reads(
    plan: Plan, tmp_path: Path, lines: list[str], wanted: list[str]
) -> None:
    assert plan(*lines).reads == tuple((tmp_path / name).resolve() for name in wanted)


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (["output: out/{author}/{stem}.m4b"], ["out", "out/a.run"]),
        (["output: out/a-{stem}.m4b"], ["out", "out/a.run"]),
        (["output: '{stem}.m4b'", "run_dir: runs/a"], [".", "runs/a"]),
        (["pipeline: dataset", "output: sets/one"], ["sets/one", "sets/a.run"]),
        (["pipeline: dataset", "output: 's3://bucket/one'"], ["a.run"]),
        (["output: o/{stem}", "metrics: {file: prom/a.prom}"], ["o", "o/a.run", "prom"]),
    ],
)
def test_it_knows_where_a_job_writes(
    plan: Plan, tmp_path: Path, lines: list[str], wanted: list[str]
) -> None:
    assert plan("inputs: [books]", *lines).writes == tuple(tmp_path / name for name in wanted)


@pytest.mark.parametrize(
    ("lines", "at", "hours", "until"),
    [
        (["deadline: 05:30"], "22:00", 7.5, "until 05:30"),
        (["deadline: 22:30"], "22:00", 0.5, "until 22:30"),  # YAML reads it as the number 1350
        (["deadline: '6:00'"], "6:00", 24, "until 06:00"),
        (["max_hours: 4"], "22:00", 4, "for at most 4 hours"),
        (["deadline: 05:30", "max_hours: 9"], "22:00", 7.5, "until 05:30 and for at most 9 hours"),
        ([], "22:00", None, "until all is done (the job file has no `deadline`)"),
    ],
)
def test_it_knows_how_long_a_night_is(
    plan: Plan, lines: list[str], at: str, hours: float | None, until: str
) -> None:
    nightly = plan("inputs: [books]", *lines, at=at)
    assert (nightly.hours, nightly.until) == (hours, until)


def test_a_relative_path_of_the_job_becomes_an_absolute_one(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan("inputs: [books]")
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "deep")
    nightly = plan_nightly(Path("../a.yaml"), ScheduleOptions())
    assert nightly.job == tmp_path / "a.yaml"
    assert nightly.reads == (tmp_path / "books",)
    assert all(path.is_absolute() for path in (*nightly.writes, Path(nightly.program[0])))
