"""Bytes of text: what they say of themselves is believed as far as it can be true."""

import pytest

from pocket_batch.sources.encoding import declared_in_markup, decode, wide_encoding

RUSSIAN = "Лодка ушла до прилива."
JAPANESE = "山路を登りながら、こう考えた。"


@pytest.mark.parametrize(
    ("text", "encoding", "declared"),
    [
        *((RUSSIAN, "koi8-r", "KOI8-R"), (RUSSIAN, "cp1251", "windows-1251")),
        *((JAPANESE, "cp932", "Shift_JIS"), (JAPANESE, "euc-jp", "euc-jp")),
        *(("联通", "gbk", "gb2312"), ("“é”", "cp1252", "ISO-8859-1"), ("é", "utf-16", "")),
        *(("é", "utf-8-sig", "latin-1"), ("ğ", "cp1254", "iso-8859-9"), (RUSSIAN, "utf-8", "")),
    ],
)
def test_what_a_text_declares_is_believed(text: str, encoding: str, declared: str) -> None:
    assert decode(text.encode(encoding), declared) == (text, "")


@pytest.mark.parametrize("declared", ["iso-8859-1", "windows-1251", "koi8-r", "cp437"])
def test_utf8_that_declares_single_bytes_is_read_as_utf8(declared: str) -> None:
    assert decode("Café".encode(), declared) == (
        "Café",
        f"is not {declared} as it declares; it was read as UTF-8",
    )


@pytest.mark.parametrize(
    "declared", ["punycode", "idna", "unicode_escape", "utf-7", "rot13", "hex", "zip", "nonsense"]
)
def test_encodings_of_no_document_are_not_believed(declared: str) -> None:
    text, flaw = decode(b"\\u0041 +AGEAYg-", declared)
    assert text == "\\u0041 +AGEAYg-"
    assert flaw == f"is not {declared} as it declares; it was read as UTF-8"


def test_stray_bytes_in_utf8_do_not_spoil_the_rest() -> None:
    text, flaw = decode(
        "One\nCafé @quoted#, naïve".encode().replace(b"@", b"\x93").replace(b"#", b"\x94")
    )
    assert text == "One\nCafé “quoted”, naïve"
    assert flaw == "is not UTF-8 (line 2); those bytes were read as Windows-1252"


def test_bytes_that_windows_1252_leaves_open_are_no_text() -> None:
    assert decode(b"caf\xe9 \x93x\x94 \x81\x8d")[0].rstrip() == "café “x”"


def test_a_few_wrong_bytes_in_another_encoding_are_left_out() -> None:
    text, flaw = decode(JAPANESE.encode("cp932") * 20 + b"\x81", "shift_jis")
    assert text == JAPANESE * 20
    assert flaw == "has bytes that are not shift_jis; they are left out"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_known_by_its_zeros(encoding: str) -> None:
    data = "\n<html>Café</html>".encode(encoding)
    assert wide_encoding(data) == encoding
    assert decode(data, declared_in_markup(data)) == ("\n<html>Café</html>", "")
    assert wide_encoding(b"<html>") == wide_encoding(b"\0" * 100) == wide_encoding(b"") == ""
