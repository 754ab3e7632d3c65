"""The ZIP archive of an EPUB, read in memory and never unpacked; every read is bounded."""

import posixpath
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from pathlib import Path
from types import TracebackType
from urllib.parse import unquote

from pocket_batch.errors import InputError
from pocket_batch.sources.salvage import find_members, unpack

MAX_ENTRIES = 50_000
MAX_ENTRY_BYTES = 64 * 2**20  # the largest real documents seen are below 10 MB
MAX_TOTAL_BYTES = 512 * 2**20
MAX_RATIO = 200  # text packs to a tenth, repeated sentences to a fiftieth, a bomb to a thousandth
RATIO_COUNTS_FROM_BYTES = 4 * 2**20
MAX_TOTAL_RATIO = 100  # of all that was read to the size of the file
TOTAL_RATIO_COUNTS_FROM_BYTES = 64 * 2**20

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

    `damaged` holds the names of members of which only a part could be read, `doubtful` those that
    do not match their checksums.

    Raises:
        InputError: the file is not a ZIP archive, holds nothing readable, or too many members.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.warnings: list[str] = []
        self.damaged: set[str] = set()
        self.doubtful: set[str] = set()
        self._num_bytes_read = 0
        self._members: dict[str, zipfile.ZipInfo] = {}
        self._aliases: dict[str, str] = {}
        self._zip, infos = _open_zip(path)
        if self._zip is None:
            self.warnings.append(
                "The archive is damaged or cut short; what could be found of it is read."
            )
        rooted: list[tuple[str, zipfile.ZipInfo]] = []
        for info in infos:
            name = info.filename.replace("\\", "/")
            if name.endswith("/"):
                continue
            if what := _what_is_unsafe(info, name):
                self.warnings.append(f"The archive holds {what}, {name!r}; ignored.")
                if name.startswith("/"):
                    rooted.append((name.lstrip("/"), info))
                continue
            self._register(name, info)
        for name, info in rooted:  # nothing is written, so such a name may serve where none else is
            if name and ".." not in name.split("/") and name not in self._members:
                self._register(name, info)

    def __enter__(self) -> "Archive":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        if self._zip is not None:
            self._zip.close()

    @property
    def is_cut_short(self) -> bool:
        """Whether the archive has lost its table of contents, and perhaps members with it."""
        return self._zip is None

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
        once = unquote(address)
        forms = (address, once, unquote(address.partition("?")[0]), unquote(once))
        for form in (*forms, unquote(address, "cp1252")):
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
        data = self._unpack(name, info, max_bytes + 1, where)
        self._num_bytes_read += len(data)
        if len(data) > max_bytes or self._is_too_much():
            raise UnsafeArchiveError(f"{where} unpacks to more than it may. {NOT_A_BOOK}")
        return data

    def is_plain_at_start(self, name: str) -> bool:
        """Whether a member is the first of the file and stored as it is."""
        info = self._members[name]
        return info.header_offset == 0 and info.compress_type == zipfile.ZIP_STORED

    def _unpack(self, name: str, info: zipfile.ZipInfo, max_bytes: int, where: str) -> bytes:
        """A member that matches its checksum, or else what can be unpacked of it."""
        reason = "it is cut short"
        try:
            if self._zip is not None:
                with self._zip.open(info) as member:
                    return member.read(max_bytes)
        except UNREADABLE as error:
            reason = str(error)
        except RuntimeError as error:
            raise InputError(f"{where} cannot be unpacked ({error}).") from error
        try:
            data, is_whole = unpack(self.path, info, max_bytes)
        except UNREADABLE as error:
            raise InputError(f"{where} is damaged in the archive ({error}).") from error
        if not data and info.file_size:
            raise InputError(f"{where} is damaged in the archive ({reason}).")
        if not is_whole and len(data) < max_bytes:
            self.damaged.add(name)
            self.warnings.append(f"{name} is damaged; its text ends where the damage begins.")
        elif self._zip is not None or zlib.crc32(data) != info.CRC != 0:
            self.doubtful.add(name)
            self.warnings.append(f"{name} does not match its checksum; its text may be damaged.")
        return data

    def _is_too_much(self) -> bool:
        if self._num_bytes_read <= TOTAL_RATIO_COUNTS_FROM_BYTES:
            return False
        file_size = self.path.stat().st_size
        is_dense = self._num_bytes_read > MAX_TOTAL_RATIO * file_size
        return is_dense or self._num_bytes_read > MAX_TOTAL_BYTES

    def _refuse_bomb(self, info: zipfile.ZipInfo, max_bytes: int, where: str) -> None:
        ratio = info.file_size / max(1, info.compress_size)
        is_bomb = info.file_size > RATIO_COUNTS_FROM_BYTES and ratio > MAX_RATIO
        if is_bomb or info.file_size > max_bytes:
            raise UnsafeArchiveError(
                f"{where} unpacks from {info.compress_size:,} to {info.file_size:,} bytes. "
                f"{NOT_A_BOOK}"
            )

    def _register(self, name: str, info: zipfile.ZipInfo) -> None:
        if name in self._members:
            self.warnings.append(f"The archive holds {name} twice; the last one is used.")
        self._members[name] = info
        plain = posixpath.normpath(name)
        for alias in (unicodedata.normalize("NFC", plain), _case_blind(plain), _as_utf8(plain)):
            self._aliases.setdefault(alias, name)


class UnsafeArchiveError(InputError):
    """The archive unpacks to a size that only an attack needs; the whole book is refused."""


NOT_A_BOOK = "No book needs that, so the archive is refused as unsafe."


def _open_zip(path: Path) -> tuple[zipfile.ZipFile | None, list[zipfile.ZipInfo]]:
    """The archive with its members; members alone when it has lost its table of contents."""
    archive = None
    try:
        archive = zipfile.ZipFile(path)
        infos = archive.infolist()
    except (*UNREADABLE, RuntimeError) as error:
        infos = find_members(path, MAX_ENTRIES + 1)
        if not infos:
            raise InputError(_not_a_zip(path)) from error
    if len(infos) > MAX_ENTRIES:
        if archive is not None:
            archive.close()
        raise UnsafeArchiveError(
            f"{path.name}: the archive has more than {MAX_ENTRIES:,} members. {NOT_A_BOOK}"
        )
    return archive, infos


def _what_is_unsafe(info: zipfile.ZipInfo, name: str) -> str:
    if stat.S_IFMT(info.external_attr >> 16) == stat.S_IFLNK:
        return "a link to another file"
    is_outside = name.startswith("/") or ".." in name.split("/") or SCHEME.match(name)
    is_unsafe = is_outside or "\0" in info.orig_filename
    return "a member with an unsafe name" if is_unsafe else ""


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
