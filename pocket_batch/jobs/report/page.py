"""The page as a whole: `page.html` with its style, its script, and the sections of a run."""

import base64
from hashlib import sha256
from pathlib import Path
from string import Template

from pocket_batch.jobs.report import made, parts
from pocket_batch.jobs.report.cards import suspects_section
from pocket_batch.jobs.report.facts import Facts, at, text_at
from pocket_batch.jobs.report.levels import measure_levels
from pocket_batch.jobs.report.markup import safe
from pocket_batch.jobs.report.suspects import list_suspects

_STATES = {
    "done": ("Finished", "good"),
    "partial": ("Finished, not whole", "off"),
    "running": ("Not finished", "off"),
    "stopped": ("Stopped", "off"),
    "failed": ("Failed", "bad"),
}


def make_page(facts: Facts, live: bool = False) -> str:
    """The HTML of a report: one file that asks for nothing else.

    Args:
        facts: of the run.
        live: for `pocket-batch listen`, whose page plays every utterance and can redo.
    """
    levels, curve = measure_levels(facts)
    found = list_suspects(facts)
    titles = {level.number: level.title for level in levels} | _titles(facts)
    style, script = _resource("page.css"), _resource("page.js")
    state, colour = _STATES.get(text_at(facts.run, "status"), ("Unknown", "off"))
    title = text_at(facts.book, "title") or facts.work.path.stem
    authors = [str(name) for name in at(facts.book, "authors") or ()]
    return Template(_resource("page.html")).substitute(
        policy=_policy(style, script, live),
        style=style,
        script=script,
        mode="live" if live else "file",
        title=safe(title),
        byline=f"by <bdi>{safe(', '.join(authors))}</bdi>" if authors else "",
        state=safe(state),
        colour=colour,
        made=safe(_moment(text_at(facts.run, "finished_at") or text_at(facts.run, "started_at"))),
        num_suspects=f"{len(found):,}",
        summary=parts.summary(facts, levels, found),
        suspects=suspects_section(facts, found, titles, live),
        lines=_lines(facts, titles) if live else "",
        lines_link='<li><a href="#lines">Lines</a></li>' if live else "",
        loudness=parts.loudness_section(facts, levels, curve),
        rates=parts.rate_section(facts),
        chapters=parts.chapters_section(facts, levels, found),
        dropped=parts.dropped_section(facts),
        speed=made.speed_section(facts),
        making=made.making_section(facts),
    )


def _moment(stamp: str) -> str:
    """`2026-11-30T09:29:42+0000` -> `2026-11-30 09:29`."""
    return stamp[:16].replace("T", " ")


def _titles(facts: Facts) -> dict[int, str]:
    """Titles of the chapters of the script, those of which nothing was spoken too."""
    found = {}
    for chapter in at(facts.book, "chapters") or ():
        number = at(chapter, "number")
        if isinstance(number, int):
            found[number] = text_at(chapter, "title")
    return found


def _lines(facts: Facts, titles: dict[int, str]) -> str:
    """All lines by chapter; a chapter is fetched when it is opened."""
    numbers = dict.fromkeys(place.segment.chapter for place in facts.places)
    groups = "".join(
        f'<details class="chapter" data-chapter="{n}"><summary>'
        f"<bdi>{safe(titles.get(n) or f'Chapter {n}')}</bdi></summary>"
        '<ol class="lines"></ol></details>'
        for n in numbers
    )
    head = '<section id="lines" aria-labelledby="h-lines"><h2 id="h-lines">All lines</h2>'
    return f"{head}{groups}</section>"


def _policy(style: str, script: str, live: bool) -> str:
    """What the page may do: run its own script, and nothing that a text could smuggle in."""
    own = "'self'" if live else "'none'"
    media = "data: 'self'" if live else "data:"
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        f"img-src data:; media-src {media}; connect-src {own}; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _resource(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
