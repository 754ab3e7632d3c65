"""Languages, pronunciations, fixed layout: what a book says about itself."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.data import Block, Chapter, Respelling
from pocket_batch.sources.base import read_book
from pocket_batch.sources.book_language import (
    count_words,
    declared_language,
    foreign_words,
    language_tag,
)
from pocket_batch.sources.pronunciations import MAX_ENTRIES

MakeEpub = Callable[..., Path]
PLS = '<item id="pls" href="{name}" media-type="application/pls+xml"/>'
LEXICON = (
    '<lexicon xmlns="http://www.w3.org/2005/01/pronunciation-lexicon" alphabet="{alphabet}" '
    'xml:lang="{language}">{entries}</lexicon>'
)


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        *(("en_US", "en-US"), ("English", "en"), ("Français", "fr"), ("eng", "eng"), ("und", "")),
        *(
            ("en, fr", "en"),
            (" de ", "de"),
            ("zh-Hans-CN", "zh-Hans-CN"),
            ("the book", ""),
            ("", ""),
        ),
    ],
)
def test_what_stands_for_a_language_becomes_a_tag(text: str, tag: str) -> None:
    assert language_tag(text) == tag


def test_several_languages_are_read_as_the_first_with_a_warning() -> None:
    warnings: list[str] = []
    assert declared_language(["und", "en-GB", "en", "fr"], warnings) == "en-GB"
    assert warnings == ["The book declares 3 languages, en-GB, en, fr; it is read as en-GB."]
    assert declared_language(["en-GB", "en"], warnings) == "en-GB"
    assert len(warnings) == 1


def test_foreign_words_are_counted_once_per_language() -> None:
    blocks = [
        Block("paragraph", "word " * 600, language="la"),
        Block("paragraph", "word " * 604, language="la-VA"),
        Block("paragraph", "山路を登りながらこう考えた", language="ja"),
        Block("paragraph", "word " * 900, language="en-US"),
        Block("paragraph", "Guten Morgen", language="de"),
    ]
    assert foreign_words([Chapter(1, "One", tuple(blocks))], "en") == [
        "1,204 words are marked as Latin (la), 13 as Japanese (ja), which the voice of the book "
        "may not speak well."
    ]
    assert foreign_words([], "en") == []


def test_a_book_of_three_letters_is_in_the_language_of_its_documents(
    make_epub: MakeEpub, prose: str
) -> None:
    document = f'<html lang="en"><body><p>{prose}</p><p lang="fr">{prose}</p></body></html>'
    book = read_book(make_epub({"a.xhtml": document}, metadata="<dc:language>eng</dc:language>"))
    assert [block.language for block in book.chapters[0].blocks] == ["", "fr"]
    assert not any("English" in warning for warning in book.warnings)


def test_words_are_letters_where_no_spaces_stand_between_them() -> None:
    assert count_words("two words") == 2
    assert count_words("山路 and ひ") == 4


def test_a_package_without_language_takes_that_of_its_documents(
    make_epub: MakeEpub, prose: str
) -> None:
    document = f'<html lang="fr-CA"><body><p>{prose}</p></body></html>'
    path = make_epub({"a.xhtml": document, "b.xhtml": "<p>b</p>"}, metadata="")
    book = read_book(path)
    assert book.language == "fr-CA"
    assert "its documents are marked as fr-CA" in book.warnings[0]
    assert read_book(make_epub({"b.xhtml": "<p>b</p>"}, metadata="")).language == ""


def test_pronunciation_lexicons_of_the_manifest_become_respellings(make_epub: MakeEpub) -> None:
    entries = (
        "<lexeme role='x:verb'><grapheme>lead</grapheme><phoneme>liːd</phoneme></lexeme>"
        "<lexeme><grapheme>lead</grapheme><phoneme>lɛd</phoneme></lexeme>"
        "<lexeme><grapheme>St</grapheme><grapheme>St.</grapheme><alias>Saint</alias></lexeme>"
        "<lexeme><grapheme>bow</grapheme><phoneme>baʊ</phoneme><phoneme prefer='true'>bəʊ</phoneme>"
        "</lexeme><lexeme><grapheme> </grapheme><alias>x</alias></lexeme>"
        "<lexeme><grapheme>nothing</grapheme></lexeme>"
    )
    sampa = "<lexeme><grapheme>quay</grapheme><phoneme>ki:</phoneme></lexeme>"
    path = make_epub(
        {"a.xhtml": "<p>a</p>"},
        manifest=PLS.format(name="a.pls")
        + PLS.format(name="b.pls").replace("pls", "pls2", 1)
        + PLS.format(name="gone.pls").replace("pls", "pls3", 1),
        members={
            "OEBPS/a.pls": LEXICON.format(alphabet="ipa", language="en-GB", entries=entries),
            "OEBPS/b.pls": LEXICON.format(alphabet="x-sampa", language="en", entries=sampa),
        },
    )
    book = read_book(path)
    assert book.lexicon == (
        Respelling("lead", language="en", ipa="lɛd"),
        Respelling("St", "Saint", language="en"),
        Respelling("St.", "Saint", language="en"),
        Respelling("bow", language="en", ipa="bəʊ"),
    )
    assert any("other than IPA are ignored: 1 in OEBPS/b.pls" in text for text in book.warnings)


def test_a_lexicon_without_end_is_bounded(make_epub: MakeEpub) -> None:
    entries = "".join(
        f"<lexeme><grapheme>w{n}</grapheme><alias>{n}</alias></lexeme>"
        for n in range(MAX_ENTRIES + 9)
    )
    pls = LEXICON.format(alphabet="ipa", language="en", entries=entries)
    path = make_epub(
        {"a.xhtml": "<p>a</p>"}, manifest=PLS.format(name="a.pls"), members={"OEBPS/a.pls": pls}
    )
    book = read_book(path)
    assert len(book.lexicon) == MAX_ENTRIES
    assert "the rest is ignored" in book.warnings[-1]


@pytest.mark.parametrize(
    ("metadata", "members"),
    [
        ('<meta property="rendition:layout">pre-paginated</meta>', {}),
        ('<meta name="fixed-layout" content="true"/>', {}),
        (
            "",
            {
                "META-INF/com.apple.ibooks.display-options.xml": "<display_options><platform>"
                "<option name='fixed-layout'>true</option></platform></display_options>"
            },
        ),
    ],
)
def test_a_fixed_layout_is_noticed_in_all_its_forms(
    make_epub: MakeEpub, metadata: str, members: dict[str, str]
) -> None:
    metadata += "<dc:language>en</dc:language>"
    book = read_book(make_epub({"a.xhtml": "<p>a</p>"}, metadata=metadata, members=members))
    assert "fixed layout" in " ".join(book.warnings)
