"""Texts of books in a page: escaped, and unable to disturb what is around them."""

import re
from collections.abc import Iterable, Sequence
from html import escape

from pocket_batch.jobs.report.difference import Part

# Characters that HTML forbids or that nobody sees; `\x07` -> `␇`, a lone surrogate -> `�`.
_CONTROLS = {code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A)}
_UNSAFE = re.compile(r"[\x7f-\x9f\ud800-\udfff￾￿]")


def safe(text: object) -> str:
    """Any text, to stand between tags or in the quotes of an attribute."""
    return escape(_UNSAFE.sub("�", str(text).translate(_CONTROLS)))


def quoted(text: str, language: str = "") -> str:
    """A text of a book, which may run in another direction than the page."""
    lang = f' lang="{safe(language)}"' if language else ""
    return f'<bdi class="words"{lang}>{safe(text)}</bdi>'


def differing(parts: Iterable[Part], tag: str, language: str) -> str:
    """The words of one side, what differs in `<del>` or `<ins>`."""
    shown = (safe(p.text) if p.is_same else f"<{tag}>{safe(p.text)}</{tag}>" for p in parts)
    return f'<bdi class="words" lang="{safe(language)}">{" ".join(shown)}</bdi>'


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """A list of names and values; the values are HTML, those that are empty are left out."""
    items = (f"<div><dt>{safe(k)}</dt><dd>{v}</dd></div>" for k, v in rows if v)
    return f"<dl>{''.join(items)}</dl>"


def table(caption: str, head: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]]) -> str:
    """A table that can be sorted; the first cell of a row is its header.

    Args:
        caption: for screen readers.
        head: name and class of each column; those of class `number` are sorted as numbers.
        rows: cells as whole `<td>` or `<th>` elements.
    """
    columns = "".join(
        f'<th scope="col" class="{kind}"><button type="button" class="sort">{safe(name)}'
        '<span class="arrow" aria-hidden="true"></span></button></th>'
        for name, kind in head
    )
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return (
        f'<div class="wide" role="region" aria-label="{safe(caption)}" tabindex="0">'
        f'<table class="sortable"><caption class="unseen">{safe(caption)}</caption>'
        f"<thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def clock(seconds: float) -> str:
    """`3725` -> `1:02:05`, `65` -> `1:05`."""
    whole = round(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
