"""The promise: every visible character is spoken once, or listed with its place and reason.

Documents are made of numbered words, each in its own text node, in letters that the reader itself
never adds: so each can be found again, whatever was put between them.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from lxml import etree

from pocket_batch.settings import ReadSettings
from pocket_batch.sources.base import read_book

WriteEpub = Callable[..., Path]
Draw = Callable[[st.SearchStrategy[str]], str]

GREEK = "αβγδεζηθικ"
WORD = re.compile(f"Ω[{GREEK}]+")
SHOWN = etree.XPath(
    "//*[local-name()='body']//text()[not(ancestor::*[local-name()='script' or local-name()='style'"
    " or local-name()='title' or local-name()='desc' or local-name()='template'])]"
)
INLINE = ("em", "b", "span", "code", "small", "u", "q", "sub", "sup", "a", "cite", "del")
BLOCKS = ("p", "div", "blockquote", "h2", "h4", "section", "article", "figure", "pre", "li", "dd")
TYPES = (
    *("copyright-page", "toc", "index", "bibliography", "dedication", "halftitlepage"),
    *("footnote", "endnotes", "footnotes", "pagebreak", "loi", "landmarks"),
)
ATTRIBUTES = (
    *("", ' hidden="hidden"', ' style="display:none"', ' aria-hidden="true"', ' lang="fr"'),
    *(' xml:lang="de"', ' class="pagenum"', ' class="footnote"', ' class="poem"', ' id="x"'),
    *(' role="doc-footnote"', ' role="heading"', ' class="gone"', ' class="linenum"', ' title="t"'),
    *(' role="navigation"', ' epub:type="backlink"', ' ssml:ph="a"', ' data-latex="y"'),
)
PLAIN = (
    *("<br/>", "<wbr/>", "<!-- Latin -->", "<?pi Latin?>", "<img alt='Latin'/>", "<img alt='L'/>"),
    *("<script>Latin</script>", "<break time='1s'/>", "<a id='y'/>", "<hr/>", " ", "\n"),
)


class Maker:
    """Draws a document; words are numbered in the order of the text."""

    def __init__(self, draw: Draw, first: int = 1) -> None:
        self._draw = draw
        self._numbers = count(first)

    def word(self) -> str:
        """Give the next word, with or without space around."""
        digits = "".join(GREEK[int(digit)] for digit in str(next(self._numbers)))
        return self._draw(st.sampled_from(("Ω{}", " Ω{}", "Ω{} ", "Ω{}. "))).format(digits)

    def body(self, depth: int = 4) -> str:
        """Make any number of blocks."""
        return "".join(self._block(depth) for _ in range(self._number(1, 4)))

    def _number(self, least: int, most: int) -> int:
        return int(self._draw(st.integers(least, most).map(str)))

    def _one_of(self, choices: tuple[str, ...]) -> str:
        return self._draw(st.sampled_from(choices))

    def _attributes(self) -> str:
        if self._number(0, 3):
            return ""
        return self._one_of((*ATTRIBUTES, *(f' epub:type="{kind}"' for kind in TYPES)))

    def _inline(self, depth: int) -> str:
        kind = self._number(0, 14)
        if kind < 4 or depth <= 0:
            return self.word()
        if kind < 7:
            tag = self._one_of(INLINE)
            return f"<{tag}{self._attributes()}>{self._inlines(depth - 1)}</{tag}>"
        if kind == 7:
            return self._one_of(PLAIN)
        number = self._one_of(tuple("01234"))
        match kind:
            case 8:
                parts = [f"{self.word()}<rp>(</rp><rt>{self.word()}</rt><rp>)</rp>" for _ in "ab"]
                return f"<ruby>{''.join(parts)}{self.word()}<rt/></ruby>"
            case 9:
                mark = self._one_of(("{}", "<sup>{}</sup>", "[{}]")).format(number)
                declared = self._one_of(('epub:type="noteref" ', ""))
                return f'<a {declared}id="r{number}" href="n.xhtml#n{number}">{mark}</a>'
            case 10:
                return (
                    f"<svg><title>Latin</title><text>{self.word()}<tspan>{self.word()}</tspan>"
                    f"{self.word()}</text><g><desc>Latin</desc><text>{self.word()}</text></g></svg>"
                )
            case 11:
                return (
                    f"<math><mfrac><mi>{self.word()}</mi><msup><mtext>{self.word()}</mtext>"
                    f"<mn>2</mn></msup></mfrac><mrow>{self.word()}</mrow></math>"
                )
            case 12:
                return f'<sub alias="alias">{self.word()}</sub>'
            case 13:
                kind_of = self._one_of(("characters", "date", "ordinal"))
                return f'<say-as interpret-as="{kind_of}">{self._inlines(0)}</say-as>'
            case _:
                if self._number(0, 1):
                    return f"<object>{self.word()}</object>"
                return f"<select><option>{self.word()}</option></select>"

    def _inlines(self, depth: int) -> str:
        return "".join(self._inline(depth) for _ in range(self._number(1, 4)))

    def _block(self, depth: int) -> str:
        kind = self._number(0, 11)
        if kind < 5 or depth <= 0:
            tag = self._one_of(BLOCKS)
            return f"<{tag}{self._attributes()}>{self._inlines(2)}</{tag}>"
        if kind < 8:
            tag = self._one_of(("div", "section", "blockquote", "aside", "nav"))
            return f"<{tag}{self._attributes()}>{self.body(depth - 1)}{self.word()}</{tag}>"
        match kind:
            case 8:
                tag = self._one_of(("ol", "ul", "dl"))
                items = (f"<li>{self._inlines(1)}{self.body(depth - 2)}</li>" for _ in "ab")
                return f"<{tag}>{''.join(items)}</{tag}>"
            case 9:
                return self._table(depth)
            case 10:
                return self._inlines(2)
            case _:
                links = (f'<li><a href="c.xhtml#x">{self.word()}</a></li>' for _ in "abc")
                return f"<ul>{''.join(links)}</ul>"

    def _table(self, depth: int) -> str:
        caption = self._one_of(("", "c"))
        table = f"<caption>{self._inlines(1)}</caption>" if caption else ""
        tag = self._one_of(("th", "td"))
        num_columns = range(self._number(1, 4))
        table += "<tr>" + "".join(f"<{tag}>{self.word()}</{tag}>" for _ in num_columns) + "</tr>"
        for _ in range(self._number(1, 2)):
            cells = (f"<td>{self._cell(depth - 1)}</td>" for _ in num_columns)
            table += f"<tr>{''.join(cells)}</tr>"
        return f"<table{self._attributes()}>{table}</table>"

    def _cell(self, depth: int) -> str:
        return self.body(depth - 1) if not self._number(0, 3) else self._inlines(1)


@st.composite
def books(draw: Draw) -> dict[str, str]:
    """Make two documents, the second of notes."""
    maker = Maker(draw)
    text = maker.body()
    notes = ""
    for number in range(4):
        note = maker.word() + draw(st.sampled_from(("", f'<a href="c.xhtml#r{number}">↩</a>')))
        form = ('<p id="n{0}">{0} {1}</p>', '<aside epub:type="footnote" id="n{0}">{1}</aside>')
        notes += draw(st.sampled_from(form)).format(number, note)
    end = "".join(maker.word() for _ in range(20))
    notes = draw(st.sampled_from(("{}", '<section epub:type="endnotes">{}</section>'))).format(
        notes
    )
    return {"c.xhtml": text, "n.xhtml": f"{notes}<p>{end}</p>"}


SETTINGS = st.builds(
    ReadSettings,
    notes=st.sampled_from(("drop", "inline", "chapter-end")),
    keep_matter=st.booleans(),
    keep_non_linear=st.booleans(),
    alt=st.booleans(),
    tables=st.sampled_from(("read", "announce", "skip")),
    code=st.sampled_from(("read", "announce", "skip")),
    formulas=st.sampled_from(("read", "announce", "skip")),
    drawings=st.sampled_from(("read", "announce", "skip")),
    ruby=st.sampled_from(("base", "reading")),
)


def document(body: str) -> str:
    """Return an XHTML document with a style sheet that hides a class."""
    return (
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" '
        'xmlns:ssml="http://www.w3.org/2001/10/synthesis"><head><title>Latin</title>'
        f"<style>.gone {{ display: none }}</style></head><body>{body}</body></html>"
    )


def shown(documents: dict[str, str]) -> Iterator[str]:
    """Give the text nodes that a reader sees."""
    for markup in documents.values():
        yield from SHOWN(etree.fromstring(markup))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return one file for all examples."""
    return tmp_path_factory.mktemp("every") / "book.epub"


@given(books(), SETTINGS)
@hypothesis_settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
def test_every_word_is_spoken_or_listed_exactly_once(
    path: Path, write: WriteEpub, bodies: dict[str, str], settings: ReadSettings
) -> None:
    documents = {name: document(body) for name, body in bodies.items()}
    book = read_book(write(path, dict(documents)), settings)
    spoken = [b.text for chapter in book.chapters for b in chapter.blocks]
    listed = [item.text for item in book.dropped]
    repeated = set(WORD.findall(" ".join(re.findall(r"<th>.*?</th>", documents["c.xhtml"]))))
    found = Counter(WORD.findall("\n".join(map(unspelled, spoken + listed))))
    expected = Counter(WORD.findall("\n".join(shown(documents))))
    assert set(found) == set(expected)
    assert {word for word, number in found.items() if number > 1} <= repeated
    if settings.notes == "drop":
        order = [word for text in spoken for word in WORD.findall(unspelled(text))]
        order = [word for word in order if word not in repeated]
        assert order == sorted(order, key=lambda word: (len(word), word))
    assert all(item.where.rpartition(":")[2].isdecimal() for item in book.dropped)
    told = (item.text for item in book.dropped if item.reason != "note heading")
    assert "Latin" not in " ".join(told)  # nothing is listed that is not written


def unspelled(text: str) -> str:
    """Join words that were spelled: "Ω α β" -> "Ωαβ"."""
    return re.sub(f"(?<=[Ω{GREEK}]) (?=[{GREEK}])", "", text)


# What the reader adds, or takes for an ornament between paragraphs.
ADDED = re.compile(r"[\s,.:“”*·•…⁂❦❧☙~_=#+◆◇■□●○✦✧★☆※–—⁻−-]")
CHARACTERS = st.text(
    st.characters(codec="utf-8", categories=("L", "M", "N", "P", "S", "Z", "Cf")), max_size=12
)


@given(st.lists(st.tuples(st.sampled_from((*INLINE, "p", "div", "td")), CHARACTERS), min_size=1))
@hypothesis_settings(max_examples=150, deadline=None, derandomize=True)
def test_no_character_of_any_script_is_lost(
    path: Path, write: WriteEpub, parts: list[tuple[str, str]]
) -> None:
    root = etree.Element("div")
    for tag, text in parts:
        element = etree.SubElement(root, tag)
        element.text = element.tail = text
    body = etree.tostring(root, encoding="unicode")
    book = read_book(write(path, {"c.xhtml": document(f"{body}<p>End</p>")}))
    spoken = [b.text for chapter in book.chapters for b in chapter.blocks]
    found = "".join([*spoken, *(item.text for item in book.dropped)])
    assert characters(found) == characters("".join(text * 2 for _, text in parts) + "End")


def characters(text: str) -> Counter[str]:
    """Count characters without what the reader adds; raised digits are digits."""
    return Counter(ADDED.sub("", unicodedata.normalize("NFKD", text)))
