"""Chapters joined from utterances: the same samples in any order, silence where speech failed."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pocket_batch.audio.flac import encode_flac
from pocket_batch.audio.measure import measure
from pocket_batch.data import Failure, ScriptChapter, ScriptLine, Utterance
from pocket_batch.errors import OutputError
from pocket_batch.settings import MasterSettings
from pocket_batch.stages import master as master_module
from pocket_batch.stages.master import Joiner, Master, Mastered
from pocket_batch.work_folder import WorkFolder

RATE = 24_000
KEYS = [f"{n:02d}" for n in range(10)]
SCRIPT = (
    ScriptChapter(1, "One", tuple(ScriptLine(k, k, 350) for k in KEYS[:6])),
    ScriptChapter(2, "Two", tuple(ScriptLine(k, k, 700) for k in [*KEYS[6:], KEYS[0]])),
)


def spoken(key: str) -> Utterance:
    return Utterance(key, key, RATE // 2, RATE, "eos", 0, 0, 0, 0.0)


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> WorkFolder:
    folder = WorkFolder(tmp_path_factory.mktemp("work"))
    for number, key in enumerate(KEYS):
        time = np.arange(RATE // 2) / RATE
        tone = 0.1 * np.sin(2 * np.pi * (200 + 20 * number) * time).astype(np.float32)
        folder.store_audio(key, encode_flac(tone, RATE))
    return folder


def joiner(work: WorkFolder) -> Joiner:
    made = Joiner(work, MasterSettings(), RATE)
    for key in KEYS:
        made.expect(spoken(key))
    return made


def run(work: WorkFolder, items: list[Utterance | Failure], threads: int = 2) -> list[Mastered]:
    return list(Master(work, Joiner(work, MasterSettings(), RATE), SCRIPT, threads).run(items))


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(order=st.permutations(KEYS), span=st.integers(3, 7))
def test_neither_order_nor_spans_change_what_a_chapter_is(
    work: WorkFolder, order: list[str], span: int
) -> None:
    calm = run(work, [spoken(key) for key in KEYS], threads=1)
    before, master_module.SPAN_LINES = master_module.SPAN_LINES, span
    try:
        found = run(work, [spoken(key) for key in order])
    finally:
        master_module.SPAN_LINES = before
    assert [m.chapter.num_samples for m in found] == [m.chapter.num_samples for m in calm]
    for ours, theirs in zip(found, calm, strict=True):
        # Blocks across the borders of spans are not counted: much in chapters of six tones.
        assert ours.chapter.lufs == pytest.approx(theirs.chapter.lufs, abs=0.5)
        assert ours.chapter.rms_db == pytest.approx(theirs.chapter.rms_db, abs=1e-6)


def test_a_measured_chapter_is_as_long_as_the_one_that_is_joined_for_the_encoder(
    work: WorkFolder,
) -> None:
    for found, chapter in zip(run(work, [spoken(k) for k in KEYS]), SCRIPT, strict=True):
        again = measure(joiner(work).pieces(chapter.number, chapter.lines, lead_in=True), RATE)
        assert again.num_samples == found.chapter.num_samples
        assert again.true_peak == found.chapter.true_peak


def test_a_failed_utterance_leaves_its_pause(work: WorkFolder) -> None:
    whole, _ = run(work, [spoken(key) for key in KEYS])
    items = [spoken(k) if k != "03" else Failure(k, k, "text", "It broke.", 3) for k in KEYS]
    part, _ = run(work, items)
    speech = next(iter(joiner(work).pieces(1, [ScriptLine("03", "03", 0)], lead_in=False)))
    assert whole.chapter.num_samples - part.chapter.num_samples == len(speech)


def test_a_chapter_of_which_everything_failed_is_left_out(work: WorkFolder) -> None:
    bad = {line.key for line in SCRIPT[0].lines}
    items = [Failure(k, k, "", "It broke.", 3) if k in bad else spoken(k) for k in KEYS]
    assert [m.chapter.number for m in run(work, items)] == [2]


@pytest.mark.parametrize(
    "flac", [b"fLaC" + bytes(100), encode_flac(np.zeros(99, np.float32), RATE)]
)
def test_damaged_audio_is_removed_and_named(flac: bytes, tmp_path: Path) -> None:
    broken = WorkFolder(tmp_path)
    broken.store_audio("00", flac)
    line = ScriptLine("00", "001-0001", 0)
    with pytest.raises(OutputError, match="segment 001-0001 is damaged"):
        list(joiner(broken).pieces(1, [line], lead_in=False))
    assert not broken.audio("00").exists()


def test_a_chapter_is_measured_again_when_its_speech_is_replaced(tmp_path: Path) -> None:
    """One utterance comes again, longer and louder, when all were there and measured."""
    folder, fresh = WorkFolder(tmp_path / "a"), WorkFolder(tmp_path / "b")
    time = np.arange(RATE) / RATE
    tone = 0.1 * np.sin(2 * np.pi * 300 * time).astype(np.float32)
    for key in KEYS:
        folder.store_audio(key, encode_flac(tone[: RATE // 2], RATE))
        fresh.store_audio(key, encode_flac(tone * 4 if key == "01" else tone[: RATE // 2], RATE))
    other = Utterance("01", "01", RATE, RATE, "eos", 0, 1, 0, 0.0)
    master = Master(folder, Joiner(folder, MasterSettings(), RATE), SCRIPT, 2)

    def items() -> Iterator[Utterance]:
        yield from (spoken(key) for key in KEYS)
        master.wait()
        folder.store_audio("01", encode_flac(tone * 4, RATE))
        yield other

    found = [m.chapter for m in master.run(items())]
    wanted = run(fresh, [other if key == "01" else spoken(key) for key in KEYS])
    assert found == [m.chapter for m in wanted]
    lines = [(folder / "timeline.jsonl").read_text() for folder in (folder.path, fresh.path)]
    assert lines[0] == lines[1]
