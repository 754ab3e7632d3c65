"""EbookLib's writer, made to keep what a book had: its folders, spine, prefixes and fallbacks."""

import zipfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ebooklib import epub
from lxml import etree

STORED = (".m4a", ".mp3", ".mp4", ".jpg", ".jpeg", ".png", ".gif", ".webp", ".woff", ".woff2")
_CONTAINER = """<?xml version="1.0" encoding="utf-8"?>
<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">
  <rootfiles>
    <rootfile media-type="application/oebps-package+xml"/>
  </rootfiles>
</container>
"""


@dataclass(slots=True)
class Shape:
    """What EbookLib has no place for.

    `names` are the members of items by id, `attributes` those of their entries in the manifest;
    `spine` are the entries of the spine, `package` and `spine_attributes` those of the elements.
    `others` are members outside of the manifest.
    """

    package_name: str
    package: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, dict[str, str]] = field(default_factory=dict)
    spine: list[dict[str, str]] = field(default_factory=list)
    spine_attributes: dict[str, str] = field(default_factory=dict)
    others: dict[str, bytes] = field(default_factory=dict)


class FileItem(epub.EpubItem):  # type: ignore[misc]
    """An item whose content is read when it is written."""

    def __init__(self, uid: str, file_name: str, media_type: str, content: bytes | Path) -> None:
        super().__init__(uid=uid, file_name=file_name, media_type=media_type)
        self._content = content

    def get_content(self, default: object = None) -> bytes:
        """The bytes of the item."""
        return self._content.read_bytes() if isinstance(self._content, Path) else self._content

    def replace(self, content: bytes) -> None:
        """Give it another content."""
        self._content = content


class Writer(epub.EpubWriter):  # type: ignore[misc]
    """Writes a book in the shape of the one that it is made from."""

    def __init__(self, path: Path, book: epub.EpubBook, shape: Shape) -> None:
        super().__init__(str(path), book, {"mtime": datetime.now(UTC), "epub3_pages": False})
        self._shape = shape
        self.out: zipfile.ZipFile

    def _write_container(self) -> None:
        root = etree.fromstring(_CONTAINER.encode())
        next(root.iter("{*}rootfile")).set("full-path", self._shape.package_name)
        self.out.writestr("META-INF/container.xml", etree.tostring(root, encoding="utf-8"))
        for name, data in self._shape.others.items():
            self.out.writestr(name, data)

    def _write_opf_spine(self, root: Any, ncx_id: str | None) -> None:
        spine = etree.SubElement(root, "spine", self._shape.spine_attributes)
        for attributes in self._shape.spine:
            etree.SubElement(spine, "itemref", attributes)

    def _write_opf_file(self, root: Any) -> None:
        for name, value in self._shape.package.items():
            root.set(name, value)
        for item in root.iter("item"):
            for name, value in self._shape.attributes.get(item.get("id"), {}).items():
                item.set(name, value)
        data = etree.tostring(root, pretty_print=True, encoding="utf-8", xml_declaration=True)
        self.out.writestr(self._shape.package_name, data)

    def _write_items(self) -> None:
        for item in self.book.get_items():
            name = self._shape.names[item.id]
            is_nav = isinstance(item, epub.EpubNav)
            data = self._get_nav(item) if is_nav else item.get_content()
            is_packed = not name.lower().endswith(STORED)
            self.out.writestr(name, data, zipfile.ZIP_DEFLATED if is_packed else zipfile.ZIP_STORED)
