"""The package document (OPF): manifest, spine, guide."""

import mimetypes
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, replace
from urllib.parse import unquote

from pocket_batch.sources.archive import Archive
from pocket_batch.sources.markup import Element, attribute, local_name, parse_xml

TEXT_TYPES = frozenset(
    {"application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/x-dtbook+xml"}
)
TEXT_SUFFIXES = (".xhtml", ".html", ".htm", ".xht")
SVG = "image/svg+xml"


@dataclass(frozen=True, slots=True)
class Item:
    """One manifest entry; `name` is its member of the archive, empty when that is missing."""

    id: str
    href: str
    name: str
    media_type: str
    properties: frozenset[str] = frozenset()
    fallback: str = ""

    @property
    def is_text(self) -> bool:
        """Whether this is a content document: by its name, which lies less, or declared type."""
        path = self.href.partition("#")[0].lower()
        if path.endswith(TEXT_SUFFIXES):
            return True
        known = mimetypes.guess_type(path)[0] or ""
        is_medium = known.startswith(("image/", "audio/", "video/", "font/"))
        return self.media_type in TEXT_TYPES and not is_medium

    @property
    def is_readable(self) -> bool:
        """Whether its text can be read where it stands in the spine: plain text, too, and SVG."""
        return self.is_text or self.media_type in ("text/plain", SVG)


@dataclass(frozen=True, slots=True)
class SpineEntry:
    """One document of the reading order."""

    item: Item
    is_linear: bool
    is_in_spine: bool = True


@dataclass(frozen=True, slots=True)
class Reference:
    """One entry of the EPUB 2 guide: the document and what it is said to be."""

    type: str
    name: str
    fragment: str


@dataclass(frozen=True, slots=True)
class Package:
    """A package document. `root` is its tree, for the metadata; None for a book without one.

    `extras` are the content documents that the spine leaves out, but for the navigation.
    """

    name: str
    root: Element | None
    items: dict[str, Item]
    spine: tuple[SpineEntry, ...]
    extras: tuple[SpineEntry, ...]
    guide: tuple[Reference, ...]
    nav: Item | None
    ncx: Item | None
    warnings: tuple[str, ...]
    has_gaps: bool


def read_package(archive: Archive, name: str) -> Package:
    """Parse the package document `name` of the archive.

    The spine is empty when it lists no document that exists.

    Raises:
        InputError: it cannot be parsed.
    """
    where = f"{archive.path.name}: {name}"
    markup = parse_xml(archive.read(name), where)
    items = _manifest(archive, name, markup.root)
    is_damaged = bool(markup.flaws) or name in archive.damaged
    unlisted = _unlisted(archive, items) if is_damaged else {}
    spine = _Spine(markup.root, items, archive)
    items |= {item: entry for item, entry in unlisted.items() if entry.name not in spine.entries}
    nav = next((item for item in items.values() if "nav" in item.properties and item.name), None)
    return Package(
        name=name,
        root=markup.root,
        items=items,
        spine=tuple(spine.entries.values()),
        extras=tuple(_extras(items, spine.entries, nav)),
        guide=_guide(archive, name, markup.root),
        nav=nav,
        ncx=_ncx(markup.root, items),
        warnings=(*markup.flaws, *spine.warnings),
        has_gaps=spine.has_gaps or name in archive.damaged,
    )


def _unlisted(archive: Archive, items: dict[str, Item]) -> dict[str, Item]:
    """The documents that a damaged manifest leaves out, or perhaps has lost."""
    listed = {item.name for item in items.values()}
    names = sorted(name for name in archive.names if is_document(name) and name not in listed)
    return {name: Item(name, name, name, "application/xhtml+xml") for name in names}


def is_document(name: str) -> bool:
    """Whether a member of an archive looks like a document of the book by its name."""
    is_system = name.lower().startswith(("meta-inf/", "__macosx/")) or "/._" in name
    return name.lower().endswith(TEXT_SUFFIXES) and not is_system


def _manifest(archive: Archive, name: str, root: Element) -> dict[str, Item]:
    items: dict[str, Item] = {}
    for element in root.iter():
        if local_name(element) != "item" or not element.get("href"):
            continue
        href = element.get("href").strip()
        item = Item(
            id=element.get("id", href),
            href=href,
            name=archive.resolve(name, href)[0],
            media_type=element.get("media-type", "").partition(";")[0].strip().lower(),
            properties=frozenset(element.get("properties", "").lower().split()),
            fallback=element.get("fallback", ""),
        )
        items.setdefault(item.id, item)
    return items


class _Spine:
    """The documents of the spine by their names, each once, and what is wrong with it."""

    def __init__(self, root: Element, items: dict[str, Item], archive: Archive) -> None:
        self.entries: dict[str, SpineEntry] = {}
        self.warnings: list[str] = []
        self.has_gaps = False
        self._items = items
        self._by_href = {item.href: item for item in items.values()}
        self._files = _files_by_name(archive, items)
        for element in root.iter():
            if local_name(element) == "itemref":
                is_linear = element.get("linear", "yes").strip().lower() != "no"
                self._add(element.get("idref", "").strip(), is_linear)

    def _add(self, idref: str, is_linear: bool) -> None:
        item = self._items.get(idref) or self._by_href.get(idref)
        if item is None:
            self._warn(f"The spine names `{idref}`, which is not in the manifest; ignored.")
            return
        item = _with_fallback(item, self._items)
        if not item.is_readable:
            self._warn(f"{item.href} in the spine is {item.media_type}, not text; ignored.")
            return
        name = item.name or self._elsewhere(item)
        if not name:
            self._warn(f"{item.href} in the spine is missing from the archive; a gap remains.")
            self.has_gaps = True
            return
        before = self.entries.get(name)  # the same document again, perhaps at another fragment
        if before is None:
            found = item if name == item.name else replace(item, name=name)
            self.entries[name] = SpineEntry(found, is_linear)
        elif is_linear and not before.is_linear:
            self.entries[name] = replace(before, is_linear=True)

    def _elsewhere(self, item: Item) -> str:
        """The only file of that name, wherever it lies, unless it is another item's."""
        names = self._files.get(_base(unquote(item.href.partition("#")[0])), [])
        if len(names) != 1:
            return ""
        self._warn(f"{item.href} in the spine is not where it should be; {names[0]} is read.")
        return names[0]

    def _warn(self, warning: str) -> None:
        self.warnings.append(warning)


def _files_by_name(archive: Archive, items: dict[str, Item]) -> dict[str, list[str]]:
    taken = {item.name for item in items.values()}
    files: dict[str, list[str]] = {}
    for name in archive.names:
        if name not in taken:
            files.setdefault(_base(name), []).append(name)
    return files


def _base(name: str) -> str:
    return posixpath.basename(name.replace("\\", "/")).casefold()


def _extras(
    items: dict[str, Item], entries: dict[str, SpineEntry], nav: Item | None
) -> Iterator[SpineEntry]:
    seen = {*entries, "", nav.name if nav is not None else ""}
    for item in items.values():
        if item.is_text and item.name not in seen:
            seen.add(item.name)
            yield SpineEntry(item, is_linear=False, is_in_spine=False)


def _with_fallback(item: Item, items: dict[str, Item]) -> Item:
    tried = {item.id}
    current = item
    while not current.is_readable and current.fallback in items and current.fallback not in tried:
        current = items[current.fallback]
        tried.add(current.id)
    return current if current.is_readable else item


def _guide(archive: Archive, name: str, root: Element) -> tuple[Reference, ...]:
    references = []
    for element in root.iter():
        if local_name(element) == "reference" and element.get("href"):
            target, fragment = archive.resolve(name, element.get("href"))
            if target:
                kind = attribute(element, "type").strip().lower()
                references.append(Reference(kind, target, fragment))
    return tuple(references)


def _ncx(root: Element, items: dict[str, Item]) -> Item | None:
    named = next((e.get("toc", "") for e in root.iter() if local_name(e) == "spine"), "")
    if named in items and items[named].name:
        return items[named]
    for item in items.values():
        is_ncx = item.media_type == "application/x-dtbncx+xml" or item.name.lower().endswith(".ncx")
        if item.name and is_ncx:
            return item
    return None
