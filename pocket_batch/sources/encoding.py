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


def decode(data: bytes, declared: str = "") -> tuple[str, str]:
    """Decode text: byte order mark, then `declared`, then UTF-8, then Windows-1252.

    Args:
        data: the bytes of the whole text.
        declared: the encoding that the text states of itself, or empty.

    Returns:
        The characters without byte order mark, and what had to be repaired in words for the
        user ("is not UTF-8 ..."), empty when nothing was.
    """
    for mark, name in BOMS:
        if data.startswith(mark):
            return data[len(mark) :].decode(name, "replace"), ""
    flaw = ""
    if declared and not _is_impossible(data, declared):
        try:
            return data.decode(_web_name(declared)), ""
        except (LookupError, ValueError):  # no such encoding, or not these bytes
            flaw = f"is not {declared} as it declares"
    try:
        return data.decode("utf-8"), flaw and f"{flaw}; it was read as UTF-8"
    except UnicodeDecodeError:
        flaw = flaw or "is not UTF-8"
        return data.decode("cp1252", "replace"), f"{flaw}; it was read as Windows-1252"


def declared_in_markup(data: bytes) -> str:
    """The encoding that an XML declaration or an HTML `meta` in the first 1,024 bytes states."""
    if data[:2] in (b"<\0", b"\0<"):  # UTF-16 without a mark
        return "utf-16-le" if data[0] else "utf-16-be"
    match = XML_DECLARATION.search(data[:1024]) or META_CHARSET.search(data[:1024])
    return match.group(1).decode("ascii") if match else ""


def _web_name(declared: str) -> str:
    # Files that declare Latin-1 hold Windows-1252 in practice. Source: WHATWG Encoding, 4.2.
    latin = declared.lower() in ("iso-8859-1", "iso8859-1", "latin1", "latin-1", "us-ascii")
    return "cp1252" if latin else declared


def _is_impossible(data: bytes, declared: str) -> bool:
    # A declaration that can be read byte by byte cannot be in UTF-16 or UTF-32.
    is_wide = declared.lower().startswith(("utf-16", "utf-32", "ucs-2", "iso-10646"))
    return is_wide and b"\0" not in data[:8]
