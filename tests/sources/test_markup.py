"""Markup of unknown quality: no text is lost, and nothing from outside is read."""

import pytest

from pocket_batch.errors import InputError
from pocket_batch.sources.markup import local_name, parse_xhtml, parse_xml, text_of

HEAD = '<html xmlns="http://www.w3.org/1999/xhtml"><body>'


def read(body: str, prologue: str = "") -> str:
    """Return the text of a document."""
    return text_of(parse_xhtml(f"{prologue}{HEAD}{body}</body></html>".encode(), "a.xhtml").root)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>a<p><![CDATA[3 < 4 & x]]>!", "a3 < 4 & x!"),
        ("<p>one</p></body></html><p>two</p>", "onetwo"),
        ("<p>R&D; AT&T &amp; &copy 2020</p>", "R&D; AT&T & © 2020"),
        ("<p>a < b <3 c</p>", "a < b <3 c"),
        ("<p id='a' id='a'>x</p>", "x"),
        ("<p>&#0;a&#x1;b&#xFFFF;&#150;&#1114112;</p>", "ab–"),
        ("<p>a&#28 b&#00000000028;c&#x000000001cz", "a bcz"),
        ("<p>a<i/>b<b>c</p>", "abc"),
        ("<p>&lt;b&gt; &amp;eacute;</p>", "<b> &eacute;"),
        ("<p>a\x00\x0bb</p>", "ab"),
    ],
)
def test_no_text_of_a_malformed_document_is_lost(body: str, text: str) -> None:
    assert read(body) == text


def test_a_doctype_shown_as_an_example_stays() -> None:
    assert read("<pre><![CDATA[<!DOCTYPE html>]]></pre>", "<!-- c --><!DOCTYPE html>") == (
        "<!DOCTYPE html>"
    )


def test_own_entities_may_hold_markup_numbers_and_each_other() -> None:
    doctype = (
        "<?xml version='1.0'?><!-- <p> --><!DOCTYPE html [<!ENTITY a '<b>x</b>&b;'>"
        "<!ENTITY b \"&#8212;'&c;\"><!ENTITY c SYSTEM 'file:///etc/hostname'>"
        "<!ENTITY % d SYSTEM 'file:///etc/hostname'>%d;]>"
    )
    assert read("<p title='&b;'>&a;|&c;|</p>", doctype) == "x—'||"


def test_entities_that_grow_without_end_are_left_out() -> None:
    chain = "".join(f"<!ENTITY l{n} '{f'&l{n - 1};' * 9 if n else 'ha'}'>" for n in range(30))
    found = parse_xhtml(
        f"<!DOCTYPE html [{chain}]>{HEAD}<p>a&l29;&l0;</p></body></html>".encode(), "a"
    )
    assert text_of(found.root) == "aha"
    many = "<!DOCTYPE html [<!ENTITY a '" + "x" * 90_000 + "'>]>"
    assert len(read("&a;" * 90, many)) <= 1_000_000


def test_flaws_name_the_file_and_the_line() -> None:
    markup = parse_xhtml(f"{HEAD}\n<p>&nosuch;</p>\n<p>".encode(), "b/a.xhtml")
    assert markup.flaws == (
        "b/a.xhtml:3 is not well-formed; the document was repaired as HTML.",
        "b/a.xhtml:2 names &nosuch;, which nobody declares; it is left out.",
    )


def test_prefixes_that_nobody_declared_are_known() -> None:
    root = parse_xml(b"<opf:package><dc:title>T</dc:title><o:p/></opf:package>", "a.opf").root
    assert [local_name(element) for element in root.iter()] == ["package", "title", "o:p"]


def test_data_that_is_no_text_is_no_document() -> None:
    with pytest.raises(InputError, match="encrypted or damaged data"):
        parse_xhtml(bytes(range(256)) * 20, "a.xhtml")
    assert text_of(parse_xhtml(b"<p>a</p>" + b"\0" * 900, "a.xhtml").root) == "a"
