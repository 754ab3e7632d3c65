"""What the package document says about the book: title, authors, dates, series, cover."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pocket_batch.data import Cover
from pocket_batch.errors import InputError
from pocket_batch.sources.archive import Archive
from pocket_batch.sources.blocks import read_blocks
from pocket_batch.sources.book_language import declared_language
from pocket_batch.sources.markup import (
    Element,
    attribute,
    fold,
    local_name,
    parse_xhtml,
    text_of,
)
from pocket_batch.sources.package import Item, Package

MAX_COVER_BYTES = 32 * 2**20
DUBLIN_CORE = "http://purl.org/dc/elements/1."
# 2014-05-25T00:00:00Z -> 2014-05-25
DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")


@dataclass(frozen=True, slots=True)
class Metadata:
    """The bibliographic part of a `Book`, under the same names."""

    title: str
    authors: tuple[str, ...]
    language: str
    date: str
    publisher: str
    series: str
    series_part: str
    description: str
    subjects: tuple[str, ...]
    identifiers: tuple[str, ...]


class _Elements:
    """Dublin Core elements and `meta` properties by name, with what refines them."""

    def __init__(self, root: Element | None) -> None:
        self._all = [e for e in root.iter() if local_name(e)] if root is not None else []
        self._refinements: dict[tuple[str, str], str] = {}
        for meta in self.metas():
            target = meta.get("refines", "").lstrip("#")
            if target and meta.get("property"):
                key = (target, meta.get("property").rpartition(":")[2])
                self._refinements.setdefault(key, text_of(meta))

    def metas(self) -> Iterator[Element]:
        """All `meta` elements."""
        return (e for e in self._all if local_name(e) == "meta")

    def core(self, name: str) -> list[Element]:
        """The Dublin Core elements of a name that are not empty."""
        return [
            e
            for e in self._all
            if local_name(e) == name and DUBLIN_CORE in e.tag.lower() and text_of(e)
        ]

    def refinement(self, element: Element, name: str) -> str:
        """What an attribute or a refining `meta` says about an element, such as its role."""
        own = attribute(element, name)  # EPUB 2: opf:role="aut" on the element itself
        return own or self._refinements.get((element.get("id", ""), name), "")

    def named(self, name: str) -> str:
        """`<meta name="calibre:series" content="..."/>` -> the content."""
        found = (m.get("content", "") for m in self.metas() if m.get("name") == name)
        return fold(next(found, ""))

    def first(self, name: str) -> str:
        """The text of the first Dublin Core element of a name; empty without one."""
        return next(map(text_of, self.core(name)), "")


def read_metadata(package: Package, warnings: list[str]) -> Metadata:
    """Collect the metadata of a package; what is missing is empty."""
    elements = _Elements(package.root)
    series, part = _series(elements)
    return Metadata(
        title=_title(elements),
        authors=tuple(dict.fromkeys(_authors(elements))),
        language=declared_language(map(text_of, elements.core("language")), warnings),
        date=_date(elements),
        publisher=elements.first("publisher"),
        series=series,
        series_part=part,
        description=_without_markup(elements.first("description")),
        subjects=tuple(dict.fromkeys(map(text_of, elements.core("subject")))),
        identifiers=tuple(dict.fromkeys(map(text_of, elements.core("identifier")))),
    )


def read_cover(archive: Archive, package: Package) -> Cover | None:
    """The cover picture by `cover-image`, `meta name="cover"` or the guide; None without one."""
    for item in _cover_items(archive, package):
        if not item.name or not item.media_type.startswith("image/"):
            continue
        if item.media_type.startswith("image/svg"):
            continue  # a drawing, which neither audio files nor players can show
        try:
            return Cover(archive.read(item.name, MAX_COVER_BYTES), item.media_type)
        except InputError as error:
            archive.warnings.append(f"The cover cannot be read: {error}")
    return None


def _cover_items(archive: Archive, package: Package) -> Iterator[Item]:
    items = package.items
    yield from (item for item in items.values() if "cover-image" in item.properties)
    named = _Elements(package.root).named("cover")
    if named in items:
        yield items[named]
    by_name = {item.name: item for item in items.values() if item.name}
    for name in (named, *(r.name for r in package.guide if r.type == "cover")):
        found = archive.resolve(package.name, name)[0] if name == named else name
        item = by_name.get(found)
        if item is None:
            continue
        yield item
        if item.is_text:
            yield from _pictures_in(archive, item, by_name)


def _pictures_in(archive: Archive, page: Item, by_name: dict[str, Item]) -> Iterator[Item]:
    try:
        root = parse_xhtml(archive.read(page.name), page.name).root
    except InputError:
        return  # reported when the text is read
    for element in root.iter():
        if local_name(element) in ("img", "image"):
            href = attribute(element, "src") or attribute(element, "href")
            name = archive.resolve(page.name, href)[0] if href else ""
            if name in by_name:
                yield by_name[name]


def _title(elements: _Elements) -> str:
    titles = elements.core("title")
    main = (e for e in titles if elements.refinement(e, "title-type") == "main")
    element = next(main, titles[0] if titles else None)
    return text_of(element) if element is not None else ""


def _authors(elements: _Elements) -> list[str]:
    creators = [(text_of(e), elements.refinement(e, "role")) for e in elements.core("creator")]
    written = [name for name, role in creators if role in ("aut", "")]
    return written or [name for name, _ in creators]


def _date(elements: _Elements) -> str:
    dates = [(text_of(e), attribute(e, "event")) for e in elements.core("date")]
    for events in (("publication", "published", "original-publication"), ("", "creation")):
        for text, event in dates:
            # the year 101 stands for an unknown date
            if event in events and not text.startswith("0101-01"):
                match = DATE.match(text)
                return match.group(0) if match else text
    return ""


def _series(elements: _Elements) -> tuple[str, str]:
    for meta in elements.metas():
        kind = elements.refinement(meta, "collection-type")
        if meta.get("property") == "belongs-to-collection" and kind in ("series", ""):
            return text_of(meta), elements.refinement(meta, "group-position")
    part = elements.named("calibre:series_index")
    return elements.named("calibre:series"), part.removesuffix(".0")


def _without_markup(description: str) -> str:
    if "<" not in description:
        return description
    data = f"<html><body>{description}</body></html>".encode()
    pieces = read_blocks(parse_xhtml(data, "description").root, "description")
    return " ".join(piece.text for piece in pieces.items if piece.text)
