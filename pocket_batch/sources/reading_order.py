"""The reading order of a book that states none: by its table of contents, else by its files."""

import re
from collections.abc import Sequence
from dataclasses import replace

from pocket_batch.errors import InputError
from pocket_batch.sources.archive import Archive
from pocket_batch.sources.package import Item, Package, SpineEntry, is_document
from pocket_batch.sources.toc import Navigation

# ch10.xhtml -> ["ch", "10", ".xhtml"]: the parts that are compared as numbers or as text
NUMBER = re.compile(r"(\d+)")


def package_of_files(archive: Archive) -> Package:
    """A package for an archive without package document, of the files that hold text.

    Raises:
        InputError: there are none.
    """
    names = sorted((n for n in archive.names if is_document(n)), key=_natural)
    if not names:
        lost = "is damaged or cut short" if archive.is_cut_short else "is no EPUB, or damaged"
        raise InputError(
            f"{archive.path.name}: META-INF/container.xml should name a package document, but the "
            f"archive holds none, and no text. It {lost}. Get it again."
        )
    archive.warnings.append(
        "The book has no package document; its documents are read in the order of their names."
    )
    items = {name: Item(name, name, name, "application/xhtml+xml") for name in names}
    ncx = next((n for n in archive.names if n.lower().endswith(".ncx")), "")
    return Package(
        name="",
        root=None,
        items=items,
        spine=(),
        extras=tuple(SpineEntry(item, is_linear=True) for item in items.values()),
        guide=(),
        nav=next((item for name, item in items.items() if _is_nav(archive, name)), None),
        ncx=Item("ncx", ncx, ncx, "application/x-dtbncx+xml") if ncx else None,
        warnings=(),
        has_gaps=archive.is_cut_short,
    )


def with_spine(archive: Archive, package: Package, navigation: Navigation) -> Package:
    """The package itself, or with a guessed spine when it lists no document that exists.

    Raises:
        InputError: there is no document at all.
    """
    if package.spine:
        return package
    if not package.extras:
        if archive.is_cut_short:
            raise InputError(
                f"{archive.path.name}: the EPUB is damaged or cut short, and the documents that "
                f"{package.name} lists are lost. Get it again from its source."
            )
        raise InputError(
            f"{archive.path.name}: {package.name}: the spine should list the documents to read, "
            "but it lists no text that exists. The EPUB holds only pictures, or is damaged. Use "
            "another edition."
        )
    if package.root is not None:
        archive.warnings.append(
            f"{package.name} lists no reading order; all documents of the manifest are read."
        )
    by_name = {entry.item.name: entry for entry in package.extras}
    listed = [line.name for table in navigation.tables[:1] for line in table]
    names = _in_order(list(by_name), list(dict.fromkeys(listed)))
    spine = tuple(SpineEntry(by_name[name].item, is_linear=True) for name in names)
    return replace(package, spine=spine, extras=())


def _in_order(names: Sequence[str], listed: Sequence[str]) -> list[str]:
    """Names in the order in which some are listed; the others stay behind those before them."""
    rank = {name: number for number, name in enumerate(listed, start=1)}
    place: dict[str, int] = {}
    current = 0
    for name in names:
        current = rank.get(name, current)
        place[name] = current
    return sorted(names, key=lambda name: place[name])


def _is_nav(archive: Archive, name: str) -> bool:
    base = name.rpartition("/")[2].lower()
    if base.partition(".")[0] not in ("nav", "toc"):
        return False
    try:
        return b"<nav" in archive.read(name)
    except InputError:
        return False  # reported when its text is read


def _natural(name: str) -> list[tuple[int, str]]:
    parts = NUMBER.split(name.casefold())
    return [(int(part[:18]), "") if part.isdecimal() else (0, part) for part in parts]
