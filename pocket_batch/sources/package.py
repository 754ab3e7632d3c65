"""The package document (OPF): manifest, spine, guide."""

from dataclasses import dataclass

from pocket_batch.errors import InputError
from pocket_batch.sources.archive import Archive
from pocket_batch.sources.markup import Element, attribute, local_name, parse_xml

TEXT_TYPES = frozenset(
    {"application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/x-dtbook+xml"}
)
TEXT_SUFFIXES = (".xhtml", ".html", ".htm")


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
        """Whether this is a content document, by its declared type or else by its name."""
        if self.media_type in TEXT_TYPES:
            return True
        is_unknown = self.media_type in ("", "text/plain", "application/xml", "text/xml")
        return is_unknown and self.href.partition("#")[0].lower().endswith(TEXT_SUFFIXES)


@dataclass(frozen=True, slots=True)
class SpineEntry:
    """One document of the reading order."""

    item: Item
    is_linear: bool


@dataclass(frozen=True, slots=True)
class Reference:
    """One entry of the EPUB 2 guide: the document and what it is said to be."""

    type: str
    name: str
    fragment: str


@dataclass(frozen=True, slots=True)
class Package:
    """A package document. `root` is its tree, for the metadata."""

    name: str
    root: Element
    items: dict[str, Item]
    spine: tuple[SpineEntry, ...]
    guide: tuple[Reference, ...]
    nav: Item | None
    ncx: Item | None
    warnings: tuple[str, ...]
    has_gaps: bool


def read_package(archive: Archive, name: str) -> Package:
    """Parse the package document `name` of the archive.

    Raises:
        InputError: it cannot be parsed, or it has no spine.
    """
    where = f"{archive.path.name}: {name}"
    markup = parse_xml(archive.read(name), where)
    items = _manifest(archive, name, markup.root)
    spine, warnings, has_gaps = _spine(markup.root, items)
    if not spine:
        raise InputError(
            f"{where}: the spine should list the documents to read, but it lists no text that "
            "exists. The EPUB is damaged or holds only pictures. Use another edition."
        )
    return Package(
        name=name,
        root=markup.root,
        items=items,
        spine=tuple(spine),
        guide=_guide(archive, name, markup.root),
        nav=next((item for item in items.values() if "nav" in item.properties and item.name), None),
        ncx=_ncx(markup.root, items),
        warnings=(*markup.flaws, *warnings),
        has_gaps=has_gaps,
    )


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
            media_type=element.get("media-type", "").strip().lower(),
            properties=frozenset(element.get("properties", "").lower().split()),
            fallback=element.get("fallback", ""),
        )
        items.setdefault(item.id, item)
    return items


def _spine(root: Element, items: dict[str, Item]) -> tuple[list[SpineEntry], list[str], bool]:
    spine: list[SpineEntry] = []
    warnings: list[str] = []
    has_gaps = False
    seen: set[str] = set()
    for element in root.iter():
        if local_name(element) != "itemref":
            continue
        idref = element.get("idref", "")
        if idref not in items:
            warnings.append(f"The spine names `{idref}`, which is not in the manifest; ignored.")
            continue
        item = _with_fallback(items[idref], items)
        if not item.is_text:
            warnings.append(f"{item.href} in the spine is {item.media_type}, not text; ignored.")
        elif not item.name:
            warnings.append(f"{item.href} in the spine is missing from the archive; a gap remains.")
            has_gaps = True
        elif item.name not in seen:  # the same document again, perhaps at another fragment
            seen.add(item.name)
            is_linear = element.get("linear", "yes").strip().lower() != "no"
            spine.append(SpineEntry(item, is_linear))
    return spine, warnings, has_gaps


def _with_fallback(item: Item, items: dict[str, Item]) -> Item:
    tried = {item.id}
    current = item
    while not current.is_text and current.fallback in items and current.fallback not in tried:
        current = items[current.fallback]
        tried.add(current.id)
    return current if current.is_text else item


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
        if item.name and item.media_type == "application/x-dtbncx+xml":
            return item
    return None
