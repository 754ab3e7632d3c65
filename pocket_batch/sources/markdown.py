"""Markdown -> Book: rendered to HTML by the CommonMark rules, then read like any document."""

import re
from pathlib import Path

from markdown_it import MarkdownIt

from pocket_batch.data import Book
from pocket_batch.errors import InputError
from pocket_batch.settings import ReadSettings
from pocket_batch.sources.base import sha256_of_file
from pocket_batch.sources.blocks import read_blocks
from pocket_batch.sources.book_language import language_tag
from pocket_batch.sources.chapters import build_chapters, cut_into_parts, omit_by_title
from pocket_batch.sources.flow import Flow, list_dropped, settle_omissions
from pocket_batch.sources.markdown_notes import mark_notes, separate_notes
from pocket_batch.sources.markup import Element, parse_xhtml
from pocket_batch.sources.note_texts import declared_notes
from pocket_batch.sources.notes import (
    NO_NOTES,
    index_notes,
    notes_of_document,
    plan_notes,
    survey_links,
)
from pocket_batch.sources.omit import plan_omissions
from pocket_batch.sources.plaintext import read_characters
from pocket_batch.sources.spoken_notes import place_notes

# "---\ntitle: Emma\n---\n" at the start of the file -> title: Emma
FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
# title: "Emma" -> title, "Emma"
SETTING = re.compile(r"^([A-Za-z][\w-]*)[ \t]*:[ \t]*(.*)$")
# - Jane Austen -> Jane Austen
LIST_ITEM = re.compile(r"^[ \t]*-[ \t]+(.+)$")
LINE = "data-source-line"


def read_markdown(path: Path, settings: ReadSettings) -> Book:
    """Read a Markdown file; headings make the chapters, YAML front matter the metadata.

    Raises:
        InputError: the file is empty, no text, or says nothing.
    """
    text, warnings = read_characters(path)
    facts, body, num_lines = split_front_matter(text)
    language = language_tag(_first(facts, "language") or _first(facts, "lang"))
    flow = Flow(language=language)
    root = _parse(body, path.name, num_lines)
    links = [
        (link, (path.name, link.get("href")[1:]))
        for link in root.iter("{*}a", "a")
        if link.get("href", "").startswith("#")
    ]
    notes = index_notes(survey_links(links, path.name), declared_notes(root, path.name))
    pieces = read_blocks(
        root,
        path.name,
        plan_notes(root, path.name, links, notes, settings) | plan_omissions(root, [], settings),
        settings=settings,
        language=language,
        notes=NO_NOTES if settings.notes == "drop" else notes_of_document(path.name, links, notes),
    )
    flow.append(path.name, pieces)
    headings = [piece for piece in flow.pieces if piece.rank == 1]
    title = _first(facts, "title") or (headings[0].text if len(headings) == 1 else path.stem)
    settle_omissions(flow, warnings)
    parts = cut_into_parts(flow, (), title, warnings)
    omit_by_title(parts, flow, settings)
    place_notes([part.pieces for part in parts], flow, settings, language)
    chapters = build_chapters(parts)
    if not chapters:
        raise InputError(f"{path}: text was expected, but nothing in it can be read aloud.")
    return Book(
        id=sha256_of_file(path),
        title=title,
        chapters=chapters,
        authors=tuple(facts.get("author", ()) or facts.get("authors", ())),
        language=language,
        date=_first(facts, "date"),
        publisher=_first(facts, "publisher"),
        series=_first(facts, "series"),
        description=_first(facts, "description"),
        dropped=list_dropped(flow),
        warnings=tuple(warnings),
    )


def split_front_matter(text: str) -> tuple[dict[str, list[str]], str, int]:
    """Take YAML front matter off: plain `name: value` lines, and lists of plain values.

    Returns:
        The values by lower-case name, the text after it, and the number of lines taken off.
    """
    match = FRONT_MATTER.match(text)
    if match is None:
        return {}, text, 0
    facts: dict[str, list[str]] = {}
    name = ""
    for line in match.group(1).splitlines():
        if setting := SETTING.match(line):
            name = setting.group(1).lower()
            facts[name] = _values(setting.group(2).strip())
        elif name and (item := LIST_ITEM.match(line)):
            facts[name].append(_unquoted(item.group(1)))
    return facts, text[match.end() :], match.group(0).count("\n")


def _values(value: str) -> list[str]:
    if value.startswith("[") and value.endswith("]"):
        return [_unquoted(item) for item in value[1:-1].split(",") if item.strip()]
    return [_unquoted(value)] if value else []


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def _first(facts: dict[str, list[str]], name: str) -> str:
    return next(iter(facts.get(name, ())), "")


def _parse(body: str, name: str, num_lines_before: int) -> Element:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    text, numbers = separate_notes(body)
    tokens = parser.parse(text)
    for token in tokens:
        if token.map is not None and token.nesting >= 0:
            token.attrSet(LINE, str(numbers[token.map[0]] + num_lines_before))
    html = parser.renderer.render(tokens, parser.options, {})
    root = parse_xhtml(f"<html><body>{html}</body></html>".encode(), name).root
    for element in root.iter():
        line = element.attrib.pop(LINE, None) if isinstance(element.tag, str) else None
        if line is not None and line.isdecimal():
            element.sourceline = int(line)
            parent = element.getparent()
            if parent is not None and parent.tag == "pre":
                parent.sourceline = int(line)
    mark_notes(root)
    return root
