"""Levels of finished files: what is recorded is what ffmpeg's own meters find in the files."""

import json
import math
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pocket_batch.audio.ffmpeg import find_ffmpeg
from pocket_batch.errors import OutputError
from pocket_batch.jobs import preflight
from pocket_batch.jobs.plan import output_bytes_per_s
from pocket_batch.jobs.preflight import check_space
from pocket_batch.jobs.quality import tell_quality, write_quality
from pocket_batch.jobs.report.measured import FileLevels, read_measured
from pocket_batch.manifest import Manifest
from pocket_batch.outputs.audiobook import WrittenFile
from pocket_batch.records import MasteredChapter
from pocket_batch.settings import AudiobookPipeline, CheckSettings, MasterSettings, WriteSettings
from pocket_batch.stages.check import Check
from pocket_batch.work_folder import WorkFolder

Command = Callable[..., int]
QUICK = ("--voice", "tone", "--executor", "local", "--log-format", "plain")
ACX = ("--loudness", "acx", "--split-chapters")


def told(path: Path, filters: str) -> str:
    """What ffmpeg says of a file through some filters."""
    command = [find_ffmpeg(), "-hide_banner", "-nostats", "-i", path, "-af", filters]
    run = subprocess.run([*command, "-f", "null", "-"], capture_output=True, check=True)
    return run.stderr.decode()


def figures(text: str, name: str) -> list[float]:
    return [float(found) for found in re.findall(rf"{re.escape(name)}\s*(-?(?:inf|[\d.]+))", text)]


def meters(path: Path, rate_hz: int) -> dict[str, float]:
    """Loudness, RMS, peaks, the quietest half second, and silence at both ends, by ffmpeg."""
    text = told(path, "astats=measure_perchannel=none,ebur128=peak=true:framelog=quiet")
    half = "asetnsamples=n={}:p=0,astats=reset=1:metadata=1,ametadata=print:key={}".format(
        rate_hz // 2, "lavfi.astats.Overall.RMS_level"
    )
    duration_s = figures(told(path, "astats=measure_perchannel=none"), "Number of samples:")[-1]
    head_s, tail_s = ends(path, duration_s / rate_hz)
    return {
        "lufs": figures(text, "I:")[-1],
        "true_peak": figures(text, "Peak:")[-1],
        "peak": figures(text, "Peak level dB:")[-1],
        "rms": figures(text, "RMS level dB:")[-1],
        "floor": min(figures(told(path, half), "Overall.RMS_level=")),
        "head": head_s,
        "tail": tail_s,
    }


def ends(path: Path, duration_s: float) -> tuple[float, float]:
    """Silence that begins with the file, and silence that ends with it."""
    text = told(path, "silencedetect=noise=-55dB:d=0.05")
    begins, stops = figures(text, "silence_start:"), figures(text, "silence_end:")
    head_s = stops[0] if begins and begins[0] < 0.03 else 0.0
    return head_s, duration_s - begins[-1] if stops and stops[-1] > duration_s - 0.03 else 0.0


def levels_of(work: Path) -> tuple[FileLevels, ...]:
    return read_measured(WorkFolder(work)).files


@pytest.mark.parametrize(("kind", "rate_hz"), [("flac", 24_000), ("mp3", 44_100)])
def test_files_for_acx_pass_by_ffmpegs_own_meters_and_ours(
    story: Path, command: Command, kind: str, rate_hz: int
) -> None:
    assert command(story, *QUICK, *ACX, "--format", kind) == 0
    paths = sorted((story.parent / "story").glob(f"*.{kind}"))
    levels = levels_of(story.parent / "story.work")
    assert [path.name for path in paths] == [level.name for level in levels]
    assert len(paths) == 2
    for path, level in zip(paths, levels, strict=True):
        found = meters(path, rate_hz)
        assert level.lufs == pytest.approx(found["lufs"], abs=0.2)
        assert level.rms_db == pytest.approx(found["rms"], abs=0.1)
        assert level.true_peak_dbtp == pytest.approx(found["true_peak"], abs=0.3)
        assert level.noise_floor_db == pytest.approx(found["floor"], abs=1.5)
        assert level.head_s == pytest.approx(found["head"], abs=0.05)
        assert level.tail_s == pytest.approx(found["tail"], abs=0.05)
        assert -23 < found["rms"] < -18
        assert found["peak"] < -3
        assert -90 < found["floor"] < -60
        assert 0.5 <= found["head"] <= 1
        assert 1 <= found["tail"] <= 5


def test_pauses_that_acx_does_not_want_are_made_as_it_wants_them(
    story: Path, command: Command
) -> None:
    pauses = ("--set", "segment.pauses.chapter_ms=100", "--set", "master.lead_in_ms=0")
    assert command(story, *QUICK, *ACX, "--format", "wav", *pauses) == 0
    found = meters(next((story.parent / "story").glob("*.wav")), 24_000)
    assert 0.5 <= found["head"] <= 1
    assert 1 <= found["tail"] <= 5
    assert command(story, *QUICK, "--format", "wav", *pauses) == 0
    level = levels_of(story.parent / "story.work")[0]
    assert level.head_s is not None
    assert level.head_s < 0.1
    assert level.tail_s is not None
    assert level.tail_s < 0.2


def test_a_book_in_one_file_has_the_ends_of_its_chapters_and_the_quietest_of_their_floors(
    story: Path, command: Command
) -> None:
    tone = ("--set", "master.room_tone_db=-76")
    assert command(story, *QUICK, "--format", "flac", *tone) == 0
    found = meters(story.with_suffix(".flac"), 24_000)
    level = levels_of(story.parent / "story.work")[0]
    work = WorkFolder(story.parent / "story.work")
    first, last = Manifest(work.file("chapters.jsonl"), MasteredChapter).read()
    assert (level.head_s, level.tail_s) == (first.head_s, last.tail_s)
    assert level.noise_floor_db == pytest.approx(found["floor"], abs=1.5)
    assert level.lufs == pytest.approx(found["lufs"], abs=0.2)
    assert level.tail_s == pytest.approx(found["tail"], abs=0.05)


def _mastered(number: int, noise_db: float, tail_s: float) -> Any:
    levels = (-26.0, -27.0, 0.4, noise_db, 0.6, tail_s)
    return SimpleNamespace(chapter=MasteredChapter(number, "Part", 240_000, *levels))


def _written(path: Path, rms_db: float = -20.0) -> WrittenFile:
    return WrittenFile(path, 240_000, 10.0, 1, 9_000, 192.0, 44_100, -19.0, rms_db, -3.6)


def _judged(folder: Path, mastered: Sequence[Any], files: Sequence[WrittenFile]) -> Any:
    check = Check(CheckSettings(), {})
    work = WorkFolder(folder)
    quality = write_quality(work, check, CheckSettings(), 3, 0, mastered, files)

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    text = work.file("quality.json").read_text(encoding="utf-8")
    return quality, json.loads(text, parse_constant=refuse)


def test_quality_json_has_levels_and_a_verdict_for_each_file(tmp_path: Path) -> None:
    mastered = [_mastered(1, -80.0, 2.0), _mastered(2, -math.inf, 0.3)]
    files = [_written(tmp_path / "1.mp3"), _written(tmp_path / "2.mp3")]
    _, content = _judged(tmp_path, mastered, files)
    good, bad = content["files"]
    assert good == {
        "path": str(tmp_path / "1.mp3"),
        "duration_s": 10.0,
        "lufs": -19.0,
        "true_peak_dbtp": -3.6,
        "rms_db": -20.0,
        "noise_floor_db": -73.0,
        "head_s": 0.6,
        "tail_s": 2.0,
        "acx": True,
        "acx_verdict": "Yes.",
    }
    assert bad["noise_floor_db"] is None
    assert not bad["acx"]
    assert "digital silence" in bad["acx_verdict"]
    assert "0.30 s after the last word" in bad["acx_verdict"]


def test_a_silent_file_has_no_levels_and_one_file_holds_all_chapters(tmp_path: Path) -> None:
    mastered = [_mastered(1, -80.0, 2.0), _mastered(2, -70.0, 1.5)]
    _, content = _judged(tmp_path, mastered, [_written(tmp_path / "a.m4b")])
    assert content["files"][0]["noise_floor_db"] == -73.0
    assert content["files"][0]["tail_s"] == 1.5
    _, content = _judged(tmp_path, mastered, [_written(tmp_path / "a.m4b", -math.inf)])
    assert content["files"][0]["rms_db"] is None
    assert _judged(tmp_path, (), ())[1]["files"] == []


def test_who_aimed_at_acx_is_told_what_it_would_refuse(tmp_path: Path) -> None:
    mastered = [_mastered(1, -80.0, 2.0), _mastered(2, -60.0, 2.0)]
    files = [_written(tmp_path / "1.mp3"), _written(tmp_path / "2.mp3")]
    quality, _ = _judged(tmp_path, mastered, files)
    notes: list[str] = []
    reporter: Any = SimpleNamespace(note=lambda name, text, *_, **__: notes.append(text))
    tell_quality(reporter, quality)
    assert notes == []
    tell_quality(reporter, quality, "acx")
    assert notes == ["ACX would refuse 1 of 2 files. 2.mp3: No: too much noise, -53.0 dB."]


@pytest.fixture
def pipeline() -> Callable[..., AudiobookPipeline]:
    """An audiobook pipeline with some settings of its output."""

    def make(loudness: Any = "lufs", **write: Any) -> AudiobookPipeline:
        master, segment = MasterSettings(loudness=loudness), SimpleNamespace()
        wanted = WriteSettings(**write)
        return AudiobookPipeline("audiobook", (), segment, master=master, write=wanted)  # type: ignore[arg-type]

    return make


def test_the_size_of_an_output_counts_bit_rate_and_read_along_epub(
    pipeline: Callable[..., AudiobookPipeline],
) -> None:
    plain = output_bytes_per_s(pipeline())
    assert output_bytes_per_s(pipeline(read_along=True)) == 2 * plain
    assert output_bytes_per_s(pipeline(bitrate_kbps=128)) == pytest.approx(2 * plain, rel=0.02)
    assert output_bytes_per_s(pipeline("acx", format="mp3")) == pytest.approx(3 * plain, rel=0.02)
    assert output_bytes_per_s(pipeline("acx", format="wav")) == 48_000
    assert output_bytes_per_s(pipeline(format="flac", read_along=True)) == 24_000 + plain


def test_a_disk_that_has_room_for_the_audiobook_but_not_for_its_epub_is_refused(
    pipeline: Callable[..., AudiobookPipeline], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan: Any = SimpleNamespace(audio_s=36_000.0)
    free = SimpleNamespace(free=int(36_000 * 8_500 * 2.5))
    monkeypatch.setattr(preflight.shutil, "disk_usage", lambda path: free)
    work, output = tmp_path / "a.work", tmp_path / "a.m4b"
    check_space(work, output, pipeline(), plan, 0.0)
    with pytest.raises(OutputError, match=r"needs about 918 MB, and 765 MB are free"):
        check_space(work, output, pipeline(read_along=True), plan, 0.0)
