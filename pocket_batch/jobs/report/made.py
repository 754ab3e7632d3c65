"""How it was made, for a page: engine, voices, licences, times, and the speed over the run."""

from itertools import pairwise

import numpy as np

from pocket_batch.jobs.redone import read_redone
from pocket_batch.jobs.report import charts
from pocket_batch.jobs.report.facts import Facts, at, number_at, text_at
from pocket_batch.jobs.report.markup import pairs, safe
from pocket_batch.words import duration, plural, size

MIN_UTTERANCES = 5
SPEED_BINS = 60
MAX_FILES = 20


def speed_section(facts: Facts) -> str:
    """How fast the engine was, from the first utterance to the last."""
    spoken = [u for u in facts.utterances.values() if u.compute_s > 0 and u.sampling_rate_hz]
    if len(spoken) < MIN_UTTERANCES:
        return ""
    ends = np.cumsum([u.num_samples / u.sampling_rate_hz for u in spoken])
    compute = np.cumsum([u.compute_s for u in spoken])
    edges = np.unique(np.linspace(0, len(spoken), min(SPEED_BINS, len(spoken)) + 1).astype(int))
    points = []
    for begin, end in pairwise(edges.tolist()):
        before_s = float(ends[begin - 1]) if begin else 0.0
        before_compute = float(compute[begin - 1]) if begin else 0.0
        audio_s = float(ends[end - 1]) - before_s
        speed = audio_s / max(1e-9, float(compute[end - 1]) - before_compute)
        points.append((before_s + audio_s / 2, speed))
    overall = float(ends[-1] / compute[-1])
    told = (
        f"On the whole one worker made {overall:.1f} seconds of speech a second. Across: speech "
        "made so far."
    )
    up = charts.value_axis([0.0, *(y for _, y in points)], 1.0, "×")
    across = charts.time_axis(float(ends[-1]))
    svg = charts.line_chart(points, across, up, "Speed of a worker, times real time", told)
    head = "<h3>Speed of the engine</h3>"
    return f"<figure>{head}{svg}<figcaption>{safe(told)}</figcaption></figure>"


def making_section(facts: Facts) -> str:
    """Engine, voices, licences, seed, times and versions."""
    run = facts.run
    redone = read_redone(facts.work)
    voices = [at(run, "voice"), *(at(run, "cast") or {}).values()]
    licences = "<br>".join(
        f"{safe(text_at(v, 'name'))}: {safe(text_at(v, 'licence') or 'unknown')}"
        for v in voices
        if isinstance(v, dict)
    )
    engine = " ".join(text_at(run, "engine", n) for n in ("name", "version", "model")).strip()
    precision = text_at(run, "engine", "identity", "precision")
    times = " · ".join(
        f"{name} {duration(seconds) if seconds >= 1 else f'{seconds:.2f} s'}"
        for name, seconds in (at(run, "times_s") or {}).items()
        if isinstance(seconds, int | float)
    )
    files = "<br>".join(
        f"{safe(text_at(o, 'path'))} ({size(number_at(o, 'num_bytes'))}, "
        f"SHA-256 <code>{safe(text_at(o, 'sha256')[:16])}…</code>)"
        for o in (at(run, "outputs") or ())[:MAX_FILES]
    )
    rows = [
        ("Files", files),
        ("Book", safe(text_at(run, "source", "path"))),
        ("Book SHA-256", f"<code>{safe(text_at(run, 'source', 'sha256'))}</code>"),
        ("Engine", safe(f"{engine} in {precision}" if precision else engine)),
        ("Voice", "<br>".join(_voice(v) for v in voices if isinstance(v, dict))),
        ("Licences", licences),
        ("Language", safe(facts.language)),
        ("Seed", safe(text_at(run, "seed"))),
        ("Redone", plural(len(redone), "line") + " (redo.jsonl)" if redone else ""),
        ("Executor", safe(text_at(run, "executor"))),
        ("Times", safe(times)),
        ("Began", safe(text_at(run, "started_at"))),
        ("Ended", safe(text_at(run, "finished_at"))),
        ("Command", f"<code>{safe(text_at(run, 'command'))}</code>"),
    ]
    versions = at(run, "versions") or {}
    shown = " · ".join(f"{safe(name)} {safe(value)}" for name, value in versions.items())
    return pairs(rows) + f"<details><summary>Versions</summary><p>{shown}</p></details>"


def _voice(voice: dict[str, object]) -> str:
    about = text_at(voice, "description")
    return safe(text_at(voice, "name")) + (
        f' <span class="more">{safe(about)}</span>' if about else ""
    )
