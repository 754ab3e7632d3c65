"""The report of a work folder, as a file: what it tells, and that no text disturbs it."""

import json
import math
import re
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from pocket_batch.audio.quiet import FAINTEST_DB
from pocket_batch.data import Segment, Utterance
from pocket_batch.errors import InputError
from pocket_batch.jobs.report import cards
from pocket_batch.jobs.report.charts import histogram, line_chart, time_axis, value_axis
from pocket_batch.jobs.report.clips import make_clip, outline
from pocket_batch.jobs.report.difference import differences
from pocket_batch.jobs.report.facts import read_facts
from pocket_batch.jobs.report.levels import measure_levels, said
from pocket_batch.jobs.report.measured import read_measured, short_term
from pocket_batch.jobs.report.page import make_page
from pocket_batch.jobs.report.suspects import list_suspects
from pocket_batch.jobs.report.write import write_report
from pocket_batch.manifest import Manifest
from pocket_batch.records import TimedLine
from pocket_batch.work_folder import WorkFolder

Command = Callable[..., int]
VOID = {"meta", "link", "input", "br", "img", "line", "path", "rect", "polyline", "polygon"}


class Outline(HTMLParser):
    """Tags, attributes and ids of a page, and whether all is closed as it was opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def outline_of(page: str) -> Outline:
    found = Outline()
    found.feed(page)
    assert not found.open
    return found


def test_a_page_is_one_file_that_asks_for_nothing(work: WorkFolder) -> None:
    found = outline_of(write_report(work).read_text(encoding="utf-8"))
    sources = [value or "" for name, value in found.attributes if name in ("src", "href")]
    assert sources
    assert all(value.startswith(("data:", "#")) for value in sources)
    assert not {"link", "iframe", "object", "embed", "img"} & set(found.tags)


def test_texts_of_a_book_stay_texts(work: WorkFolder, hostile: str) -> None:
    page = make_page(read_facts(work))
    found = outline_of(page)
    assert found.tags.count("script") == 1
    assert "taken'</script>" not in page
    assert not [name for name, _ in found.attributes if name.startswith("on")]
    assert "\x07" not in page
    assert "␇" in page


def test_ids_and_what_refers_to_them_fit(work: WorkFolder) -> None:
    found = outline_of(make_page(read_facts(work)))
    assert len(found.ids) == len(set(found.ids))
    referred = [v for name, v in found.attributes if name in ("aria-labelledby", "for") and v]
    referred += [v[1:] for name, v in found.attributes if name == "href" and v]
    assert set(referred) <= set(found.ids)


def test_a_page_has_landmarks_and_headers_for_those_who_hear_it(work: WorkFolder) -> None:
    page = make_page(read_facts(work))
    found = outline_of(page)
    assert {"header", "nav", "main", "footer", "caption"} <= set(found.tags)
    assert page.count("<h1>") == 1
    assert found.tags.count("th") == sum(name == "scope" for name, _ in found.attributes)
    assert page.count('class="play" aria-label=') == page.count('class="play"')


def test_what_failed_and_what_is_suspect_is_listed_in_reading_order(
    work: WorkFolder, key_of: Callable[[str], str]
) -> None:
    found = list_suspects(read_facts(work))
    assert [item.places[0].segment.id for item in found] == ["001-0002", "002-0001", "002-0002"]
    missing, failed, unknown = found
    assert missing.kinds == ("words_missing",)
    assert failed.kinds == ("not_spoken",)
    assert failed.severity > missing.severity > 0
    assert unknown.kinds == ("of_the_future", "click")
    assert "of the future" in make_page(read_facts(work))


def test_a_line_that_is_heard_twice_is_listed_once(work: WorkFolder) -> None:
    lines = list(Manifest(work.file("timeline.jsonl"), TimedLine).read())
    lines[-1] = replace(lines[-1], key=lines[1].key)
    Manifest(work.file("timeline.jsonl"), TimedLine).replace(lines)
    found = list_suspects(read_facts(work))
    assert [p.segment.id for p in found[0].places] == ["001-0002", "002-0003"]
    assert "heard 2 times" in make_page(read_facts(work))


def test_problems_of_scores_count_where_nothing_was_judged(work: WorkFolder) -> None:
    work.file("checks.jsonl").unlink()
    rows = [json.loads(line) for line in work.file("scores.jsonl").read_text().splitlines()]
    rows[0]["problems"] = ["click"]
    rows[2]["problems"] = ["of_the_future"]
    work.file("scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = {item.places[0].segment.id: item for item in list_suspects(read_facts(work))}
    assert set(found) == {"001-0001", "001-0003", "002-0001"}
    assert all(item.sentences for item in found.values())


@pytest.mark.parametrize(
    ("text", "heard", "missing", "added"),
    [
        ("The door was open.", "the door was open", "", ""),
        ("The door was open.", "The was open", "door", ""),
        ("The door was open.", "The door was wide open", "", "wide"),
        ("In nineteen eighty-four.", "In 1984.", "", ""),
        ("He came into the bath room.", "He came into the bathroom.", "", ""),
        ("The colour of it.", "The color of it", "", ""),
        ("Nothing.", "", "Nothing.", ""),
        ("", "something", "", "something"),
    ],
)
def test_differences_are_those_that_a_listener_hears(
    text: str, heard: str, missing: str, added: str
) -> None:
    said, got = differences(text, heard, "en")
    assert " ".join(p.text for p in said) == text
    assert " ".join(p.text for p in got) == heard
    assert " ".join(p.text for p in said if not p.is_same) == missing
    assert " ".join(p.text for p in got if not p.is_same) == added


def test_what_was_heard_is_marked_word_by_word(work: WorkFolder) -> None:
    page = make_page(read_facts(work))
    assert "<del>open,</del>" in page
    assert "<ins>over</ins>" in page


def test_sound_is_there_for_the_worst_and_the_page_says_for_how_many(
    work: WorkFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert make_page(read_facts(work)).count('src="data:audio/') == 2
    assert "can be heard in this file" not in make_page(read_facts(work))
    monkeypatch.setattr(cards, "MAX_CLIPS", 2)
    page = make_page(read_facts(work))
    assert page.count('src="data:audio/') == 1  # what failed is the worst, and has no sound
    assert "1 utterance can be heard in this file" in page
    monkeypatch.setattr(cards, "MAX_LISTED", 1)
    assert "1 worst of 3 are listed" in make_page(read_facts(work))


def test_the_sound_of_a_clip_is_what_was_spoken(
    work: WorkFolder, key_of: Callable[[str], str]
) -> None:
    import base64
    import io

    import soundfile

    clip = make_clip(read_facts(work), key_of("001-0002"), with_sound=True)
    assert clip is not None
    data = base64.b64decode(clip.uri.partition("base64,")[2])
    samples, rate_hz = soundfile.read(io.BytesIO(data))
    assert len(samples) / rate_hz == pytest.approx(clip.duration_s, abs=0.15)
    spectrum = np.abs(np.fft.rfft(samples[:rate_hz]))
    assert int(spectrum.argmax()) == pytest.approx(160, abs=2)


def test_an_outline_has_the_peaks_of_its_parts() -> None:
    pcm = np.zeros(1200, np.int16)
    pcm[100], pcm[1100] = -32_768, 16_384
    bars = outline(pcm, 12)
    assert bars == (0.0, 1.0, *[0.0] * 9, 0.5)
    assert outline(np.zeros(0, np.int16)) == ()


def test_levels_are_those_of_the_finished_file(work: WorkFolder) -> None:
    levels, curve = measure_levels(read_facts(work))
    assert [round(level.lufs or 0, 1) for level in levels] == [-23.0, -23.0]
    assert levels[0].rms_db == pytest.approx(-24.0)
    assert levels[0].true_peak_dbtp == pytest.approx(20 * math.log10(0.4) + 3, abs=0.01)
    assert levels[1].begin_s == pytest.approx(levels[0].duration_s)
    assert not curve.is_exact
    assert len(curve.points) == 5


def test_noise_head_and_tail_are_those_of_the_record_after_gain(work: WorkFolder) -> None:
    levels, _ = measure_levels(read_facts(work))
    assert levels[0].noise_floor_db == pytest.approx(-77.0)
    assert (levels[0].head_s, levels[0].tail_s) == (0.54, 0.7)
    assert (
        levels[0].verdict
        == "No: too quiet, RMS -24.0 dB; 0.70 s after the last word, not 1 to 5 s."
    )


def test_what_acx_would_say_of_each_chapter_is_for_those_who_aim_at_it(work: WorkFolder) -> None:
    assert "after the last word, not" not in make_page(read_facts(work))
    run = json.loads(work.file("run.json").read_text())
    run["settings"]["master"]["loudness"] = "acx"
    work.file("run.json").write_text(json.dumps(run))
    assert "0.70 s after the last word, not" in make_page(read_facts(work))


def test_a_record_of_an_older_version_has_no_noise_floor(work: WorkFolder) -> None:
    rows = [json.loads(line) for line in work.file("chapters.jsonl").read_text().splitlines()]
    for row in rows:
        del row["noise_floor_db"], row["head_s"], row["tail_s"]
    work.file("chapters.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    levels, _ = measure_levels(read_facts(work))
    assert levels[0].noise_floor_db is None
    assert levels[0].verdict == "No: too quiet, RMS -24.0 dB."
    assert "–</td>" in make_page(read_facts(work))


def test_a_chapter_that_is_a_file_has_the_levels_of_that_file(work: WorkFolder) -> None:
    file = {"name": "01.mp3", "duration_s": 9.0, "num_bytes": 9, "chapters": [1], "gain_db": 4.0}
    file |= {"lufs": -19.5, "rms_db": -20.1, "true_peak_dbtp": -3.4}
    content = json.dumps({"files": [file, file | {"chapters": [2]}], "step_s": 3, "curves": {}})
    work.file("measured.json").write_text(content)
    levels, _ = measure_levels(read_facts(work))
    assert (levels[0].lufs, levels[0].rms_db, levels[0].true_peak_dbtp) == (-19.5, -20.1, -3.4)
    assert levels[0].noise_floor_db == pytest.approx(-76.0)
    assert levels[1].noise_floor_db == -math.inf
    assert "digital silence instead of room tone" in levels[1].verdict


def test_a_verdict_has_real_minus_signs_on_the_page_and_no_others() -> None:
    assert said("too quiet, RMS -25.0 dB; lip-sync") == "too quiet, RMS −25.0 dB; lip-sync"
    assert said("RMS -inf dB") == "RMS −∞ dB"


def test_short_term_loudness_leaves_pauses_out() -> None:
    from pocket_batch.audio.loudness import LoudnessMeter

    meter = LoudnessMeter(24_000)
    tone = 0.1 * np.sin(np.arange(24_000 * 9) * 2 * np.pi * 997 / 24_000)
    tone[3 * 24_000 : 6 * 24_000] = 0
    meter.add(tone.astype(np.float32))
    first, pause, last = short_term(meter.result())
    assert first == pytest.approx(-23.0, abs=0.5)
    assert last == pytest.approx(-23.0, abs=0.5)
    assert pause == -70.0
    assert short_term(np.zeros(0, np.float32)) == ()


def test_a_chart_says_in_words_what_it_shows() -> None:
    points = [(float(x), -20.0 - x % 7) for x in range(1_000)]
    svg = line_chart(points, time_axis(1_000), value_axis([-27, -20], 6), "A <b>", "So & so", [500])
    assert 'role="img" aria-label="A &lt;b&gt;. So &amp; so"' in svg
    assert '<polygon class="band"' in svg
    assert "nan" not in svg
    assert 'class="bar"' in histogram([1.0, 2.0, 2.0, 9.0], "A", "B", (0.5, 5.0))
    assert "nan" not in histogram([5.0] * 9, "A", "B", None)


def test_a_folder_with_damaged_lines_and_files_gives_a_page(work: WorkFolder) -> None:
    for name in ("scores.jsonl", "checks.jsonl", "timeline.jsonl", "dropped.jsonl"):
        path = work.file(name)
        path.write_text("{\n[]\n" + path.read_text(encoding="utf-8") + '{"key": "torn')
    work.file("book.json").write_text("[1, 2")
    work.file("quality.json").write_text("[]")
    work.file("measured.json").write_text('{"files": [{}], "curves": 3}')
    for path in list(work.file("audio").rglob("*.flac"))[:2]:
        path.write_bytes(b"no audio")
    page = make_page(read_facts(work))
    assert "damaged lines passed over" in page
    assert read_measured(work).files == ()


def test_a_folder_of_which_only_the_script_is_there_gives_a_page(work: WorkFolder) -> None:
    for path in work.path.iterdir():
        if path.name not in ("segments.jsonl", "audio"):
            path.unlink()
    outline_of(make_page(read_facts(work)))


def test_a_folder_that_is_none_is_refused(tmp_path: Path, command: Command) -> None:
    with pytest.raises(InputError, match="no work folder"):
        write_report(WorkFolder(tmp_path))
    assert command("report", tmp_path) == 3
    assert not list(tmp_path.iterdir())


def test_every_run_writes_its_report_and_the_command_makes_it_again(
    story: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(story, "--voice", "tone", "--executor", "local", "--log-format", "plain") == 0
    path = story.parent / "story.work" / "report.html"
    first = path.read_text(encoding="utf-8")
    assert "A Small Story" in first
    assert "story.m4b as a whole: −23.0 LUFS" in first
    assert "Meets ACX: no: too quiet" in first
    assert "noise floor −∞ dB, head 0.54 s, tail 2.04 s" in first
    path.unlink()
    assert command("report", path.parent) == 0
    assert str(path) in capsys.readouterr().out
    assert path.read_text(encoding="utf-8") == first
    measured = read_measured(WorkFolder(path.parent))
    assert measured.files[0].chapters == (1, 2)
    assert measured.files[0].lufs == pytest.approx(-23.0, abs=0.1)
    assert measured.files[0].noise_floor_db is not None
    assert measured.files[0].noise_floor_db < FAINTEST_DB


def test_a_report_that_fails_is_a_warning(
    story: Path,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(work: WorkFolder) -> Path:
        raise ZeroDivisionError

    monkeypatch.setattr("pocket_batch.jobs.report.write.write_report", fail)
    assert command(story, "--voice", "tone", "--executor", "local", "--log-format", "plain") == 0
    assert "report could not be made" in capsys.readouterr().err
    assert (story.parent / "story.m4b").is_file()


def test_a_book_of_ten_hours_takes_seconds_and_a_few_megabytes(
    work: WorkFolder, key_of: Callable[[str], str]
) -> None:
    """7,000 lines, each tenth of them suspect."""
    utterance = next(iter(Manifest(work.file("utterances.jsonl"), Utterance).read()))
    flac = work.audio(utterance.key).read_bytes()
    segments, utterances, lines, suspects = [], [], [], []
    for number in range(7_000):
        key = f"{number:064x}"
        segment = Segment(f"001-{number:04d}", 1, f"Line {number} of the long book.", "tone", 350)
        segments.append(segment)
        utterances.append(replace(utterance, key=key, segment_id=segment.id))
        lines.append(TimedLine(1, segment.id, key, number * 120_000, number * 120_000 + 90_000))
        if number % 10 == 0:
            reason = {"key": key, "segment_id": segment.id, "text": segment.text, "reason": "Odd."}
            suspects.append(json.dumps(reason | {"codes": ["click"]}) + "\n")
    for key in (f"{number:064x}" for number in range(0, 1_000, 10)):
        work.store_audio(key, flac)
    rows = "".join(json.dumps(asdict(item)) + "\n" for item in utterances)
    work.file("utterances.jsonl").write_text(rows)
    Manifest(work.file("segments.jsonl"), Segment).replace(segments)
    Manifest(work.file("timeline.jsonl"), TimedLine).replace(lines)
    work.file("checks.jsonl").write_text("".join(suspects))
    started = time.process_time()
    size = len(make_page(read_facts(work)))
    assert time.process_time() - started < 8
    assert size < 10_000_000


def test_numbers_of_the_page_are_those_of_the_run(work: WorkFolder) -> None:
    page = re.sub(r"<[^>]+>", " ", make_page(read_facts(work)))
    words = " ".join(page.split())
    assert "Suspect 3" in words
    assert "Spoken 5 of 6 lines" in words
    assert "tone: CC0-1.0 &lt;b&gt;" in words
