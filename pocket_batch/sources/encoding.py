"""Bytes of text -> characters, when the declared encoding may be missing or wrong."""

import codecs
import re

BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with the UTF-16 one
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# <?xml version="1.0" encoding="windows-1252"?> -> windows-1252
XML_DECLARATION = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]{1,40})[\"']")
# <meta charset="utf-8"> or <meta content="text/html; charset=utf-8"> -> utf-8
META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([\w.:-]{1,40})", re.IGNORECASE)
# "é" in UTF-8 -> one match: a whole character of more than one byte
UTF8_CHARACTER = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
# A byte that is no UTF-8, as `surrogateescape` shows it.
STRAY_BYTE = re.compile("[\udc80-\udcff]")

# What files hold that declare these. Source: WHATWG Encoding, 4.2.
WEB_NAMES = {
    **dict.fromkeys(
        ("iso-8859-1", "iso8859-1", "latin1", "latin-1", "us-ascii", "ascii"), "cp1252"
    ),
    **dict.fromkeys(("shift_jis", "shift-jis", "x-sjis", "sjis", "windows-31j"), "cp932"),
    **dict.fromkeys(("gb2312", "gbk", "x-gbk", "gb_2312-80"), "gb18030"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987"), "cp949"),
    **dict.fromkeys(("iso-8859-9", "latin5"), "cp1254"),
    **dict.fromkeys(("tis-620", "iso-8859-11", "windows-874"), "cp874"),
    **dict.fromkeys(("iso-8859-8-i", "logical"), "iso-8859-8"),
    **dict.fromkeys(("macintosh", "x-mac-roman"), "mac-roman"),
    "big5": "big5hkscs",
}
# Python knows these as encodings of text, but no document is written in them, and some are slow.
NO_DOCUMENT = frozenset(
    ("punycode", "idna", "unicode-escape", "raw-unicode-escape", "utf-7", "undefined", "charmap")
)
WIDE = "wide"  # declared as UTF-16 or UTF-32 by a text that is neither, a slip that harms nothing
MIN_CHARACTERS_TO_DISBELIEVE = 3  # two bytes of Chinese may be one character in UTF-8 by chance
MAX_SHARE_OF_REPLACED = 0.01


def decode(data: bytes, declared: str = "") -> tuple[str, str]:
    """Decode text: byte order mark, then `declared`, then UTF-8, then Windows-1252.

    A declared encoding of single bytes fits any bytes, so it is not believed when all of them are
    UTF-8. A few wrong bytes in a text of UTF-8 are read as Windows-1252, and the rest stays.

    Args:
        data: the bytes of the whole text.
        declared: the encoding that the text states of itself, or empty.

    Returns:
        The characters without byte order mark, and what had to be repaired in words for the
        user ("is not UTF-8 ..."), empty when nothing was.
    """
    for mark, name in BOMS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(name, "replace")
            return text.lstrip("\ufeff"), ""
    name = _codec(data, declared)
    if name not in ("", WIDE) and not _is_utf8_all_the_same(data, name):
        try:
            return data.decode(name), ""
        except UnicodeError:
            pass
    flaw = f"is not {declared} as it declares" if declared and name != WIDE else ""
    try:
        return data.decode("utf-8"), flaw and f"{flaw}; it was read as UTF-8"
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
    if name not in ("", WIDE, "utf-8") and (text := _almost(data, name)):
        return text, f"has bytes that are not {declared}; they are left out"
    flaw = f"{flaw or 'is not UTF-8'} (line {line})"
    text, is_mixed = _with_windows_1252(data)
    read_as = "those bytes were read as Windows-1252" if is_mixed else "it was read as Windows-1252"
    return text, f"{flaw}; {read_as}"


def declared_in_markup(data: bytes) -> str:
    """The encoding that an XML declaration or an HTML `meta` in the first 1,024 bytes states."""
    if name := wide_encoding(data):
        return name
    match = XML_DECLARATION.search(data[:1024]) or META_CHARSET.search(data[:1024])
    return match.group(1).decode("ascii", "replace") if match else ""


def wide_encoding(data: bytes) -> str:
    """UTF-16 without a byte order mark, by the zeros of its Latin letters; else empty."""
    head = data[:200]
    for name, zeros in (("utf-16-le", head[1::2]), ("utf-16-be", head[::2])):
        if len(head) > 1 and 2 * zeros.count(0) > len(zeros) and 4 * head.count(0) < 3 * len(head):
            return name
    return ""


def _codec(data: bytes, declared: str) -> str:
    """The name of Python's codec for what is declared; empty when these bytes cannot be that."""
    name = WEB_NAMES.get(declared.strip().lower(), declared.strip())
    try:
        info = codecs.lookup(name) if name else None
    except (LookupError, ValueError):
        return ""
    if info is None or info.name in NO_DOCUMENT or not getattr(info, "_is_text_encoding", True):
        return ""
    # A declaration that can be read byte by byte cannot be in UTF-16 or UTF-32.
    is_wide = info.name.startswith(("utf-16", "utf-32"))
    return WIDE if is_wide and b"\0" not in data[:8] else info.name


def _is_utf8_all_the_same(data: bytes, name: str) -> bool:
    """Whether bytes that declare another encoding are UTF-8: no other text looks like it."""
    if name == "utf-8" or name.startswith(("utf-16", "utf-32")) or data.isascii():
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    is_single_byte = name.startswith(("cp125", "iso8859", "koi8", "mac", "cp4", "cp8"))
    return is_single_byte or len(UTF8_CHARACTER.findall(data)) >= MIN_CHARACTERS_TO_DISBELIEVE


def _almost(data: bytes, name: str) -> str:
    """A text in the declared encoding but for a few bytes; empty when many do not fit."""
    text = data.decode(name, "replace")
    is_close = text.count("\ufffd") <= MAX_SHARE_OF_REPLACED * len(text)
    return text.replace("\ufffd", "") if is_close else ""


def _with_windows_1252(data: bytes) -> tuple[str, bool]:
    """Bytes that are not UTF-8 as Windows-1252: all, or only those in a text of UTF-8."""
    mixed = data.decode("utf-8", "surrogateescape")
    num_strays = len(STRAY_BYTE.findall(mixed))
    if num_strays > len(UTF8_CHARACTER.findall(data)):
        return "".join(map(_windows_1252, data.decode("latin-1"))), False
    return STRAY_BYTE.sub(lambda match: _windows_1252(chr(ord(match[0]) - 0xDC00)), mixed), True


def _windows_1252(character: str) -> str:
    # The five bytes that Windows-1252 leaves open are control characters, as in browsers.
    if not "\x80" <= character <= "\x9f":
        return character
    return character.encode("latin-1").decode("cp1252", "ignore")
