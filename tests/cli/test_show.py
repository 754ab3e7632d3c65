"""What a run looks like: plain, JSON and rich, and the listings."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pocket_batch.cli.show import PlainReporter, RichReporter, make_reporter
from pocket_batch.jobs.progress import Download, Progress
from pocket_batch.words import duration, plural, size

Command = Callable[..., int]
HALF = Progress("speaking", 50, 100, 2, 5, 300.0, 600.0, 10.0, 30.0, 10.0, 2)


def test_json_lines_are_whole_objects_that_end_with_the_figures(
    story: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(story, "--voice", "tone", "--executor", "local", "--log-format", "json") == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    names = [event["event"] for event in events]
    assert names[0] == "voice"
    assert {"plan", "worker_ready", "progress", "written", "done"} <= set(names)
    done = next(event for event in events if event["event"] == "done")
    assert done["paths"] == [str(story.with_suffix(".m4b"))]
    assert done["audio_s"] > 10
    last = [event for event in events if event["event"] == "progress"][-1]
    assert last["audio_s"] == pytest.approx(last["total_audio_s"])


def test_quiet_says_nothing_when_all_is_well(
    story: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    for log_format in ("plain", "json", "rich"):
        words = ("--voice", "tone", "--executor", "local", "--quiet", "--log-format", log_format)
        assert command(story, *words, "-o", story.with_name(f"{log_format}.m4b")) == 0
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_a_plain_progress_line_has_all_that_people_ask_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reporter = PlainReporter(quiet=False)
    reporter._shown = -100.0
    reporter.progress(HALF)
    reporter.progress(HALF)
    (line,) = capsys.readouterr().err.splitlines()
    for part in (
        "50 %",
        "50/100 segments",
        "2/5 chapters",
        "5 min",
        "30x",
        "2 workers",
        "10 s left",
    ):
        assert part in line


def test_a_download_is_shown_in_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    half = Download("model.safetensors", 210_000_000, 420_000_000, 10_500_000.0)
    for log_format in ("plain", "json", "rich"):
        for quiet in (False, True):
            with make_reporter(log_format, quiet) as reporter:
                if isinstance(reporter, PlainReporter):
                    reporter._shown = -100.0
                reporter.download(half)
                reporter.download(half)
    shown = capsys.readouterr()
    plain = "Downloading  50 % · model.safetensors · 210 MB of 420 MB · 10 MB/s · 20 s left"
    assert shown.err.splitlines()[0] == plain
    first, second = map(json.loads, shown.out.splitlines())
    assert first["event"] == second["event"] == "downloading"
    assert first["num_bytes"] * 2 == first["total_bytes"] == 420_000_000


def test_the_rich_display_takes_titles_literally(capsys: pytest.CaptureFixture[str]) -> None:
    with RichReporter(quiet=False) as reporter:
        reporter.progress(HALF)
        reporter.note("plan", "A [bold]title[/bold] with [brackets]")
    assert "A [bold]title[/bold] with [brackets]" in capsys.readouterr().err


def test_a_terminal_gets_the_rich_display_and_a_pipe_plain_lines() -> None:
    with make_reporter(None, quiet=False) as reporter:
        assert isinstance(reporter, PlainReporter)


def test_inspect_shows_chapters_and_what_is_left_out(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = Path(__file__).parents[2] / "jobs" / "samples" / "tide-clock.epub"
    assert command("inspect", sample, "--dropped") == 0
    shown = capsys.readouterr().out
    for part in (
        "The Tide Clock",
        "The pocket-batch authors",
        "A Quarter Past Three",
        "3 chapters",
    ):
        assert part in shown
    assert "The baker’s cat was not counted" in shown
    assert command("inspect", sample, "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert [chapter["number"] for chapter in facts["chapters"]] == [1, 2, 3]


def test_voices_lists_engine_language_and_licence(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("voices", "--json") == 0
    voices = {v["name"]: v for v in map(json.loads, capsys.readouterr().out.splitlines())}
    assert voices["heart"]["here"] == "yes"
    assert voices["heart"]["licence"] == "Apache-2.0"
    assert command("voices") == 0
    assert "heart" in capsys.readouterr().out


def test_numbers_are_written_as_people_read_them() -> None:
    assert [duration(s) for s in (5, 65, 9840)] == ["5 s", "1 min 5 s", "2 h 44 min"]
    assert [size(n) for n in (900, 76_400_000, 2.5e9)] == ["900 bytes", "76 MB", "2.5 GB"]
    assert [plural(1, "chapter"), plural(1200, "chapter")] == ["1 chapter", "1,200 chapters"]


def test_a_speed_below_two_has_a_decimal(capsys: pytest.CaptureFixture[str]) -> None:
    from pocket_batch.jobs.messages import tell_result

    reporter = PlainReporter(quiet=False)
    reporter._shown = -100.0
    reporter.progress(replace(HALF, x_realtime=0.42))
    assert "0.4x real time" in capsys.readouterr().err
    tell_result(reporter, [], 5.0)
    assert "0.0x real time" in capsys.readouterr().err
