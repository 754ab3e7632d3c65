"""The documents of the spine, in reading order -> one flow of text."""

from collections.abc import Iterator

from pocket_batch.errors import InputError
from pocket_batch.sources.archive import Archive, UnsafeArchiveError
from pocket_batch.sources.blocks import read_blocks
from pocket_batch.sources.flow import Flow
from pocket_batch.sources.markup import Element, Markup, local_name, parse_xhtml, text_of
from pocket_batch.sources.notes import (
    Link,
    NoteIndex,
    index_notes,
    links_into_book,
    plan_notes,
    survey_links,
)
from pocket_batch.sources.omit import (
    BY_GUIDE,
    NAVIGATION,
    NOT_LINEAR,
    Omission,
    plan_omissions,
)
from pocket_batch.sources.package import Package, SpineEntry
from pocket_batch.sources.toc import Navigation

MAX_KEPT_BYTES = 8 * 2**20  # documents parsed for their links are kept up to this size together


def read_documents(archive: Archive, package: Package, navigation: Navigation) -> tuple[Flow, int]:
    """Read the text of all documents.

    A note and its mark may stand in different documents, so all links are looked at first.

    Returns:
        The text, with what is not spoken marked, and the number of documents that are lost.

    Raises:
        UnsafeArchiveError: a document unpacks beyond the limits.
    """
    reader = _Reader(archive)
    notes = index_notes(list(_survey(archive, package, reader)))
    wanted: dict[str, set[str]] = {}
    for table in navigation.tables:
        for line in table:
            wanted.setdefault(line.name, set()).add(line.fragment)
    listed = _listed_documents(package, navigation)
    flow = Flow()
    for entry in package.spine:
        name = entry.item.name
        markup = reader.take(name)
        if markup is None:
            continue
        archive.warnings.extend(markup.flaws)
        omission = _omission_of_document(markup.root, entry, package, listed)
        plan = _plan(archive, name, markup.root, notes)
        ids = frozenset(wanted.get(name, ()))
        pieces = read_blocks(markup.root, name, plan, ids, omission)
        flow.append(name, pieces, _document_title(markup.root))
    return flow, len(reader.lost)


class _Reader:
    """Parses documents, and keeps those of ordinary books between the two looks at them."""

    def __init__(self, archive: Archive) -> None:
        self.lost: set[str] = set()
        self._archive = archive
        self._kept: dict[str, Markup] = {}
        self._num_kept_bytes = 0

    def look(self, name: str) -> Element | None:
        """The tree of a document that will be taken later; None when it cannot be read."""
        markup, size = self._parse(name)
        if markup is None:
            return None
        if self._num_kept_bytes + size <= MAX_KEPT_BYTES:
            self._num_kept_bytes += size
            self._kept[name] = markup
        return markup.root

    def take(self, name: str) -> Markup | None:
        """The document for the last time; None when it cannot be read."""
        if name in self._kept:
            return self._kept.pop(name)
        return None if name in self.lost else self._parse(name)[0]

    def _parse(self, name: str) -> tuple[Markup | None, int]:
        try:
            data = self._archive.read(name)
            return parse_xhtml(data, name), len(data)
        except UnsafeArchiveError:
            raise
        except InputError as error:
            self.lost.add(name)
            self._archive.warnings.append(f"{error} A gap remains in the text.")
            return None, 0


def _survey(archive: Archive, package: Package, reader: _Reader) -> Iterator[Link]:
    for entry in package.spine:
        name = entry.item.name
        root = reader.look(name)
        if root is not None:
            yield from survey_links(links_into_book(root, name, archive), name)


def _plan(archive: Archive, name: str, root: Element, notes: NoteIndex) -> dict[Element, Omission]:
    links = links_into_book(root, name, archive)
    by_links = plan_notes(root, name, links, notes)
    is_mark = {number for document, number in notes.marks if document == name}
    others = [link for number, (link, _) in enumerate(links) if number not in is_mark]
    return by_links | plan_omissions(root, others)


def _listed_documents(package: Package, navigation: Navigation) -> dict[str, Omission]:
    """Whole documents that guide or landmarks call a table of contents, an index and so on."""
    return {
        reference.name: BY_GUIDE[reference.type]
        for reference in (*package.guide, *navigation.landmarks)
        if reference.type in BY_GUIDE and reference.name and not reference.fragment
    }


def _omission_of_document(
    root: Element, entry: SpineEntry, package: Package, listed: dict[str, Omission]
) -> Omission | None:
    if package.nav is not None and entry.item.name == package.nav.name and _is_mostly_nav(root):
        return NAVIGATION
    if not entry.is_linear:
        return NOT_LINEAR
    return listed.get(entry.item.name)


def _is_mostly_nav(root: Element) -> bool:
    # A book in one document may carry its navigation inside.
    in_navs = sum(len(text_of(e)) for e in root.iter() if local_name(e) == "nav")
    body = next((e for e in root.iter() if local_name(e) == "body"), root)
    return 2 * in_navs >= len(text_of(body))


def _document_title(root: Element) -> str:
    for element in root.iter():
        if local_name(element) == "title":
            return text_of(element)
        if local_name(element) == "body":
            break
    return ""
