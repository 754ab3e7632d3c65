"""The reasons to leave text out, what markup they follow from, and what settings make of them."""

from dataclasses import dataclass, replace

from pocket_batch.settings import ReadSettings


@dataclass(frozen=True, slots=True)
class Omission:
    """A reason to leave text out, and the largest share of a book's characters it may take.

    `announced_as` is the word that is said instead, as a key of `announce.WORDS`.
    """

    reason: str
    max_share: float = 0.5
    announced_as: str = ""


NAVIGATION = Omission("navigation", 1.0)  # certain: a `nav` element, or named by the manifest
NOT_LINEAR = Omission("outside the reading order (linear=no)")
HIDDEN = Omission("hidden text")
STYLED_AWAY = Omission("hidden text (by a style sheet)", 0.2)
NOTE = Omission("note")
NOTE_MARK = Omission("note mark")
CITATION = Omission("reference to a bibliography")
BACK_LINK = Omission("link back from a note")
PAGE_NUMBER = Omission("page number")
LINE_NUMBER = Omission("line number")
RUNNING_TITLE = Omission("running header or footer")
RUBY = Omission("ruby reading")
RUBY_BASE = Omission("text below a ruby reading")
DRAWING = Omission("text in a drawing")
ALTERNATIVE = Omission("alternative rendering")
ALIASED = Omission("replaced by its alias")
FORM = Omission("form field")
FALLBACK = Omission("text for readers without sound or pictures")
GUTENBERG = Omission("Project Gutenberg header or licence", 1.0)  # its marks are its own
HEADER = Omission("header with title and author", 1.0)
CONTENTS = Omission("table of contents")
CONTENTS_NAV = Omission("table of contents (navigation)", 1.0)
COPYRIGHT = Omission("copyright page")
INDEX = Omission("index")
BIBLIOGRAPHY = Omission("bibliography", 0.25)
PAGE_LINKS = Omission("links to other pages")
HALF_TITLE = Omission("half title")

# What the settings ask to leave out: they are believed, but for a book of nothing else.
TABLE = Omission("table", 0.9)
CODE = Omission("code", 0.9)
FORMULA = Omission("formula", 0.9)

# Notes that are spoken in another place are not lost, however many they are.
MOVED_NOTE = Omission("note heading", 1.0)

# Declared for a whole document by the guide or the landmarks, which are often careless.
LISTED_COPYRIGHT = Omission("copyright page (by the guide)", 0.05)
LISTED_INDEX = Omission("index (by the guide)", 0.2)
LISTED_NOTES = Omission("note (by the guide)", 0.25)

# Guesses: links, class names and titles can mislead, so each may take a few percent only.
LINKED_CONTENTS = Omission("table of contents (by its links)", 0.05)
GUESSED_NOTE = Omission("note (by its links)", 0.25)
NAMED_CONTENTS = Omission("table of contents (by its title)", 0.03)
NAMED_COPYRIGHT = Omission("copyright page (by its title)", 0.03)
NAMED_INDEX = Omission("index (by its title)", 0.03)
LISTED_IN_TEXT = Omission("table of contents (by its lines)", 0.3)  # every line comes again

GUESSES = frozenset({LINKED_CONTENTS, NAMED_CONTENTS, NAMED_COPYRIGHT, NAMED_INDEX})
MAX_GUESSED_SHARE = 0.05  # of the text, by all guesses about front and back matter together

# Source: EPUB 3 Structural Semantics Vocabulary 1.1, and DPUB-ARIA 1.1 for the roles.
BY_TYPE = {
    **dict.fromkeys(("toc", "toc-brief", "loa", "loi", "lot", "lov"), CONTENTS),
    **dict.fromkeys(("landmarks", "page-list"), NAVIGATION),
    **dict.fromkeys(("copyright-page", "imprint", "imprimatur", "colophon"), COPYRIGHT),
    **dict.fromkeys(("footnote", "footnotes", "endnote", "endnotes"), NOTE),
    **dict.fromkeys(("rearnote", "rearnotes"), NOTE),
    **dict.fromkeys(("noteref", "annoref"), NOTE_MARK),
    "biblioref": CITATION,
    **dict.fromkeys(("backlink", "referrer"), BACK_LINK),
    **dict.fromkeys(("index", "index-group"), INDEX),
    **dict.fromkeys(("pageheader", "pagefooter"), RUNNING_TITLE),
    "bibliography": BIBLIOGRAPHY,
    "halftitlepage": HALF_TITLE,
}
BY_ROLE = {
    "doc-toc": CONTENTS,
    "doc-pagelist": NAVIGATION,
    **dict.fromkeys(("doc-footnote", "doc-endnote", "doc-endnotes"), NOTE),
    "doc-noteref": NOTE_MARK,
    "doc-biblioref": CITATION,
    "doc-backlink": BACK_LINK,
    "navigation": PAGE_LINKS,
    "doc-index": INDEX,
    "doc-colophon": COPYRIGHT,
    "doc-bibliography": BIBLIOGRAPHY,
    **dict.fromkeys(("doc-pageheader", "doc-pagefooter"), RUNNING_TITLE),
}
BY_GUIDE = {  # not "toc": that document often holds the title page or a welcome, too
    **dict.fromkeys(("copyright-page", "colophon"), LISTED_COPYRIGHT),
    **dict.fromkeys(("notes", "endnotes", "rearnotes", "footnotes"), LISTED_NOTES),
    "index": LISTED_INDEX,
}
BY_TITLE = {
    **dict.fromkeys(
        (
            *("contents", "table of contents", "list of illustrations", "illustrations"),
            *("inhalt", "inhaltsverzeichnis", "table des matières", "sommaire", "indice"),
            *("índice", "inhoud", "inhoudsopgave", "sumário", "contenido", "spis treści"),
        ),
        NAMED_CONTENTS,
    ),
    **dict.fromkeys(("copyright", "copyright page", "impressum", "imprint"), NAMED_COPYRIGHT),
    "index": NAMED_INDEX,
}
NOTES_TITLES = frozenset(
    (
        *("notes", "footnotes", "endnotes", "footnote", "note", "anmerkungen", "fußnoten"),
        *("endnoten", "notes de bas de page", "notas", "notas al pie", "note a piè di pagina"),
        *("notas de rodapé", "noten", "voetnoten", "eindnoten"),
    )
)
COVER_TITLES = frozenset({"cover", "cover page", "umschlag", "couverture", "copertina", "portada"})
BY_TAG = {
    "nav": PAGE_LINKS,
    **dict.fromkeys(("rt", "rp", "rtc"), RUBY),
    "svg": DRAWING,
    "math": FORMULA,
    "table": TABLE,
    "pre": CODE,
    "case": ALTERNATIVE,
    **{"pagenum": PAGE_NUMBER, "noteref": NOTE_MARK, "note": NOTE},  # DTBook
    **dict.fromkeys(("select", "textarea"), FORM),
    **dict.fromkeys(("object", "audio", "video", "canvas", "iframe"), FALLBACK),
}
MATTER = frozenset(
    (
        *(CONTENTS, CONTENTS_NAV, COPYRIGHT, INDEX, BIBLIOGRAPHY, HALF_TITLE),
        *(LISTED_COPYRIGHT, LISTED_INDEX),
        *(LINKED_CONTENTS, NAMED_CONTENTS, NAMED_COPYRIGHT, NAMED_INDEX, LISTED_IN_TEXT),
    )
)
NOTES = frozenset({NOTE, GUESSED_NOTE, LISTED_NOTES})
SPECIAL = {"tables": TABLE, "code": CODE, "formulas": FORMULA, "drawings": DRAWING}


def chosen(settings: ReadSettings) -> dict[Omission, Omission | None]:
    """What the settings make of a reason: another one, or None where the text is spoken."""
    choice: dict[Omission, Omission | None] = {}
    for name, omission in SPECIAL.items():
        match getattr(settings, name):
            case "read":
                choice[omission] = None
            case "announce":
                choice[omission] = replace(omission, announced_as=name)
    if settings.keep_matter:
        choice |= dict.fromkeys(MATTER)
    if settings.keep_non_linear:
        choice[NOT_LINEAR] = None
    if settings.ruby == "reading":
        choice[RUBY] = None
    if settings.notes != "drop":
        choice |= dict.fromkeys(NOTES, MOVED_NOTE)
    return choice
