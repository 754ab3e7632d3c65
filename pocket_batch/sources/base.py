"""The table of sources, and the way from a file to a `Book`."""

import hashlib
from importlib import import_module
from pathlib import Path

from pocket_batch.data import Book
from pocket_batch.errors import InputError

SOURCES = {
    ".epub": "pocket_batch.sources.epub:read_epub",
    ".txt": "pocket_batch.sources.plaintext:read_plaintext",
    ".md": "pocket_batch.sources.markdown:read_markdown",
    ".markdown": "pocket_batch.sources.markdown:read_markdown",
}


def read_book(path: Path) -> Book:
    """Read a book with the source for its suffix.

    Raises:
        InputError: there is no such file, no source for its suffix, or the source refuses it.
    """
    module, _, function = SOURCES[check_source(path)].partition(":")
    try:
        book = getattr(import_module(module), function)(path)
    except PermissionError as error:
        raise InputError(f"{path}: the file may not be read. Change its permissions.") from error
    assert isinstance(book, Book)
    return book


def check_source(path: Path) -> str:
    """Make sure that there is a file with a source for it, without reading; gives its suffix.

    Raises:
        InputError: there is no such file, or no source for its suffix.
    """
    if path.is_dir():
        raise InputError(f"{path}: a book file was expected, but this is a folder. Name one file.")
    if not path.exists():
        raise InputError(f"{path}: no such file. Check the name and the folder.")
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
