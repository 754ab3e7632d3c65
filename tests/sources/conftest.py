"""Small EPUBs made on the spot."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pocket_batch.data import Book
from pocket_batch.dataset_settings import CorpusSettings
from pocket_batch.rows import CorpusReject, CorpusRow
from pocket_batch.settings import ReadSettings
from pocket_batch.sources.base import read_book
from pocket_batch.sources.corpus import read_corpus

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/>'
    "</rootfiles></container>"
)
PROSE = (
    "The harbour was quiet that morning, and the nets lay folded on the quay while the gulls "
    "argued over scraps of bread that nobody had meant to drop. "
)
METADATA = (
    '<dc:title>A Little Book</dc:title><dc:identifier id="uid">x</dc:identifier>'
    "<dc:language>en</dc:language><dc:creator>Ann Author</dc:creator>"
)


@pytest.fixture
def prose() -> str:
    """A sentence long enough that small things around it are small."""
    return PROSE


@pytest.fixture
def page() -> Callable[..., str]:
    """Put markup into an XHTML document."""
    return make_page


@pytest.fixture(scope="session")
def write() -> Callable[..., Path]:
    """Write an EPUB to a path of one's own; for tests that make many."""
    return write_epub


@pytest.fixture
def make_epub(tmp_path: Path) -> Callable[..., Path]:
    """Write an EPUB: `documents` by name (bodies or whole documents), `toc` as (title, href)."""

    def make(documents: dict[str, str | bytes], **settings: Any) -> Path:
        path = tmp_path / str(settings.pop("filename", "book.epub"))
        return write_epub(path, documents, **settings)

    return make


@pytest.fixture
def read_body(make_epub: Callable[..., Path]) -> Callable[..., Book]:
    """Read a body, a heading before it and enough prose after it, with settings by name."""

    def read(body: str, **settings: Any) -> Book:
        path = make_epub({"c.xhtml": f"<h1>One</h1>{body}<p>{PROSE * 9}</p>"})
        return read_book(path, ReadSettings(**settings))

    return read


def make_page(body: str, title: str = "Doc", head: str = '<?xml version="1.0"?>') -> str:
    """Return an XHTML document."""
    return (
        f'{head}<html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>{title}</title></head>'
        f"<body>{body}</body></html>"
    )


def write_epub(
    path: Path,
    documents: dict[str, str | bytes],
    *,
    toc: list[tuple[str, str]] | None = None,
    ncx: list[tuple[str, str]] | None = None,
    spine: str = "",
    metadata: str = METADATA,
    manifest: str = "",
    guide: str = "",
    members: dict[str, str | bytes] | None = None,
) -> Path:
    """Write an EPUB of these documents; what is not given is made from their names."""
    items, refs, files = "", "", {}
    for name, content in documents.items():
        items += f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>'
        refs += f'<itemref idref="{name}"/>'
        is_body = isinstance(content, str) and "<html" not in content
        files[f"OEBPS/{name}"] = make_page(str(content)) if is_body else content
    if toc is not None:
        links = "".join(f'<li><a href="{href}">{title}</a></li>' for title, href in toc)
        files["OEBPS/nav.xhtml"] = make_page(f'<nav epub:type="toc"><ol>{links}</ol></nav>')
        items += (
            '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        )
    if ncx is not None:
        points = "".join(
            f'<navPoint><navLabel><text>{title}</text></navLabel><content src="{href}"/></navPoint>'
            for title, href in ncx
        )
        files["OEBPS/toc.ncx"] = f"<ncx><navMap>{points}</navMap></ncx>"
        items += '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    files["OEBPS/content.opf"] = (
        '<package xmlns="http://www.idpf.org/2007/opf" '
        'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:opf="http://www.idpf.org/2007/opf" '
        f'version="3.0" unique-identifier="uid"><metadata>{metadata}</metadata>'
        f"<manifest>{items}{manifest}</manifest><spine>{spine or refs}</spine>{guide}</package>"
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        archive.writestr("META-INF/container.xml", CONTAINER)
        for name, content in (files | (members or {})).items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., list[CorpusRow | CorpusReject]]:
    """Writes a file and reads it as a corpus; keywords are those of `CorpusSettings`."""

    def read_data(name: str, data: str | bytes, **wanted: object) -> list[CorpusRow | CorpusReject]:
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return list(read_corpus([path], CorpusSettings(**wanted)))  # type: ignore[arg-type]

    return read_data
