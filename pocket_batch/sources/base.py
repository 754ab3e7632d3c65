"""The table of sources, and the way from a file to a `Book`."""

import hashlib
import os
import stat
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from pocket_batch.data import Book
from pocket_batch.errors import InputError
from pocket_batch.settings import ReadSettings

SOURCES = {
    ".epub": "pocket_batch.sources.epub:read_epub",
    ".txt": "pocket_batch.sources.plaintext:read_plaintext",
    ".md": "pocket_batch.sources.markdown:read_markdown",
    ".markdown": "pocket_batch.sources.markdown:read_markdown",
    ".jsonl": "pocket_batch.sources.script:read_script",
}

AS_USUAL = ReadSettings()


def read_book(path: Path, settings: ReadSettings = AS_USUAL) -> Book:
    """Read a book with the source for its suffix. `settings` say what of it is spoken.

    Raises:
        InputError: there is no such file, no source for its suffix, or the source refuses it.
    """
    module, _, function = SOURCES[check_source(path)].partition(":")
    book = getattr(import_module(module), function)(path, settings)
    assert isinstance(book, Book)
    if book.title.isprintable():
        return book
    # A title made of a file name may hold bytes that are no text.
    return replace(book, title=book.title.encode("utf-8", "replace").decode())


def check_source(path: Path) -> str:
    """Make sure that there is a file with a source for it, without reading; gives its suffix.

    Raises:
        InputError: there is no such file, or no source for its suffix.
    """
    try:
        mode = path.stat().st_mode
    except ValueError as error:  # a zero byte
        raise InputError(f"{str(path)!r}: this is no name of a file. Check it.") from error
    except OSError as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
        raise InputError(f"{path}: {reason}. Check the name and the folder.") from error
    if stat.S_ISDIR(mode):
        raise InputError(f"{path}: a book file was expected, but this is a folder. Name one file.")
    if not os.access(path, os.R_OK):
        raise InputError(f"{path}: the file may not be read. Change its permissions.")
    suffix = path.suffix.lower()
    if suffix not in SOURCES:
        known = ", ".join(SOURCES)
        found = f"the suffix {path.suffix}" if path.suffix else "no suffix"
        raise InputError(f"{path}: a book ends in one of {known}, but this has {found}.")
    return suffix


def sha256_of_file(path: Path) -> str:
    """The SHA-256 of the bytes of a file, in hexadecimal; read in parts."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
