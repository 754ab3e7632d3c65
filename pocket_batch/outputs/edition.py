"""An EPUB 3 that is being made with EbookLib: files, metadata, reading order, contents."""

import posixpath
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from ebooklib import epub

from pocket_batch.data import Book
from pocket_batch.errors import InputError
from pocket_batch.outputs.epub_parts import Fact, cover_item, is_epub3
from pocket_batch.outputs.epub_writer import FileItem, Shape, Writer
from pocket_batch.outputs.xhtml5 import add_style_sheet, as_xhtml5, properties_of, serialise
from pocket_batch.sources.archive import Archive
from pocket_batch.sources.markup import Element, local_name, parse_xhtml
from pocket_batch.sources.package import Item, Package
from pocket_batch.sources.toc import TocEntry

XHTML_TYPE = "application/xhtml+xml"
_ID = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_SYSTEM = ("meta-inf/container.xml", "meta-inf/manifest.xml", "meta-inf/signatures.xml")


class Edition:
    """An EPUB 3 that is being made, with EbookLib."""

    def __init__(self, book: Book, package_name: str, archive: Archive | None = None) -> None:
        self.chapters = book.chapters
        self.active_class = ""
        self._book = book
        self._archive = archive
        self._epub = epub.EpubBook()
        self._epub.metadata = {}
        self._epub.title, self._epub.language = book.title, book.language or "und"
        self._shape = Shape(package_name)
        self._items: dict[str, FileItem] = {}  # by member
        self._fresh: dict[str, Element] = {}  # documents that were changed, or made
        self._is_old = False

    def take(self, name: str) -> Element | None:
        """The tree of a document, to be changed; None when it is none."""
        if name in self._fresh:
            return self._fresh[name]
        item = self._items.get(name)
        if self._archive is None or item is None or item.media_type == "image/svg+xml":
            return None
        return self._parsed(name)

    def add(self, name: str, media_type: str, content: bytes | Path, uid: str = "") -> str:
        """Add a file; gives its id."""
        taken = self._shape.names
        if not _ID.fullmatch(uid) or uid in taken:
            stem = re.sub(r"[^A-Za-z0-9]+", "-", posixpath.basename(name)).strip("-")
            uid = f"ra-{stem}"
            while uid in taken:
                uid += "x"
        item = FileItem(uid, self._href(name), media_type, content)
        self._epub.add_item(item)
        self._items[name], taken[uid] = item, name
        return uid

    def put_document(self, name: str, root: Element, sheet: str, overlay: str) -> None:
        """Take over a changed document, with its style sheet and its overlay."""
        link = self.link(posixpath.dirname(name), sheet) if sheet else ""
        add_style_sheet(root, link, self._book.title)
        self._put(name, root)
        self._items[name].media_overlay = overlay

    def say(self, prop: str, value: str, about: str = "") -> None:
        """Add a property to the metadata; `about` is the id of an item."""
        refines = {"refines": f"#{about}"} if about else {}
        self._epub.add_metadata("OPF", "meta", value, {"property": prop, **refines})

    def number_of(self, document: str) -> int:
        """The place of a document among the items."""
        return list(self._items).index(document) + 1

    def new_folder(self, name: str) -> str:
        """A folder beside the package document that the book does not have."""
        base = posixpath.dirname(self._shape.package_name)
        folder = posixpath.join(base, name)
        while any(f"{member}/".startswith(f"{folder}/") for member in self._items):
            folder += "x"
        return folder

    def link(self, folder: str, name: str) -> str:
        """A member as a document in `folder` names it."""
        return quote(posixpath.relpath(f"/{name}", f"/{folder}"))

    def write(self, path: Path) -> None:
        """Write the archive."""
        Writer(path, self._epub, self._shape).write()

    def close(self) -> None:
        """Close the source."""
        if self._archive is not None:
            self._archive.__exit__(None, None, None)

    def state(self, facts: Iterable[Fact], wanted_id: str) -> None:
        """Take over the metadata, and add what an EPUB 3 must have."""
        made = list(facts)
        ids = [f for f in made if f.name == "identifier"]
        unique = next((f for f in ids if f.attributes.get("id") == wanted_id and wanted_id), None)
        if unique is None:
            known = ids[0] if ids else Fact("identifier", f"urn:uuid:{self._uuid()}")
            unique = replace(known, attributes={**known.attributes, "id": wanted_id or "pub-id"})
            made = [unique, *(f for f in made if f is not known)]
        self._epub.IDENTIFIER_ID = unique.attributes["id"]
        names = {fact.name for fact in made}
        if "title" not in names:
            made.append(Fact("title", self._book.title))
        if "language" not in names:
            made.append(Fact("language", self._epub.language))
        self._epub.uid = unique.text
        for fact in made:
            is_core = fact.name not in ("meta", "link")
            self._epub.add_metadata(
                "DC" if is_core else None, fact.name, fact.text, fact.attributes
            )

    def read_along_in(self, documents: Sequence[str], linear: dict[str, dict[str, str]]) -> None:
        """Set the reading order."""
        self._shape.spine = [
            {"idref": self._items[name].id, **linear.get(name, {})}
            for name in documents
            if name in self._items
        ]

    def add_contents(self, entries: Sequence[TocEntry], heading: str) -> None:
        """Make a navigation document."""
        name = posixpath.join(posixpath.dirname(self._shape.package_name), "nav.xhtml")
        while name in self._items or (self._archive is not None and self._archive.find(name)):
            name = name.replace(".xhtml", "x.xhtml")
        nav = epub.EpubNav(uid="ra-nav", file_name=self._href(name), title=heading)
        self._epub.toc = self._nested([e for e in entries if e.name in self._items])
        self._epub.add_item(nav)
        self._shape.names[nav.id] = name

    def add_document(self, name: str, root: Element) -> None:
        """Add a document that was made."""
        self.add(name, XHTML_TYPE, b"")
        self._put(name, root)

    def add_cover(self, jpeg: bytes) -> None:
        """Add the picture of the cover."""
        name = posixpath.join(posixpath.dirname(self._shape.package_name), "cover.jpg")
        self.add(name, "image/jpeg", jpeg)
        self._items[name].properties = ["cover-image"]

    def take_over(self, package: Package, archive: Archive) -> None:
        """Take over the files of an EPUB; documents become XHTML5 where they are not."""
        self._is_old = not is_epub3(package)
        cover = cover_item(package) if self._is_old else None
        in_spine = [entry.item for entry in package.spine]
        for item in (*in_spine, *package.items.values()):
            is_done = item.name in self._items or _is_overlay(item)
            if self._is_old and item is package.ncx:
                continue  # the navigation document stands for it
            if item.name and not is_done:
                self._take_file(item, archive, is_cover=item is cover)
        self._shape.others = {
            name: archive.read(name)
            for name in archive.names
            if name.lower().startswith("meta-inf/") and name.lower() not in _SYSTEM
        }

    def take_linked(self, name: str) -> None:
        """Take over a member that is no item, if it is one at all."""
        if self._archive is not None and name and name not in self._items:
            with suppress(InputError):
                self._shape.others[name] = self._archive.read(name)

    def _take_file(self, item: Item, archive: Archive, is_cover: bool) -> None:
        with suppress(InputError):  # a damaged file that is no text: the book goes on without
            uid = self.add(item.name, item.media_type, archive.read(item.name), item.id)
            entry = self._items[item.name]
            entry.properties = sorted(item.properties | ({"cover-image"} if is_cover else set()))
            if item.fallback:
                self._shape.attributes[uid] = {"fallback": item.fallback}
            if self._is_old and item.is_text:
                root = self._parsed(item.name)
                add_style_sheet(root, "", self._book.title)
                self._put(item.name, root)

    def _parsed(self, name: str) -> Element:
        assert self._archive is not None
        markup = parse_xhtml(self._archive.read(name), name)
        is_as_it_should_be = not self._is_old and not markup.flaws
        return markup.root if is_as_it_should_be else as_xhtml5(markup.root)

    def _put(self, name: str, root: Element) -> None:
        item = self._items[name]
        item.media_type = XHTML_TYPE
        if self._is_old:
            item.properties = sorted({*item.properties, *properties_of(root)})
        item.replace(serialise(root))
        self._fresh[name] = root

    def _nested(self, entries: Sequence[TocEntry]) -> list[object]:
        found: list[object] = []
        index = 0
        while index < len(entries):
            entry = entries[index]
            end = index + 1
            while end < len(entries) and entries[end].level > entry.level:
                end += 1
            title, href = entry.title or posixpath.basename(entry.name), self._target(entry)
            inner = self._nested(entries[index + 1 : end])
            uid = f"toc-{len(found)}"
            found.append(
                (epub.Section(title, href), inner) if inner else epub.Link(href, title, uid)
            )
            index = end
        return found

    def _target(self, entry: TocEntry) -> str:
        root = self._fresh.get(entry.name)
        ids = {e.get("id") for e in root.iter() if local_name(e)} if root is not None else set()
        return self._href(entry.name) + f"#{quote(entry.fragment)}" * (entry.fragment in ids)

    def _href(self, name: str) -> str:
        return self.link(posixpath.dirname(self._shape.package_name), name)

    def _uuid(self) -> str:
        return str(uuid5(NAMESPACE_URL, self._book.id))

    def shape(self) -> Shape:
        """What EbookLib has no place for."""
        return self._shape


def _is_overlay(item: Item) -> bool:
    """Whether an item is recorded speech's; this book gets another."""
    return item.media_type == "application/smil+xml"
