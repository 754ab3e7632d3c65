"""Build tide-clock.epub from tide-clock.txt, with EbookLib and a cover drawn by Pillow.

Run it from anywhere: `python jobs/samples/build.py`. The story was written for this project and
is free for any use (CC0 1.0).
"""

import html
import io
import re
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from ebooklib import epub
from PIL import Image, ImageDraw

HERE = Path(__file__).parent
NOTED = "counted 1,204."
NOTE = "The baker’s cat was not counted, but is known to have survived."
MODIFIED = datetime(2026, 11, 29, tzinfo=UTC)


def main(target: Path = HERE / "tide-clock.epub") -> None:
    """Read the text beside this script and write the EPUB."""
    header, *chapters = re.split(
        r"\n\n(?=Chapter \d)", (HERE / "tide-clock.txt").read_text("utf-8")
    )
    fields = dict(line.split(": ", 1) for line in header.splitlines())
    book = epub.EpubBook()
    book.set_identifier("urn:pocket-batch:sample:tide-clock")
    book.set_title(fields["Title"])
    book.set_language(fields["Language"])
    book.add_author(fields["Author"])
    book.add_metadata("DC", "date", "2026")
    book.add_metadata("DC", "publisher", "pocket-batch")
    book.add_metadata("DC", "subject", "Short stories")
    book.add_metadata("DC", "description", "A physician buys a clock that does not tell the time.")
    book.set_cover("cover.png", cover_png())
    pages = [chapter_page(number, text) for number, text in enumerate(chapters, 1)]
    for page in pages:
        book.add_item(page)
    book.toc = pages
    book.add_item(epub.EpubNcx())
    book.add_item(epub.EpubNav())
    book.spine = [*pages]
    epub.write_epub(str(target), book, {"mtime": MODIFIED})
    make_reproducible(target)


def chapter_page(number: int, text: str) -> epub.EpubHtml:
    """One XHTML document: heading, paragraphs, a scene break, and the footnote as an aside."""
    title, *paragraphs = text.strip().split("\n\n")
    page = epub.EpubHtml(title=title, file_name=f"chapter-{number}.xhtml", lang="en")
    page.content = f"<h1>{title}</h1>\n" + "\n".join(map(paragraph, paragraphs))
    return page


def paragraph(text: str) -> str:
    """One paragraph of the text file as XHTML."""
    text = html.escape(" ".join(text.split()), quote=False)
    if text == "* * *":
        return "<hr/>"
    if not text.endswith(NOTED):
        return f"<p>{text}</p>"
    mark = '<a epub:type="noteref" href="#n1"><sup>1</sup></a>'
    note = f'<aside epub:type="footnote" id="n1"><p>{NOTE}</p></aside>'
    return f"<p>{text}{mark}</p>\n{note}"


def cover_png() -> bytes:
    """A clock without numbers over the sea, 600 x 800 pixels."""
    image = Image.new("RGB", (600, 800), "#16324a")
    draw = ImageDraw.Draw(image)
    for row in range(560, 800, 16):
        draw.line([(0, row), (600, row)], fill="#2f5d7c", width=5)
    draw.ellipse([150, 130, 450, 430], fill="#e8d9a8", outline="#8a6d1f", width=14)
    draw.line([(300, 280), (300, 400)], fill="#3a2c0a", width=12)
    draw.ellipse([286, 266, 314, 294], fill="#3a2c0a")
    draw.text((300, 500), "THE TIDE CLOCK", fill="#e8d9a8", anchor="mm", font_size=48)
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def make_reproducible(path: Path) -> None:
    """Write the archive again with fixed times, so that equal text gives equal bytes."""
    with zipfile.ZipFile(path) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members:
            info = zipfile.ZipInfo(name, MODIFIED.timetuple()[:6])
            kind = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(info, data, kind)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
