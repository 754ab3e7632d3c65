"""The documents of the spine, in reading order -> one flow of text."""

from pocket_batch.errors import InputError
from pocket_batch.settings import ReadSettings
from pocket_batch.sources.archive import Archive, UnsafeArchiveError
from pocket_batch.sources.blocks import read_blocks
from pocket_batch.sources.contents import MIN_CONTENTS_LINKS
from pocket_batch.sources.elements import HEADINGS
from pocket_batch.sources.encoding import decode
from pocket_batch.sources.flow import Flow
from pocket_batch.sources.markup import (
    Element,
    local_name,
    text_of,
)
from pocket_batch.sources.note_texts import declared_notes, labels_of_notes
from pocket_batch.sources.notes import (
    NO_NOTES,
    Link,
    NoteIndex,
    index_notes,
    links_into_book,
    notes_of_document,
    plan_notes,
    survey_links,
)
from pocket_batch.sources.omit import by_title, plan_omissions
from pocket_batch.sources.package import Package, SpineEntry
from pocket_batch.sources.pieces import Place
from pocket_batch.sources.reader import DocumentReader
from pocket_batch.sources.reasons import (
    BY_GUIDE,
    LINKED_CONTENTS,
    NAVIGATION,
    NOT_LINEAR,
    Omission,
    chosen,
)
from pocket_batch.sources.styles import linked_sheets
from pocket_batch.sources.toc import Navigation

NOT_IN_SPINE = Omission("outside the reading order (not in the spine)")
MAX_WORDS_NOT_MENTIONED = 20
MIN_LINKED_SHARE = 0.7  # of the text of a contents page


def read_documents(
    archive: Archive,
    package: Package,
    navigation: Navigation,
    settings: ReadSettings,
    language: str,
) -> tuple[Flow, int]:
    """Read the text of all documents: those of the spine, then those that it leaves out.

    A note and its mark may stand in different documents, so all links are looked at first.

    Args:
        archive: the book.
        package: its package document.
        navigation: its tables of contents.
        settings: what of it is spoken.
        language: what the package declares; else what most of the text is marked as is taken.

    Returns:
        The text, with what is not spoken marked, and the number of documents of the spine that
        could not be read, or only in part.

    Raises:
        UnsafeArchiveError: a document unpacks beyond the limits.
    """
    reader = DocumentReader(archive, package)
    notes = _index_notes(archive, package, reader)
    language = language or reader.marked_language()
    wanted: dict[str, set[str]] = {}
    for table in navigation.tables:
        for line in table:
            wanted.setdefault(line.name, set()).add(line.fragment)
    listed = _listed_documents(package, navigation)
    sheets = _StyleSheets(archive)
    flow = Flow(language=language)
    for entry in (*package.spine, *package.extras):
        name = entry.item.name
        markup = reader.take(name)
        if markup is None:
            continue
        archive.warnings.extend(markup.flaws)
        root = markup.root
        links = links_into_book(root, name, archive)
        pieces = read_blocks(
            root,
            name,
            _plan(name, root, links, notes, settings, sheets.of(root, name)),
            frozenset(wanted.get(name, ())),
            _omission_of_document(root, entry, package, listed, settings)
            or _omission_of_contents(root, links, settings),
            settings=settings,
            language=language,
            notes=NO_NOTES if settings.notes == "drop" else notes_of_document(name, links, notes),
        )
        flow.append(name, pieces, _document_title(root))
    _warn_about_extras(archive, package, flow)
    return flow, len(reader.lost)


class _StyleSheets:
    """Reads each style sheet of the book once; one that is missing hides nothing."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._texts: dict[str, str] = {}

    def of(self, root: Element, name: str) -> list[str]:
        """The texts of the style sheets that a document links to."""
        targets = [self._archive.resolve(name, href)[0] for href in linked_sheets(root)]
        return [self._text(target) for target in targets if target]

    def _text(self, name: str) -> str:
        if name not in self._texts:
            try:
                self._texts[name] = decode(self._archive.read(name))[0]
            except UnsafeArchiveError:
                raise
            except InputError:
                self._texts[name] = ""
        return self._texts[name]


def _index_notes(archive: Archive, package: Package, reader: DocumentReader) -> NoteIndex:
    links: list[Link] = []
    declared: set[Place] = set()
    labels: dict[Place, str] = {}
    for entry in (*package.spine, *package.extras):
        name = entry.item.name
        root = reader.look(name)
        if root is not None:
            links += survey_links(links_into_book(root, name, archive), name)
            declared |= declared_notes(root, name)
            labels |= labels_of_notes(root, name)
    return index_notes(links, declared, labels)


def _plan(
    name: str,
    root: Element,
    links: list[tuple[Element, Place]],
    notes: NoteIndex,
    settings: ReadSettings,
    styles: list[str],
) -> dict[Element, Omission]:
    by_links = plan_notes(root, name, links, notes, settings)
    is_mark = {number for document, number in notes.marks if document == name}
    others = [link for number, (link, _) in enumerate(links) if number not in is_mark]
    return by_links | plan_omissions(root, others, settings, styles)


def _listed_documents(package: Package, navigation: Navigation) -> dict[str, Omission]:
    """Whole documents that guide or landmarks call a table of contents, an index and so on."""
    return {
        reference.name: BY_GUIDE[reference.type]
        for reference in (*package.guide, *navigation.landmarks)
        if reference.type in BY_GUIDE and reference.name and not reference.fragment
    }


def _omission_of_document(
    root: Element,
    entry: SpineEntry,
    package: Package,
    listed: dict[str, Omission],
    settings: ReadSettings,
) -> Omission | None:
    is_nav = package.nav is not None and entry.item.name == package.nav.name
    if is_nav and not settings.keep_matter and _is_mostly_nav(root):
        return NAVIGATION
    if not entry.is_linear and not settings.keep_non_linear:
        return NOT_LINEAR if entry.is_in_spine else NOT_IN_SPINE
    omission = listed.get(entry.item.name)
    return omission if omission is None else chosen(settings).get(omission, omission)


def _omission_of_contents(
    root: Element, links: list[tuple[Element, Place]], settings: ReadSettings
) -> Omission | None:
    """A page of nothing but links to other documents, whatever elements it is made of."""
    away = [element for element, _ in links if text_of(element)]
    if settings.keep_matter or len(away) < MIN_CONTENTS_LINKS:
        return None
    headings = [text_of(e) for e in root.iter() if local_name(e) in HEADINGS]
    linked = {text_of(element) for element in away}
    if any(text not in linked and by_title(text) is None for text in headings):
        return None  # the heading may be the title of the book
    body = next((e for e in root.iter() if local_name(e) == "body"), root)
    num_below = len(text_of(body)) - sum(len(text) for text in headings if text not in linked)
    num_linked = sum(len(text_of(element)) for element in away)
    return LINKED_CONTENTS if num_linked >= MIN_LINKED_SHARE * num_below else None


def _warn_about_extras(archive: Archive, package: Package, flow: Flow) -> None:
    names = {entry.item.name for entry in package.extras}
    left_out = [p for p in flow.pieces if p.omissions and p.omissions[0] is NOT_IN_SPINE]
    num_words = sum(len(piece.text.split()) for piece in left_out)
    if num_words > MAX_WORDS_NOT_MENTIONED:
        archive.warnings.append(
            f"Documents outside of the spine are left out: {len(names)} with {num_words:,} words, "
            f"the first is {package.extras[0].item.name}."
        )


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
