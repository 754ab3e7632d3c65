"""The table of contents: the navigation document of EPUB 3, else the NCX of EPUB 2."""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from pocket_batch.errors import InputError
from pocket_batch.sources.archive import SCHEME, Archive
from pocket_batch.sources.markup import (
    Element,
    fold,
    local_name,
    parse_xhtml,
    parse_xml,
    semantic_types,
    text_of,
)
from pocket_batch.sources.package import Package, Reference


@dataclass(frozen=True, slots=True)
class TocEntry:
    """One line of a table of contents; `name` is the member it points to, `level` from 1."""

    title: str
    name: str
    fragment: str
    level: int


@dataclass(frozen=True, slots=True)
class Navigation:
    """The tables of contents of a book, best first, and the landmarks of its nav document."""

    tables: tuple[tuple[TocEntry, ...], ...]
    landmarks: tuple[Reference, ...]


class _Targets:
    """Where links lead; a link into a folder that is not there means the only file of its name."""

    def __init__(self, archive: Archive, package: Package) -> None:
        self.num_moved = 0
        self._archive = archive
        self._by_base: dict[str, list[str]] = {}
        for entry in (*package.spine, *package.extras):
            name = entry.item.name
            self._by_base.setdefault(posixpath.basename(name).casefold(), []).append(name)

    def of(self, base: str, href: str) -> tuple[str, str]:
        """The member that a link means, empty without one, and the fragment."""
        name, fragment = self._archive.resolve(base, href)
        address = href.partition("#")[0].strip()
        if name or not address or SCHEME.match(address):
            return name, fragment
        found = self._by_base.get(posixpath.basename(unquote(address)).casefold(), [])
        if len(found) != 1:
            return "", fragment
        self.num_moved += 1
        return found[0], fragment


def read_navigation(archive: Archive, package: Package) -> Navigation:
    """Read nav document and NCX; what is missing or broken gives a warning and no entries."""
    targets = _Targets(archive, package)
    tables: list[tuple[TocEntry, ...]] = []
    landmarks: tuple[Reference, ...] = ()
    if package.nav is not None:
        root = _parse(archive, package.nav.name, is_xhtml=True)
        if root is not None:
            navs = [e for e in root.iter() if local_name(e) == "nav"]
            chosen = _toc_in(root, navs)
            if chosen is not None:
                tables.append(tuple(_nav_entries(targets, package.nav.name, chosen)))
            landmarks = tuple(_landmarks(archive, package.nav.name, navs))
    if package.ncx is not None:
        root = _parse(archive, package.ncx.name, is_xhtml=False)
        if root is not None:
            tables.append(tuple(_ncx_entries(targets, package.ncx.name, root)))
    if targets.num_moved:
        archive.warnings.append(
            f"{targets.num_moved} entries of the table of contents lead to folders that do not "
            "exist; the documents of those names are taken."
        )
    return Navigation(tuple(table for table in tables if table), landmarks)


def _toc_in(root: Element, navs: list[Element]) -> Element | None:
    """The element with the table of contents; the whole document when it has no `nav` at all."""
    if not navs:
        return root
    declared = (n for n in navs if "toc" in semantic_types(n) or n.get("role") == "doc-toc")
    untyped = (n for n in navs if not semantic_types(n))
    return next(declared, next(untyped, None))


def _parse(archive: Archive, name: str, *, is_xhtml: bool) -> Element | None:
    try:
        data = archive.read(name)
        markup = parse_xhtml(data, name) if is_xhtml else parse_xml(data, name)
    except InputError as error:
        archive.warnings.append(f"The table of contents cannot be read: {error}")
        return None
    archive.warnings.extend(markup.flaws)
    return markup.root


def _nav_entries(targets: _Targets, nav_name: str, nav: Element) -> Iterator[TocEntry]:
    for link in nav.iter():
        if local_name(link) != "a" or not link.get("href"):
            continue
        name, fragment = targets.of(nav_name, link.get("href"))
        level = sum(local_name(parent) in ("ol", "ul") for parent in link.iterancestors())
        yield TocEntry(_label(link), name, fragment, max(1, level))


def _label(link: Element) -> str:
    label = text_of(link)
    if label:
        return label
    # A label may be a picture; then its description is the title.
    described = (e.get("alt") or e.get("title") or e.get("aria-label") for e in link.iter())
    return next((fold(text) for text in described if text and text.strip()), "")


def _landmarks(archive: Archive, nav_name: str, navs: list[Element]) -> Iterator[Reference]:
    for nav in navs:
        if "landmarks" not in semantic_types(nav):
            continue
        for link in nav.iter():
            if local_name(link) == "a" and link.get("href"):
                name, fragment = archive.resolve(nav_name, link.get("href"))
                for kind in semantic_types(link):
                    yield Reference(kind, name, fragment)


def _ncx_entries(targets: _Targets, ncx_name: str, root: Element) -> Iterator[TocEntry]:
    for point in root.iter():
        if local_name(point) != "navpoint":
            continue
        title, source = "", ""
        for child in point:
            tag = local_name(child)
            if tag == "navlabel" and not title:
                title = text_of(child)
            elif tag == "content" and not source:
                source = child.get("src", "")
        if source:
            name, fragment = targets.of(ncx_name, source)
            level = sum(local_name(parent) == "navpoint" for parent in point.iterancestors())
            yield TocEntry(title, name, fragment, level + 1)
