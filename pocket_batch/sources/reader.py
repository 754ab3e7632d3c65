"""Parses the documents of a book once or twice, within bounds, and remembers what is lost."""

import re
from collections import Counter

from pocket_batch.errors import InputError
from pocket_batch.sources.archive import Archive, UnsafeArchiveError
from pocket_batch.sources.book_language import language_tag
from pocket_batch.sources.encoding import decode
from pocket_batch.sources.markup import Element, Markup, attribute, parse_xhtml
from pocket_batch.sources.package import Package

MAX_KEPT_BYTES = 8 * 2**20  # documents parsed for their links are kept up to this size together

# "One.\n \nTwo." -> One., Two.
BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


class DocumentReader:
    """Parses documents, and keeps those of ordinary books between the two looks at them."""

    def __init__(self, archive: Archive, package: Package) -> None:
        self._archive = archive
        self._promised = {entry.item.name for entry in package.spine}
        self._broken: set[str] = set()
        entries = (*package.spine, *package.extras)
        self._plain = {e.item.name for e in entries if e.item.media_type == "text/plain"}
        self._kept: dict[str, Markup] = {}
        self._num_kept_bytes = 0
        self._marked_as: Counter[str] = Counter()  # bytes of documents by their own language

    @property
    def lost(self) -> set[str]:
        """The documents of the spine of which something is missing."""
        return (self._broken | self._archive.damaged) & self._promised

    def look(self, name: str) -> Element | None:
        """The tree of a document that will be taken later; None when it cannot be read."""
        markup, size = self._parse(name)
        if markup is None:
            return None
        self._marked_as[attribute(markup.root, "lang")] += size
        if self._num_kept_bytes + size <= MAX_KEPT_BYTES:
            self._num_kept_bytes += size
            self._kept[name] = markup
        return markup.root

    def take(self, name: str) -> Markup | None:
        """The document for the last time; None when it cannot be read."""
        if name in self._kept:
            return self._kept.pop(name)
        return None if name in self._broken else self._parse(name)[0]

    def marked_language(self) -> str:
        """The language that most of the text that was looked at is marked as; else empty."""
        marked, size = max(self._marked_as.items(), key=lambda pair: pair[1], default=("", 0))
        tag = language_tag(marked)
        if not tag or 2 * size < self._marked_as.total():
            return ""
        self._archive.warnings.append(
            f"The package names no language; its documents are marked as {tag}."
        )
        return tag

    def _parse(self, name: str) -> tuple[Markup | None, int]:
        try:
            data = self._archive.read(name)
            if name in self._plain:
                data = _marked_up(data)
            markup = parse_xhtml(data, name)
            if markup.flaws and name in self._archive.doubtful:
                self._archive.damaged.add(name)  # the checksum was right, and the text is not
            return markup, len(data)
        except UnsafeArchiveError:
            raise
        except InputError as error:
            self._broken.add(name)
            gap = " A gap remains in the text." if name in self._promised else ""
            self._archive.warnings.append(f"{error}{gap}")
            return None, 0


def _marked_up(text: bytes) -> bytes:
    """Plain text as a document: a paragraph after each blank line."""
    characters, _ = decode(text)
    escaped = characters.replace("&", "&amp;").replace("<", "&lt;").replace("\r\n", "\n")
    body = BLANK_LINES.sub(r"</p>\g<0><p>", escaped)
    return f"<html><body><p>{body}</p></body></html>".encode()
