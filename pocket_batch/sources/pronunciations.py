"""Pronunciation lexicons that a book brings (PLS) -> respellings.

Source: W3C Pronunciation Lexicon Specification 1.0; EPUB 3 names them in its manifest.
"""

from collections.abc import Iterator

from pocket_batch.bcp47 import primary
from pocket_batch.data import Respelling
from pocket_batch.errors import InputError
from pocket_batch.sources.archive import Archive, UnsafeArchiveError
from pocket_batch.sources.book_language import language_tag
from pocket_batch.sources.markup import Element, attribute, local_name, parse_xml, text_of
from pocket_batch.sources.package import Package

MEDIA_TYPE = "application/pls+xml"
MAX_FILE_BYTES = 8 * 2**20
MAX_ENTRIES = 20_000  # of all lexicons of a book
MAX_LENGTH = 200  # characters of a word, an alias or a pronunciation


def read_pronunciations(archive: Archive, package: Package) -> tuple[Respelling, ...]:
    """All entries of the lexicons in the manifest, the first for each word; bounded.

    Pronunciations in other alphabets than IPA are left out with a warning, as are lexicons that
    cannot be read.

    Raises:
        UnsafeArchiveError: a lexicon unpacks beyond the limits.
    """
    found: dict[tuple[str, str], Respelling] = {}
    for item in package.items.values():
        if item.media_type != MEDIA_TYPE or not item.name:
            continue
        try:
            markup = parse_xml(archive.read(item.name, MAX_FILE_BYTES), item.name)
        except UnsafeArchiveError:
            raise
        except InputError as error:
            archive.warnings.append(f"{error} Its pronunciations are not used.")
            continue
        archive.warnings.extend(markup.flaws)
        for entry in _entries(markup.root, item.name, archive.warnings):
            if len(found) >= MAX_ENTRIES:
                archive.warnings.append(
                    f"The book gives more than {MAX_ENTRIES:,} pronunciations; the rest is ignored."
                )
                return tuple(found.values())
            found.setdefault((entry.written, entry.language), entry)
    return tuple(found.values())


def _entries(root: Element, name: str, warnings: list[str]) -> Iterator[Respelling]:
    language = primary(language_tag(attribute(root, "lang")))
    alphabet = attribute(root, "alphabet") or "ipa"
    num_unknown = 0
    # An entry with a role is for one sense of a word, such as the verb; those without go first.
    lexemes = [e for e in root.iter() if local_name(e) == "lexeme"]
    for lexeme in sorted(lexemes, key=lambda e: bool(attribute(e, "role"))):
        spoken = _preferred(lexeme, "alias")
        phoneme = _preferred(lexeme, "phoneme")
        is_ipa = phoneme is not None and (attribute(phoneme, "alphabet") or alphabet) == "ipa"
        num_unknown += phoneme is not None and not is_ipa
        ipa = text_of(phoneme)[:MAX_LENGTH] if is_ipa else ""
        alias = text_of(spoken)[:MAX_LENGTH] if spoken is not None else ""
        if not ipa and not alias:
            continue
        for grapheme in lexeme:
            written = text_of(grapheme) if local_name(grapheme) == "grapheme" else ""
            if 0 < len(written) <= MAX_LENGTH:
                yield Respelling(written, spoken=alias, language=language, ipa=ipa)
    if num_unknown:
        warnings.append(
            f"Pronunciations in an alphabet other than IPA are ignored: {num_unknown} in {name}."
        )


def _preferred(lexeme: Element, tag: str) -> Element | None:
    """The first child of that name, or the one that is marked as preferred."""
    children = [child for child in lexeme if local_name(child) == tag]
    preferred = (child for child in children if attribute(child, "prefer") == "true")
    return next(preferred, children[0] if children else None)
