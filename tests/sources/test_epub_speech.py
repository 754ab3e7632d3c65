"""Languages, pauses, aliases, spelling, pronunciations and formulas, as the book declares them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.data import Book
from pocket_batch.sources.base import read_book

MakeEpub = Callable[..., Path]


def texts(book: Book) -> list[str]:
    """Return what is between the heading and the prose."""
    return [block.text for block in book.chapters[0].blocks][1:-1]


@pytest.mark.parametrize(
    ("body", "languages"),
    [
        ("<p xml:lang='fr'>Bonjour.</p>", ["fr"]),
        ("<div lang='pt_BR'><p>Bom dia.</p><p lang='en-GB'>Good day.</p></div>", ["pt-BR", ""]),
        ("<p>He said <i lang='fr'>oui</i>.</p>", [""]),
        ("<p><i lang='fr'>Oui !</i></p>", ["fr"]),
        ("<p lang='fr'><b lang='en'>Yes</b> oui</p>", ["fr"]),
        ("<p lang='zxx'>Hm.</p>", [""]),
        ("<p lang='English'>Hm.</p>", [""]),
    ],
)
def test_a_block_tells_its_language_where_it_is_not_that_of_the_book(
    read_body: Callable[[str], Book], body: str, languages: list[str]
) -> None:
    assert [block.language for block in read_body(body).chapters[0].blocks[1:-1]] == languages


def test_a_language_that_all_documents_declare_against_the_package_is_an_error(
    make_epub: MakeEpub, page: Callable[..., str], prose: str
) -> None:
    document = page(f"<p>{prose}</p>").replace("<html ", "<html lang='fr' ")
    book = read_book(make_epub({"c.xhtml": document}))
    assert {block.language for block in book.chapters[0].blocks} == {""}
    assert "declare the language fr" in book.warnings[0]


@pytest.mark.parametrize(
    ("mark", "pause_ms"),
    [
        ("<break time='800ms'/>", 800),
        ("<ssml:break xmlns:ssml='http://www.w3.org/2001/10/synthesis' time='1.5s'/>", 1_500),
        ("<break strength='strong'/>", 1_000),
        ("<break/>", 500),
        ("<break time='5h'/>", 500),
        ("<break time='900s'/>", 20_000),
    ],
)
def test_a_break_ends_a_block_in_the_middle_of_a_paragraph(
    read_body: Callable[[str], Book], mark: str, pause_ms: int
) -> None:
    first, second = read_body(f"<p>One,{mark} two.</p>").chapters[0].blocks[1:-1]
    assert (first.text, first.pause_after_ms, first.continues) == ("One,", pause_ms, True)
    assert (second.text, second.pause_after_ms, second.continues) == ("two.", None, False)


def test_a_break_at_the_edge_of_a_paragraph_is_the_pause_after_it(
    read_body: Callable[[str], Book],
) -> None:
    blocks = (
        read_body("<p>One.<break time='2s'/></p><p><break time='3s'/>Two.</p>").chapters[0].blocks
    )
    assert [(b.text, b.pause_after_ms, b.continues) for b in blocks[1:-1]] == [
        ("One.", 3_000, False),
        ("Two.", None, False),
    ]
    assert texts(read_body("<h2>One<break/>Two</h2><p>a<break strength='none'/>b</p>")) == [
        "One Two",
        "ab",
    ]


def test_an_alias_is_read_instead_of_what_is_written(read_body: Callable[[str], Book]) -> None:
    book = read_body("<p>By <sub alias='Standard Ebooks'>S. E.</sub> for H<sub>2</sub>O</p>")
    assert texts(book) == ["By Standard Ebooks for H₂O"]
    assert [(item.reason, item.text) for item in book.dropped] == [
        ("replaced by its alias", "S. E.")
    ]


@pytest.mark.parametrize(
    ("kind", "written", "spoken"),
    [
        ("characters", "NASA", "N A S A"),
        ("spell-out", "a<b>b</b> c", "a b c"),
        ("digits", "1984", "1 9 8 4"),
        ("ordinal", "12", "12th"),
        ("ordinal", "22", "22nd"),
        ("ordinal", "XII", "XII"),
        ("date", "1.2.2003", "1.2.2003"),
    ],
)
def test_words_are_spelled_as_the_book_says(
    read_body: Callable[[str], Book], kind: str, written: str, spoken: str
) -> None:
    assert texts(read_body(f"<p><say-as interpret-as='{kind}'>{written}</say-as></p>")) == [spoken]


def test_pronunciations_of_the_book_go_into_its_lexicon(read_body: Callable[[str], Book]) -> None:
    ssml = "xmlns:ssml='http://www.w3.org/2001/10/synthesis'"
    book = read_body(
        f"<p {ssml} ssml:alphabet='ipa'>The <b ssml:ph='ɡloʊst'>Gloast</b> at "
        "<phoneme ph='bɑθ'>Bath</phoneme> <i ssml:alphabet='x-sampa' ssml:ph='x'>Xi</i></p>"
    )
    assert texts(book) == ["The Gloast at Bath Xi"]
    assert [(entry.written, entry.ipa) for entry in book.lexicon] == [
        ("Gloast", "ɡloʊst"),
        ("Bath", "bɑθ"),
    ]


@pytest.mark.parametrize(
    ("body", "spoken"),
    [
        ("<msup><mi>x</mi><mn>2</mn></msup>", "x²"),
        ("<msub><mi>a</mi><mn>1</mn></msub><mo>+</mo><mn>3</mn>", "a₁ + 3"),
        ("<msup><mrow><mi>x</mi></mrow><mrow><mn>1</mn><mn>2</mn></mrow></msup>", "x¹²"),
        ("<msup><mi>x</mi><mrow><mn>2</mn><mi>n</mi></mrow></msup>", "x 2 n"),
        ("<mfrac><mi>a</mi><mi>b</mi></mfrac>", "a over b"),
        ("<mfrac><mn>7</mn><mn>15</mn></mfrac><mi>b</mi>", "7 over 15 b"),
        ("<mn>3</mn><mn>8</mn><mn>0</mn>", "380"),
        ("<msqrt><mi>x</mi></msqrt><mo>\u2061</mo><mtext>if <b>so</b> be</mtext>", "√ x if so be"),
        ("<semantics><mi>x</mi><annotation>Latin</annotation></semantics>", "x"),
    ],
)
def test_formulas_are_read_symbol_by_symbol(
    read_body: Callable[[str], Book], body: str, spoken: str
) -> None:
    assert texts(read_body(f"<p><math>{body}</math></p>")) == [spoken]


@pytest.mark.parametrize(
    ("source", "spoken"),
    [
        (r"\frac{a}{\sqrt{b}} \leq x^{12}", "a / √ b ≤ x¹²"),
        (r"\alpha_1 \times \mathrm{pi}", "alpha ₁ × pi"),
        ("two plus two", "two plus two"),
    ],
)
def test_a_formula_without_symbols_is_read_from_its_source(
    read_body: Callable[[str], Book], source: str, spoken: str
) -> None:
    assert texts(read_body(f"<p><math alttext='{source}'/></p>")) == [spoken]
