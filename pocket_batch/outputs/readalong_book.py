"""The files of a book on their way into another EPUB: taken over, or made from its text."""

from contextlib import suppress
from dataclasses import replace

from lxml import etree

from pocket_batch.audio.cover import jpeg_of, usable_cover
from pocket_batch.data import Book, Chapter
from pocket_batch.errors import InputError
from pocket_batch.outputs.edition import Edition
from pocket_batch.outputs.epub_parts import Fact, facts_of, open_package
from pocket_batch.outputs.epub_writer import Shape
from pocket_batch.outputs.xhtml5 import XHTML, add_style_sheet
from pocket_batch.sources.archive import Archive
from pocket_batch.sources.markup import Element, local_name, parse_xhtml, semantic_types
from pocket_batch.sources.package import Item, Package
from pocket_batch.sources.toc import TocEntry

XML = "http://www.w3.org/XML/1998/namespace"


def edition_of_epub(archive: Archive, book: Book) -> Edition:
    """The files of an EPUB.

    Raises:
        InputError: its package document is not to be found again.
    """
    wheres = (block.where for chapter in book.chapters for block in chapter.blocks)
    package, navigation = open_package(archive, {w.rpartition(":")[0] for w in wheres if w})
    assert package.root is not None
    edition = Edition(book, package.name, archive)
    edition.take_over(package, archive)
    facts = facts_of(package)
    edition.state(facts, package.root.get("unique-identifier", ""))
    for fact in facts:  # records that are no items of the manifest
        if fact.name == "link":
            edition.take_linked(archive.resolve(package.name, fact.attributes.get("href", ""))[0])
    edition.active_class = _active_class(package.root)
    linear = _spine(package.root, package, edition.shape())
    edition.read_along_in([entry.item.name for entry in package.spine], linear)
    if package.nav is None or not _is_nav(archive, package.nav):
        entries = navigation.tables[0] if navigation.tables else _by_spine(package)
        edition.add_contents(entries, book.title)
    return edition


def _is_nav(archive: Archive, nav: Item) -> bool:
    try:
        root = parse_xhtml(archive.read(nav.name), nav.name).root
    except InputError:
        return False
    return any(local_name(e) == "nav" and "toc" in semantic_types(e) for e in root.iter())


def _by_spine(package: Package) -> list[TocEntry]:
    return [TocEntry(e.item.name.rpartition("/")[2], e.item.name, "", 1) for e in package.spine]


def _active_class(root: Element) -> str:
    """The class that the book's own style sheets have for what is being read aloud."""
    for element in root.iter():
        if local_name(element) == "meta" and element.get("property") == "media:active-class":
            return (element.text or "").strip()
    return ""


def _spine(root: Element, package: Package, shape: Shape) -> dict[str, dict[str, str]]:
    """Take over the attributes of the package and its spine; gives those of entries by member."""
    for name in ("dir", f"{{{XML}}}lang", "prefix"):
        if root.get(name):
            shape.package[name] = root.get(name)
    found: dict[str, dict[str, str]] = {}
    for element in root.iter():
        if local_name(element) == "spine":
            if direction := element.get("page-progression-direction"):
                shape.spine_attributes["page-progression-direction"] = direction
        elif local_name(element) == "itemref":
            item = package.items.get(element.get("idref", ""))
            kept = {k: element.get(k) for k in ("linear", "properties") if element.get(k)}
            if item is not None:
                found.setdefault(item.name, kept)
    by_name = {name: uid for uid, name in shape.names.items()}
    if package.ncx is not None and package.ncx.name in by_name:
        shape.spine_attributes["toc"] = by_name[package.ncx.name]
    return found


def edition_of_chapters(book: Book) -> Edition:
    """Simple documents, one a chapter, of a book that is no EPUB."""
    edition = Edition(book, "EPUB/package.opf")
    chapters = []
    names = []
    for chapter in book.chapters:
        name = f"EPUB/chapter-{chapter.number:03d}.xhtml"
        root, placed = _document(chapter, name, book.language)
        edition.add_document(name, root)
        chapters.append(placed)
        names.append(name)
    edition.chapters = tuple(chapters)
    facts = [Fact("title", book.title)]
    facts += [Fact("creator", author) for author in book.authors]
    more = {"date": book.date, "publisher": book.publisher, "description": book.description}
    facts += [Fact(name, text) for name, text in more.items() if text]
    facts += [Fact("subject", subject) for subject in book.subjects]
    edition.state(facts, "")
    edition.read_along_in(names, {})
    entries = [
        TocEntry(chapter.title, name, "", chapter.level)
        for chapter, name in zip(book.chapters, names, strict=True)
    ]
    edition.add_contents(entries, book.title)
    if book.cover is not None:
        with suppress(InputError):  # no picture; the audiobook's own warning tells of it
            edition.add_cover(jpeg_of(usable_cover(book.cover)))
    return edition


def _document(chapter: Chapter, name: str, language: str) -> tuple[Element, Chapter]:
    root = etree.Element(f"{{{XHTML}}}html", nsmap={None: XHTML})
    if language:
        root.set("lang", language)
        root.set(f"{{{XML}}}lang", language)
    add_style_sheet(root, "", chapter.title)
    body = etree.SubElement(root, f"{{{XHTML}}}body")
    blocks = []
    tags = {"heading": "h1", "paragraph": "p", "scene_break": "hr"}
    if not any(block.kind == "heading" for block in chapter.blocks):
        etree.SubElement(body, f"{{{XHTML}}}h1").text = chapter.title
    for number, block in enumerate(chapter.blocks, 1):
        element = etree.SubElement(body, f"{{{XHTML}}}{tags[block.kind]}")
        if block.kind != "scene_break":
            element.text = block.text
        if block.language:
            element.set("lang", block.language)
        blocks.append(replace(block, where=f"{name}:{number}"))
    return root, replace(chapter, blocks=tuple(blocks))
