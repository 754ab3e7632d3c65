"""The suspects of a page: what is wrong, text and what was heard, outline, sound, how to redo."""

import shlex
from collections.abc import Sequence

from pocket_batch.jobs.report import charts
from pocket_batch.jobs.report.clips import Clip, make_clip
from pocket_batch.jobs.report.difference import differences
from pocket_batch.jobs.report.facts import Facts, Place
from pocket_batch.jobs.report.markup import clock, differing, quoted, safe
from pocket_batch.jobs.report.suspects import FAILED, Listed, kind_name
from pocket_batch.words import plural

MAX_LISTED = 500
MAX_CLIPS = 100
MAX_CLIP_BYTES = 6_500_000  # of sound as text: a page stays below ten megabytes


def suspects_section(
    facts: Facts, found: Sequence[Listed], titles: dict[int, str], live: bool
) -> str:
    """The list of suspects with its filters.

    Args:
        facts: of the run.
        found: in reading order; the worst have room if there is not enough for all.
        titles: of chapters by number.
        live: sound comes from the server of the page, which can speak utterances anew as well.
    """
    if not found:
        return (
            '<p class="calm">Nothing is suspect: every utterance of the script was spoken, and '
            "passed all checks that were on.</p>"
        )
    worst = sorted(found, key=lambda item: -item.severity)[:MAX_LISTED]
    listed = {item.key for item in worst}
    cards, num_bytes, num_clips, num_mute = [], 0, 0, 0
    sounding = {item.key for item in worst[:MAX_CLIPS]}
    for position, item in enumerate(item for item in found if item.key in listed):
        has_room = num_bytes < MAX_CLIP_BYTES and item.key in sounding
        clip = make_clip(facts, item.key, with_sound=has_room and not live)
        if clip is not None and clip.uri:
            num_bytes, num_clips = num_bytes + len(clip.uri), num_clips + 1
        num_mute += clip is not None and not clip.uri
        cards.append(_card(facts, item, clip, titles, position, live))
    return (
        _limits(len(found), len(cards), num_clips, 0 if live else num_mute)
        + _controls(found, titles)
        + f'<ol id="cards" class="cards">{"".join(cards)}</ol>'
        + '<p id="none" class="calm" hidden>No utterance fits these filters.</p>'
    )


def _limits(num_found: int, num_listed: int, num_clips: int, num_mute: int) -> str:
    """What the page leaves out, said at its place."""
    told = []
    if num_listed < num_found:
        told.append(
            f"The {num_listed:,} worst of {num_found:,} are listed; checks.jsonl and scores.jsonl "
            "have all."
        )
    if num_mute:
        told.append(
            f"{plural(num_clips, 'utterance')} can be heard in this file; "
            "<code>pocket-batch listen</code> plays all that there are."
        )
    return f'<p class="note">{" ".join(told)}</p>' if told else ""


def _controls(found: Sequence[Listed], titles: dict[int, str]) -> str:
    counts: dict[str, int] = {}
    for item in found:
        for kind in item.kinds:
            counts[kind] = counts.get(kind, 0) + 1
    kinds = "".join(
        f'<option value="{safe(kind)}">{safe(kind_name(kind))} ({count})</option>'
        for kind, count in sorted(counts.items(), key=lambda pair: -pair[1])
    )
    numbers = dict.fromkeys(place.segment.chapter for item in found for place in item.places)
    chapters = "".join(
        f'<option value="{n}">{safe(_chapter(n, titles))}</option>' for n in sorted(numbers)
    )
    return f"""
<form id="filters" class="filters" role="search" aria-label="Filter the suspects">
  <label>Search <input id="find" type="search" autocomplete="off"></label>
  <label>Problem <select id="kind"><option value="">all</option>{kinds}</select></label>
  <label>Chapter <select id="chapter"><option value="">all</option>{chapters}</select></label>
  <label>Order <select id="order"><option value="place">as in the book</option>
    <option value="severity">worst first</option><option value="wer">most words wrong</option>
    <option value="length">longest first</option></select></label>
  <p id="count" role="status" class="count">{len(found):,} shown</p>
</form>"""


def _card(
    facts: Facts,
    item: Listed,
    clip: Clip | None,
    titles: dict[int, str],
    position: int,
    live: bool,
) -> str:
    place = item.places[0]
    name = f"Segment {place.segment.id}"
    chips = "".join(
        f'<li class="{"bad" if kind == FAILED else ""}">{safe(kind_name(kind))}</li>'
        for kind in item.kinds
    )
    sentences = "".join(f"<p>{safe(sentence)}</p>" for sentence in item.sentences)
    attributes = {
        "data-key": item.key,
        "data-segment": place.segment.id,
        "data-kinds": " ".join(item.kinds),
        "data-chapters": " ".join(str(p.segment.chapter) for p in item.places),
        "data-place": position,
        "data-severity": f"{item.severity:.4f}",
        "data-wer": f"{item.wer or 0.0:.4f}",
        "data-length": f"{place.duration_s:.2f}",
    }
    data = " ".join(f'{k}="{safe(v)}"' for k, v in attributes.items())
    return (
        f'<li class="card" {data}><article aria-labelledby="s{position}">'
        f'<header><h3 id="s{position}">{_where(place, titles)}</h3>'
        f'<ul class="chips" aria-label="Problems">{chips}</ul></header>'
        f'<div class="reasons">{sentences}</div>'
        f"{_texts(facts, item)}{_player(item, clip, name, live)}"
        f"{_figures(item)}{_redo(facts, place, live)}</article></li>"
    )


def _where(place: Place, titles: dict[int, str]) -> str:
    """`Chapter 3, Down the hole · 12:34 · 003-0007`."""
    time = (
        f' <span class="at">at {clock(place.begin_s)}</span>' if place.begin_s is not None else ""
    )
    return (
        f"<bdi>{safe(_chapter(place.segment.chapter, titles))}</bdi>{time} "
        f'<code class="id">{safe(place.segment.id)}</code>'
    )


def _chapter(number: int, titles: dict[int, str]) -> str:
    return titles.get(number) or f"Chapter {number}"


def _texts(facts: Facts, item: Listed) -> str:
    """The text, and beside it what was heard, with the difference marked."""
    language = facts.language
    if item.heard is None:
        return (
            f'<div class="texts"><div><h4>Text</h4><p>{quoted(item.text, language)}</p></div></div>'
        )
    said, got = differences(item.text, item.heard, language or "en")
    heard = differing(got, "ins", language) if got else "<em>nothing</em>"
    return (
        f'<div class="texts two"><div><h4>Text</h4><p>{differing(said, "del", language)}</p></div>'
        f"<div><h4>Heard</h4><p>{heard}</p></div></div>"
    )


def _player(item: Listed, clip: Clip | None, name: str, live: bool) -> str:
    if clip is None:
        return '<p class="silent">No audio of it is kept.</p>'
    wave = charts.waveform(clip.bars)
    source = f"audio/{safe(item.key)}.flac" if live else clip.uri
    length = clock(clip.duration_s) if clip.duration_s >= 10 else f"{clip.duration_s:.1f} s"
    if not source:
        return f'<div class="player mute">{wave}<span class="length">{length}</span></div>'
    return (
        f'<div class="player"><button type="button" class="play" aria-label="Play {safe(name)}">'
        '<span aria-hidden="true"></span></button>'
        f'<div class="track">{wave}<input type="range" class="seek" min="0" max="1000" value="0" '
        f'aria-label="Position in {safe(name)}"></div>'
        f'<span class="length">{length}</span>'
        f'<audio preload="none" controls src="{source}"></audio></div>'
    )


def _figures(item: Listed) -> str:
    """Numbers that tell something, in one line."""
    told = []
    if item.wer is not None:
        told.append(f"word error rate {100 * item.wer:.0f}%")
    for name, unit, form in (
        ("letters_per_s", " letters a second", "{:.1f}"),
        ("rms_db", " dB RMS", "{:.1f}"),
        ("longest_gap_s", " s longest gap", "{:.2f}"),
    ):
        value = item.scores.get(name)
        if isinstance(value, int | float):
            told.append(form.format(value).replace("-", "−") + unit)
    if item.num_attempts > 1:
        told.append(f"best of {item.num_attempts} attempts")
    if item.is_split:
        told.append("spoken in two parts")
    if len(item.places) > 1:
        told.append(f"heard {len(item.places)} times: {', '.join(_ids(item))}")
    return f'<p class="figures">{" · ".join(safe(text) for text in told)}</p>' if told else ""


def _ids(item: Listed) -> list[str]:
    ids = [place.segment.id for place in item.places]
    return ids if len(ids) <= 6 else [*ids[:6], "..."]


def _redo(facts: Facts, place: Place, live: bool) -> str:
    """How to speak it anew: a form where there is a server, else the command."""
    if live:
        return (
            '<form class="redo"><label>Text to speak <textarea rows="2" spellcheck="true">'
            f"{safe(place.segment.text)}</textarea></label>"
            '<button type="submit">Speak again</button>'
            '<p class="told" role="status"></p></form>'
        )
    command = f"pocket-batch redo {shlex.quote(facts.work.path.name)}"
    option = f'<span class="option">--segment {safe(shlex.quote(place.segment.id))}</span>'
    return (
        f'<div class="redo"><code>{safe(command)} {option}</code>'
        '<button type="button" class="copy">Copy</button></div>'
    )
