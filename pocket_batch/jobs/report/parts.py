"""The sections of a page beside the suspects: summary, levels, what is left out, how made."""

import math
from collections.abc import Sequence

import numpy as np

from pocket_batch.audio.acx import acx_verdict
from pocket_batch.jobs.report import charts
from pocket_batch.jobs.report.facts import Facts, at, number_at, text_at
from pocket_batch.jobs.report.levels import ChapterLevels, Curve, said, shown_db
from pocket_batch.jobs.report.markup import clock, quoted, safe, table
from pocket_batch.jobs.report.suspects import Listed
from pocket_batch.stages.check import MIN_LETTERS
from pocket_batch.words import duration, plural

MAX_DROPPED = 100  # of each reason
MIN_RATES = 5
PAUSE_LU = 20  # below the median it is a pause; as the gate of EBU Tech 3342
SPEED_BINS = 60


def summary(facts: Facts, levels: Sequence[ChapterLevels], found: Sequence[Listed]) -> str:
    """The figures of the run, large."""
    audio_s = sum(c.duration_s for c in levels)
    took_s = sum(number_at(facts.run, "times_s", name) for name in ("speak", "write"))
    num_spoken = sum(place.key in facts.utterances for place in facts.places)
    tiles = [
        ("Length", clock(audio_s), plural(len(levels), "chapter")),
        ("Spoken", f"{num_spoken:,}", f"of {plural(len(facts.places), 'line')}"),
        ("Suspect", f"{len(found):,}", _share(len(found), len(facts.utterances))),
    ]
    wer = _book_wer(facts)
    if wer is not None:
        tiles.append(("Word error rate", f"{100 * wer[0]:.1f}%", f"of {wer[1]:,} words heard"))
    similarity = at(facts.quality, "similarity")
    if isinstance(similarity, float):
        tiles.append(("Voice", f"{similarity:.2f}", "like itself, 1 is the same"))
    if audio_s and took_s:
        tiles.append(("Speed", f"{audio_s / took_s:.1f}×", f"real time, {duration(took_s)}"))
    if facts.measured.files:
        lufs = [f.lufs for f in facts.measured.files if math.isfinite(f.lufs)]
        low, high = (min(lufs), max(lufs)) if lufs else (-math.inf, -math.inf)
        value = shown_db(low) if high - low < 0.1 else f"{shown_db(low)} to {shown_db(high)}"
        peak = max(f.true_peak_dbtp for f in facts.measured.files)
        tiles.append(("Loudness", value, f"LUFS, peak {shown_db(peak)} dBTP"))
    words = sum(len(dropped.text.split()) for dropped in facts.dropped)
    tiles.append(("Left out", f"{words:,}", "words of the book"))
    items = (
        f'<li><span class="name">{safe(name)}</span><strong>{safe(value)}</strong>'
        f'<span class="more">{safe(more)}</span></li>'
        for name, value, more in tiles
    )
    return f'<ul class="tiles">{"".join(items)}</ul>{_problems(facts)}'


def _share(count: int, total: int) -> str:
    if not total:
        return "utterances"
    return f"{100 * count / total:.1f}% of {plural(total, 'utterance')}"


def _problems(facts: Facts) -> str:
    """What the run itself says is wrong, and what could not be read for this page."""
    results = at(facts.run, "results", text_at(facts.run, "fingerprint"))
    told = [text_at(results, "problem"), _verdict(facts)]
    told += [str(w) for w in at(facts.book, "warnings") or () if isinstance(w, str)]
    if facts.damaged:
        told.append(f"{plural(len(facts.damaged), 'damaged line')} passed over: {facts.damaged[0]}")
    status = text_at(facts.run, "status")
    if status in ("running", "stopped", "failed"):
        told.insert(0, f"This run is not finished ({status}): the page shows what there is.")
    items = "".join(f"<li>{safe(text)}</li>" for text in dict.fromkeys(told) if text)
    return f'<ul class="problems">{items}</ul>' if items else ""


def _verdict(facts: Facts) -> str:
    """What quality.json finds: what is critical, or that words were heard wrong."""
    problem = text_at(facts.quality, "problem")
    wer, limit = at(facts.quality, "wer"), number_at(facts.quality, "thresholds", "wer", "warning")
    if problem or not isinstance(wer, float) or not limit or wer <= limit:
        return problem
    return f"{100 * wer:.1f}% of the words were heard otherwise than written."


def _book_wer(facts: Facts) -> tuple[float, int] | None:
    """The share of wrong words in all that was listened to, and how many words that was."""
    errors, total = 0.0, 0
    judged = at(facts.quality, "wer")
    for key, checked in facts.checked.items():
        wer = checked.scores.get("wer")
        if isinstance(wer, int | float):
            num_words = len(facts.places_of[key][0].segment.text.split())
            errors, total = errors + wer * num_words, total + num_words
    if not total:
        return None
    return (judged if isinstance(judged, float) else errors / total), total


def loudness_section(facts: Facts, levels: Sequence[ChapterLevels], curve: Curve) -> str:
    """Loudness over the book."""
    points = [(x, y) for x, y in curve.points if math.isfinite(y)]
    if len(points) < 2:
        return '<p class="calm">Too little speech for a curve.</p>'
    loudest = float(np.median([y for _, y in points]))
    points = [(x, y) for x, y in points if y > loudest - PAUSE_LU]
    values = np.array([y for _, y in points])
    total_s = sum(c.duration_s for c in levels)
    low, middle, high = np.percentile(values, (5, 50, 95))
    how = "3 s at a time" if curve.is_exact else "by utterance, a sample of them"
    told = (
        f"Half of the speech is above {shown_db(middle)} LUFS; nine tenths are between "
        f"{shown_db(low)} and {shown_db(high)} LUFS ({how}, pauses left out)."
    )
    is_acx = text_at(facts.run, "settings", "master", "loudness") == "acx"
    target = None if is_acx else number_at(facts.run, "settings", "master", "target_lufs") or None
    up = charts.value_axis([*np.percentile(values, (0.5, 99.5))], 6.0)
    svg = charts.line_chart(
        points,
        charts.time_axis(total_s),
        up,
        "Loudness over the book, LUFS",
        told,
        [c.begin_s for c in levels[1:]],
        target,
    )
    marks = "Thin lines are beginnings of chapters"
    marks += f", the dashed one is the target, {shown_db(target)} LUFS." if target else "."
    return f"<figure>{svg}<figcaption>{safe(told)} {marks}</figcaption></figure>"


def rate_section(facts: Facts) -> str:
    """How fast lines are read."""
    rates = reading_rates(facts)
    if len(rates) < MIN_RATES:
        return '<p class="calm">Too few lines for a histogram.</p>'
    median = float(np.median(rates))
    mad = float(np.median(np.abs(np.array(rates) - median)))
    told = (
        f"The median is {median:.1f} letters a second, with a median deviation of {mad:.1f}; "
        f"{plural(len(rates), 'utterance')} of {MIN_LETTERS} letters or more."
    )
    check = ("settings", "check")
    bounds = (
        number_at(facts.run, *check, "min_letters_per_s"),
        number_at(facts.run, *check, "max_letters_per_s"),
    )
    title = "How many utterances are read how fast, letters a second"
    svg = charts.histogram(rates, title, told, bounds)
    return f"<figure>{svg}<figcaption>{safe(told)}</figcaption></figure>"


def reading_rates(facts: Facts) -> list[float]:
    """Letters a second of each utterance that is long enough."""
    rates = []
    for key, utterance in facts.utterances.items():
        letters = sum(c.isalnum() for c in facts.places_of[key][0].segment.text)
        if letters < MIN_LETTERS or not utterance.num_samples:
            continue
        checked = facts.checked.get(key)
        rate = number_at(checked.scores if checked else None, "letters_per_s")
        rates.append(rate or letters * utterance.sampling_rate_hz / utterance.num_samples)
    return rates


def chapters_section(facts: Facts, levels: Sequence[ChapterLevels], found: Sequence[Listed]) -> str:
    """A row a chapter."""
    suspects: dict[int, int] = {}
    for item in found:
        for number in {place.segment.chapter for place in item.places}:
            suspects[number] = suspects.get(number, 0) + 1
    head = [("Chapter", "text"), ("Begins", "number"), ("Length", "number"), ("Lines", "number"),
            ("Suspect", "number"), ("LUFS", "number"), ("Peak dBTP", "number"),
            ("RMS dB", "number"), ("Noise floor dB", "number"), ("Head s", "number"),
            ("Tail s", "number")]  # fmt: skip
    is_for_acx = text_at(facts.run, "settings", "master", "loudness") == "acx"
    head += [("Meets ACX", "text")] * is_for_acx  # no reason to tell others in every row
    rows = []
    for c in levels:
        count = suspects.get(c.number, 0)
        name = f"<bdi>{safe(c.title or f'Chapter {c.number}')}</bdi>"
        colour, verdict = "good" if c.is_acx else "off", safe(said(c.verdict))
        rows.append(
            [
                f'<th scope="row" class="text" data-sort="{c.number}">{name}</th>',
                _cell(c.begin_s, clock(c.begin_s)),
                _cell(c.duration_s, clock(c.duration_s)),
                _cell(c.num_lines, f"{c.num_lines:,}"),
                _cell(count, f"{count:,}" if count else "–"),
                *(_level(v) for v in (c.lufs, c.true_peak_dbtp, c.rms_db, c.noise_floor_db)),
                *(_seconds(v) for v in (c.head_s, c.tail_s)),
                *[f'<td class="text verdict {colour}">{verdict}</td>'] * is_for_acx,
            ]
        )
    return table("Chapters with their levels", head, rows) + _whole_file(facts) + _ACX_NOTE


_ACX_NOTE = (
    '<p class="note">Levels are those in the finished file. The noise floor is that of the '
    "quietest half second, −∞ is digital silence; head and tail are the silence before the first "
    "word and after the last. ACX wants RMS −23 to −18 dB, peaks of at most −3 dB, a noise floor "
    "of at most −60 dB, 0.5 to 1 s of room tone at the head of each file and 1 to 5 s at its tail, "
    "and 120 minutes at most; --loudness acx --format mp3 --split-chapters aims at it.</p>"
)


def _whole_file(facts: Facts) -> str:
    """The levels of a book that is one file; of several the table has them all."""
    if len(facts.measured.files) != 1:
        return ""
    file = facts.measured.files[0]
    _, verdict = acx_verdict(file.acx)
    more = ""
    if file.noise_floor_db is not None:
        more += f", noise floor {shown_db(file.noise_floor_db)} dB"
    if file.head_s is not None and file.tail_s is not None:
        more += f", head {file.head_s:.2f} s, tail {file.tail_s:.2f} s"
    return (
        f"<p>{safe(file.name)} as a whole: {shown_db(file.lufs)} LUFS, peak "
        f"{shown_db(file.true_peak_dbtp)} dBTP, RMS {shown_db(file.rms_db)} dB{more}. "
        f"Meets ACX: {safe(said(verdict[:1].lower() + verdict[1:]))}</p>"
    )


def _seconds(value: float | None) -> str:
    if value is None:
        return '<td class="number" data-sort="-1">–</td>'
    return _cell(value, f"{value:.2f}")


def _cell(value: float, shown: str) -> str:
    return f'<td class="number" data-sort="{value:.6g}">{safe(shown)}</td>'


def _level(value: float | None) -> str:
    if value is None:
        return '<td class="number" data-sort="-999">–</td>'
    return _cell(max(value, -998.0), shown_db(value))


def dropped_section(facts: Facts) -> str:
    """What of the book is not spoken, by reason."""
    if not facts.dropped:
        return '<p class="calm">Nothing: every word of the book is spoken.</p>'
    by_reason: dict[str, list[tuple[str, str]]] = {}
    for dropped in facts.dropped:
        by_reason.setdefault(dropped.reason, []).append((dropped.where, dropped.text))
    groups = sorted(by_reason.items(), key=lambda pair: -sum(len(t.split()) for _, t in pair[1]))
    shown = []
    for reason, items in groups:
        words = sum(len(text.split()) for _, text in items)
        rows = "".join(
            f"<li><code>{safe(where)}</code> {quoted(text, facts.language)}</li>"
            for where, text in items[:MAX_DROPPED]
        )
        more = len(items) - MAX_DROPPED
        rest = f'<p class="note">And {more:,} more in dropped.jsonl.</p>' if more > 0 else ""
        name = reason[:1].upper() + reason[1:]
        shown.append(
            f'<details><summary>{safe(name)} <span class="more">{plural(words, "word")} in '
            f'{plural(len(items), "place")}</span></summary><ul class="places">{rows}</ul>{rest}'
            "</details>"
        )
    return "".join(shown)
