"""Levels of chapters as they are in the finished files, and what ACX would say of them."""

import math
import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pocket_batch.audio.acx import AIM_PEAK_DBTP, AIM_RMS_DB, AcxLevels, acx_verdict
from pocket_batch.audio.flac import decode_flac
from pocket_batch.audio.loudness import LoudnessMeter, integrated_lufs
from pocket_batch.audio.pcm import to_float
from pocket_batch.audio.quiet import FAINTEST_DB
from pocket_batch.errors import AudioError
from pocket_batch.jobs.report.facts import Facts, Place, number_at, text_at
from pocket_batch.records import MasteredChapter

MAX_SAMPLED = 600  # utterances that are decoded for a report: about an hour of speech
NUM_THREADS = 2


@dataclass(frozen=True, slots=True)
class ChapterLevels:
    """A chapter in its finished file. Levels are dB, None where nothing is known of them.

    `noise_floor_db` is below `quiet.FAINTEST_DB` for digital silence; `head_s` and `tail_s` are
    silence. `verdict` says in words what ACX would of the chapter as a file of its own.
    """

    number: int
    title: str
    begin_s: float
    duration_s: float
    num_lines: int
    lufs: float | None
    true_peak_dbtp: float | None
    rms_db: float | None
    noise_floor_db: float | None
    head_s: float | None
    tail_s: float | None
    is_acx: bool
    verdict: str


@dataclass(frozen=True, slots=True)
class Curve:
    """Loudness over the book: LUFS at seconds from its beginning. `is_exact` unless sampled."""

    points: tuple[tuple[float, float], ...]
    is_exact: bool


@dataclass(frozen=True, slots=True)
class _Heard:
    """What was measured on one decoded utterance, before gain."""

    place: Place
    lufs: float


def measure_levels(facts: Facts) -> tuple[list[ChapterLevels], Curve]:
    """The levels of all chapters and the curve of the book; a curve not recorded is measured."""
    gains = {c.number: _gain_db(facts, c) for c in facts.chapters}
    levels, at_s = [], 0.0
    num_lines: dict[int, int] = {}
    for place in facts.places:
        num_lines[place.segment.chapter] = num_lines.get(place.segment.chapter, 0) + 1
    for chapter in facts.chapters:
        lines = num_lines.get(chapter.number, 0)
        levels.append(_levels(facts, chapter, at_s, lines, gains[chapter.number]))
        at_s += levels[-1].duration_s
    return levels, _curve(facts, gains)


def shown_db(value: float) -> str:
    """`-23.04` -> `-23.0` with a real minus sign, `-inf` -> `-∞`."""
    if not math.isfinite(value) or value < FAINTEST_DB:
        return "−∞"
    return f"{value:.1f}".replace("-", "−")


def said(verdict: str) -> str:
    """A verdict as the page has it: `RMS -25.0 dB` with real minus signs."""
    return re.sub(r"-(?=\d|inf)", "−", verdict).replace("−inf", "−∞")


def _levels(
    facts: Facts, chapter: MasteredChapter, begin_s: float, num_lines: int, gain_db: float | None
) -> ChapterLevels:
    duration_s = chapter.num_samples / facts.sampling_rate_hz
    lufs = rms = peak = noise = None
    if gain_db is not None:
        lufs, rms = chapter.lufs + gain_db, chapter.rms_db + gain_db
        peak = min(_peak_db(chapter) + gain_db, _ceiling_dbtp(facts))
        floor = chapter.noise_floor_db
        noise = floor + gain_db if floor is not None else None
    file = facts.measured.file_of(chapter.number)
    if file is not None:  # what the limiter did is in it
        lufs, rms, peak = file.lufs, file.rms_db, file.true_peak_dbtp
    found = AcxLevels(rms, peak, noise, chapter.head_s, chapter.tail_s, duration_s)
    is_acx, verdict = acx_verdict(found)
    return ChapterLevels(
        number=chapter.number,
        title=chapter.title,
        begin_s=begin_s,
        duration_s=duration_s,
        num_lines=num_lines,
        lufs=lufs,
        true_peak_dbtp=peak,
        rms_db=rms,
        noise_floor_db=noise,
        head_s=chapter.head_s,
        tail_s=chapter.tail_s,
        is_acx=is_acx,
        verdict=verdict,
    )


def _peak_db(chapter: MasteredChapter) -> float:
    return 20 * math.log10(chapter.true_peak) if chapter.true_peak > 0 else -math.inf


def _ceiling_dbtp(facts: Facts) -> float:
    """The highest true peak that the limiter let through."""
    ceiling = number_at(facts.run, "settings", "master", "true_peak_dbtp")
    is_acx = text_at(facts.run, "settings", "master", "loudness") == "acx"
    return min(ceiling, AIM_PEAK_DBTP) if is_acx else ceiling


def _gain_db(facts: Facts, chapter: MasteredChapter) -> float | None:
    """What brought a chapter to its level; where nothing tells, what it should have been."""
    recorded = facts.measured.gain_db(chapter.number)
    if recorded is not None:
        return recorded
    settings = ("settings", "master")
    target = number_at(facts.run, *settings, "target_lufs")
    is_split = facts.run.get("settings", {}).get("write", {}).get("split_chapters") is True
    chapters = [chapter] if is_split else list(facts.chapters)
    if text_at(facts.run, *settings, "loudness") == "acx":
        found, target = _mean_db(chapters, [c.rms_db for c in chapters]), AIM_RMS_DB
    else:
        found = _mean_db(chapters, [c.lufs for c in chapters])
    return target - found if target and math.isfinite(found) else None


def _mean_db(chapters: Sequence[MasteredChapter], values: Sequence[float]) -> float:
    """The level of chapters together, from their own levels and lengths."""
    total = sum(c.num_samples for c in chapters)
    pairs = zip(chapters, values, strict=True)
    power = sum(c.num_samples * 10 ** (value / 10) for c, value in pairs) / max(1, total)
    return 10 * math.log10(power) if power > 0 else -math.inf


def _curve(facts: Facts, gains: dict[int, float | None]) -> Curve:
    from pocket_batch.jobs.report.measured import QUIETEST_LUFS, STEP_S

    points: list[tuple[float, float]] = []
    at_s = 0.0
    for chapter in facts.chapters:
        gain = gains[chapter.number] or 0.0
        for index, lufs in enumerate(facts.measured.curves.get(chapter.number, ())):
            if lufs > QUIETEST_LUFS:
                points.append((at_s + (index + 0.5) * STEP_S, lufs + gain))
        at_s += chapter.num_samples / facts.sampling_rate_hz
    if points:
        return Curve(tuple(points), True)
    for found in _listen(facts):
        gain = gains.get(found.place.segment.chapter) or 0.0
        if found.place.begin_s is not None and math.isfinite(found.lufs):
            middle_s = found.place.begin_s + found.place.duration_s / 2
            points.append((middle_s, found.lufs + gain))
    return Curve(tuple(points), False)


def _listen(facts: Facts) -> list[_Heard]:
    """Decode some utterances of the book, in reading order."""
    chosen = spread([p for p in facts.places if p.key in facts.utterances], MAX_SAMPLED)
    with ThreadPoolExecutor(NUM_THREADS, "report") as pool:
        found = pool.map(lambda place: _hear(facts, place), chosen)
        return [heard for heard in found if heard is not None]


def spread(items: Sequence[Place], count: int) -> list[Place]:
    """At most `count` of some items, evenly spread."""
    if len(items) <= count:
        return list(items)
    return [items[index * len(items) // count] for index in range(count)]


def _hear(facts: Facts, place: Place) -> _Heard | None:
    rate = facts.utterances[place.key].sampling_rate_hz
    try:
        pcm = decode_flac(facts.work.audio(place.key))
    except AudioError:
        return None  # speech is not kept, or damaged: the rest tells enough
    meter = LoudnessMeter(rate)
    meter.add(to_float(pcm))
    return _Heard(place, integrated_lufs(meter.result()))


def finite(values: Iterable[float | None]) -> list[float]:
    """Those that can be drawn."""
    return [value for value in values if value is not None and math.isfinite(value)]
