"""The ZIP archive of an EPUB, read in memory and never unpacked; every read is bounded."""

import posixpath
import re
import struct
import unicodedata
import zipfile
import zlib
from pathlib import Path
from types import TracebackType
from urllib.parse import unquote

from pocket_batch.errors import InputError

MAX_ENTRIES = 50_000
MAX_ENTRY_BYTES = 64 * 2**20  # the largest real documents seen are below 10 MB
MAX_TOTAL_BYTES = 512 * 2**20
MAX_RATIO = 200  # text packs to a tenth, repeated sentences to a fiftieth, a bomb to a thousandth
RATIO_COUNTS_FROM_BYTES = 4 * 2**20

# mailto:a@b.c -> matches; c%201.xhtml does not
SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:")
UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    NotImplementedError,
)


class Archive:
    """Named members of a ZIP file, found in spite of escapes, backslashes and letter case.

    Raises:
        InputError: the file is not a ZIP archive, is damaged, or has too many members.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.warnings: list[str] = []
        self._num_bytes_read = 0
        self._zip = _open_zip(path)
        self._members: dict[str, zipfile.ZipInfo] = {}
        self._aliases: dict[str, str] = {}
        for info in self._zip.infolist():
            self._register(info)

    def __enter__(self) -> "Archive":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._zip.close()

    @property
    def names(self) -> list[str]:
        """The names of all safe members, in the order of the archive."""
        return list(self._members)

    def find(self, name: str) -> str:
        """The member that `name` means: exactly, normalised, or but for letter case; else empty."""
        if name in self._members:
            return name
        for form in (name, unicodedata.normalize("NFC", name), _case_blind(name)):
            if form in self._aliases:
                return self._aliases[form]
        return ""

    def resolve(self, base: str, href: str) -> tuple[str, str]:
        """Follow a link from member `base`: the member it means (else empty) and its fragment.

        `href` may be URL-escaped or not, and use backslashes. Links that leave the book give "".
        """
        address, _, fragment = href.strip().partition("#")
        if SCHEME.match(address) or address.startswith("//"):
            return "", ""
        if not address:
            return base if base in self._members else "", unquote(fragment)
        for form in (address, unquote(address), unquote(address.partition("?")[0])):
            path = posixpath.join(posixpath.dirname(base), form.replace("\\", "/"))
            # A URL cannot climb above its root; nor can this.
            clean = posixpath.normpath("/" + path).lstrip("/")
            if found := self.find(clean):
                return found, unquote(fragment)
        return "", unquote(fragment)

    def read(self, name: str, max_bytes: int = MAX_ENTRY_BYTES) -> bytes:
        """The bytes of one member.

        Raises:
            InputError: it is damaged, locked by a password, or unpacks beyond the limits.
        """
        info = self._members[name]
        where = f"{self.path.name}: {name}"
        if info.flag_bits & 0x1:
            raise InputError(f"{where} is locked with a password. Use a copy without one.")
        self._refuse_bomb(info, max_bytes, where)
        try:
            with self._zip.open(info) as member:
                data = member.read(max_bytes + 1)
        except UNREADABLE as error:
            if "CRC" in str(error):
                self.warnings.append(
                    f"{name} does not match its checksum; its text may be damaged."
                )
                return self._read_unchecked(info, max_bytes, where)
            raise InputError(f"{where} is damaged in the archive ({error}).") from error
        except RuntimeError as error:
            raise InputError(f"{where} cannot be unpacked ({error}).") from error
        self._num_bytes_read += len(data)
        if len(data) > max_bytes or self._num_bytes_read > MAX_TOTAL_BYTES:
            raise UnsafeArchiveError(f"{where} unpacks to more than it may. {NOT_A_BOOK}")
        return data

    def _read_unchecked(self, info: zipfile.ZipInfo, max_bytes: int, where: str) -> bytes:
        # Local header: 30 bytes, the last four are the lengths of name and extra field.
        # Source: PKWARE APPNOTE 6.3.10, 4.3.7.
        with self.path.open("rb") as file:
            file.seek(info.header_offset)
            header = file.read(30)
            num_skipped = sum(struct.unpack("<HH", header[26:30]))
            file.seek(num_skipped, 1)
            packed = file.read(info.compress_size)
        try:
            if info.compress_type == zipfile.ZIP_STORED:
                return packed[:max_bytes]
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, max_bytes)
        except zlib.error as error:
            raise InputError(f"{where} is damaged in the archive ({error}).") from error

    def _refuse_bomb(self, info: zipfile.ZipInfo, max_bytes: int, where: str) -> None:
        ratio = info.file_size / max(1, info.compress_size)
        is_bomb = info.file_size > RATIO_COUNTS_FROM_BYTES and ratio > MAX_RATIO
        if is_bomb or info.file_size > max_bytes:
            raise UnsafeArchiveError(
                f"{where} unpacks from {info.compress_size:,} to {info.file_size:,} bytes. "
                f"{NOT_A_BOOK}"
            )

    def _register(self, info: zipfile.ZipInfo) -> None:
        name = info.filename.replace("\\", "/")
        if name.endswith("/"):
            return
        if name.startswith("/") or ".." in name.split("/") or SCHEME.match(name):
            self.warnings.append(
                f"The archive holds a member with an unsafe name, {name!r}; ignored."
            )
            return
        if name in self._members:
            self.warnings.append(f"The archive holds {name} twice; the last one is used.")
        self._members[name] = info
        for alias in (unicodedata.normalize("NFC", name), _case_blind(name), _as_utf8(name)):
            self._aliases.setdefault(alias, name)


class UnsafeArchiveError(InputError):
    """The archive unpacks to a size that only an attack needs; the whole book is refused."""


NOT_A_BOOK = "No book needs that, so the archive is refused as unsafe."


def _open_zip(path: Path) -> zipfile.ZipFile:
    try:
        archive = zipfile.ZipFile(path)
    except (*UNREADABLE, RuntimeError) as error:
        raise InputError(_not_a_zip(path)) from error
    if len(archive.infolist()) > MAX_ENTRIES:
        archive.close()
        raise UnsafeArchiveError(
            f"{path.name}: the archive has more than {MAX_ENTRIES:,} members. {NOT_A_BOOK}"
        )
    return archive


def _not_a_zip(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(4)
    if not head:
        return f"{path.name}: an EPUB was expected, but the file is empty. Get it again."
    if head.startswith(b"PK"):
        return f"{path.name}: the EPUB is damaged or cut short. Get it again from its source."
    if head.startswith(b"%PDF"):
        return f"{path.name}: an EPUB was expected, but this is a PDF. Use the EPUB edition."
    return f"{path.name}: an EPUB (a ZIP archive) was expected, but this is none. Check the file."


def _case_blind(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


def _as_utf8(name: str) -> str:
    # Without the UTF-8 flag `zipfile` takes names for code page 437; most of them are UTF-8.
    try:
        return unicodedata.normalize("NFC", name.encode("cp437").decode("utf-8"))
    except UnicodeError:
        return name
