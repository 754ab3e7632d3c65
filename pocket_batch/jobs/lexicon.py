"""The lexicon of a run: a file that was named, or those beside the book, and the book's own."""

from dataclasses import replace
from pathlib import Path

from pocket_batch.bcp47 import primary
from pocket_batch.data import Book, Respelling
from pocket_batch.errors import UsageError
from pocket_batch.jobs.lexicon_file import SUFFIXES, read_lexicon
from pocket_batch.settings import NormalizeSettings
from pocket_batch.text.lexicon import Lexicon
from pocket_batch.words import plural

NONE = "none"  # as the name of a file: not even those beside the book


def load_lexicon(
    source: Path, book: Book, settings: NormalizeSettings, language: str, takes_ipa: bool = False
) -> Lexicon:
    """All entries that hold for a book, those of files before those that the book brings.

    Args:
        source: the file of the book; `BOOK.lexicon.yaml` and `lexicon.yaml` (or .csv, .tsv) beside
            it are used when no file is named.
        settings: `lexicon` names a file, or is `none`.
        language: BCP 47 tag that the book is read in.
        takes_ipa: whether the engine reads IPA; without, entries in IPA alone change nothing.

    Raises:
        UsageError: a file is missing or says something wrong, with its line.
    """
    entries = [entry for path in lexicon_files(source, settings) for entry in read_lexicon(path)]
    known = {entry.written.lower() for entry in entries if not entry.is_regex}
    own = (entry for entry in book.lexicon if entry.written.lower() not in known)
    first, _, rest = language.replace("_", "-").partition("-")
    tag = f"{primary(first)}-{rest}".rstrip("-")
    return Lexicon(map(_short_code, (*entries, *own)), tag, takes_ipa)


def lexicon_files(source: Path, settings: NormalizeSettings) -> tuple[Path, ...]:
    """The files that a run uses: the one that is named, else what lies beside the book.

    Raises:
        UsageError: the file that was named is not there.
    """
    if settings.lexicon == NONE:
        return ()
    if settings.lexicon:
        path = Path(settings.lexicon).expanduser()
        if not path.is_file():
            raise UsageError(
                f"There is no lexicon {path}. Name a file that ends in {', '.join(SUFFIXES)}."
            )
        return (path,)
    names = (
        f"{stem}{suffix}" for stem in (f"{source.stem}.lexicon", "lexicon") for suffix in SUFFIXES
    )
    beside = (source.with_name(name) for name in names)
    return tuple(path for path in beside if path != source and path.is_file())


def lexicon_note(
    source: Path, book: Book, settings: NormalizeSettings, takes_ipa: bool = False
) -> str:
    """A sentence for the user about where respellings come from; empty when there are none."""
    parts = [path.name for path in lexicon_files(source, settings)]
    if settings.lexicon is None and parts:
        parts[-1] += " beside the book"
    useful = [entry for entry in book.lexicon if takes_ipa or entry.spoken or not entry.ipa]
    if useful:
        parts.append(f"the book itself ({plural(len(useful), 'word')})")
    note = f"Words are respelled by {' and '.join(parts)}." if parts else ""
    num_unread = len(book.lexicon) - len(useful)
    if num_unread:
        note += (
            f" The book gives {plural(num_unread, 'word')} in phonetic letters, which this voice "
            "does not read."
        )
    return note.strip()


def unread_ipa(source: Path, settings: NormalizeSettings, language: str) -> str:
    """A warning about entries of files that a voice without IPA cannot use; empty for none."""
    entries = [entry for path in lexicon_files(source, settings) for entry in read_lexicon(path)]
    unread = [
        entry.written
        for entry in entries
        if entry.ipa
        and not entry.spoken
        and (not entry.language or primary(entry.language) == primary(language))
    ]
    if not unread:
        return ""
    rest = f" and {len(unread) - 1} more" if len(unread) > 1 else ""
    return (
        f"The lexicon gives `{unread[-1]}`{rest} in phonetic letters alone, which this voice does "
        "not read. Respell such words in plain letters for it."
    )


def _short_code(entry: Respelling) -> Respelling:
    """An entry with `en` for `eng`."""
    first, dash, rest = entry.language.replace("_", "-").partition("-")
    return replace(entry, language=f"{primary(first)}{dash}{rest}")
