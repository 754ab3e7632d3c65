"""Plain text and Markdown: paragraphs, chapters, what is left out, and what is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.data import Book
from pocket_batch.errors import InputError
from pocket_batch.settings import ReadSettings
from pocket_batch.sources.base import read_book

Read = Callable[..., Book]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Read a text as a file."""

    def read_text(content: str | bytes, name: str = "x.txt", **settings: bool) -> Book:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_book(path, ReadSettings(**settings))  # type: ignore[arg-type]

    return read_text


def outline(book: Book) -> list[tuple[str, list[str]]]:
    """Return the titles with the texts of their blocks."""
    return [(c.title, [block.text for block in c.blocks]) for c in book.chapters]


def test_hard_wrapped_lines_are_joined_and_chapters_found(read: Read) -> None:
    book = read(
        "PART ONE\r\n\r\nCHAPTER I.\r\nDown the Hole\r\n\r\nText _one_ is\r\nwell-\r\n"
        "known.\r\n\r\n* * *\r\n\r\nMore.\r\n\r\nCHAPTER II\r\n\r\nTwo.\r\n\r\n"
        "Epilogue\r\n\r\nEnd.\r\n"
    )
    assert outline(book) == [
        ("PART ONE", ["PART ONE"]),
        (
            "CHAPTER I. Down the Hole",
            ["CHAPTER I. Down the Hole", "Text one is well-known.", "", "More."],
        ),
        ("CHAPTER II", ["CHAPTER II", "Two."]),
        ("Epilogue", ["Epilogue", "End."]),
    ]
    assert [chapter.level for chapter in book.chapters] == [1, 2, 2, 2]
    assert book.chapters[1].blocks[1].where == "x.txt:6"


@pytest.mark.parametrize(
    "line",
    ["Chapter 3", "CHAPTER IV. Title", "Part One", "Chapter Twenty-One: The End", "Kapitel 3"],
)
def test_lines_that_name_a_chapter_begin_one(read: Read, line: str) -> None:
    assert outline(read(f"Before.\n\n{line}\n\nText."))[1] == (line, [line, "Text."])


@pytest.mark.parametrize(
    "line",
    ["Chapter 3 was the hardest.", "Part of the way", "Book I read yesterday", "In Chapter 3"],
)
def test_sentences_that_mention_a_chapter_do_not(read: Read, line: str) -> None:
    assert len(read(f"Before.\n\n{line}\n\nText.").chapters) == 1


def test_bare_numbers_count_only_in_a_row_from_one(read: Read) -> None:
    assert [c.title for c in read("I\n\na\n\nII.\n\nb\n\nIII\n\nc").chapters] == ["I", "II.", "III"]
    assert len(read("1887\n\na\n\n2\n\nb").chapters) == 1


def test_a_table_of_contents_gives_no_chapters(read: Read) -> None:
    names = [f"Chapter {n}" for n in range(1, 5)]
    text = "\n\n".join(["CONTENTS", *names, *(f"{name}\n\n{'Text. ' * 20}" for name in names)])
    book = read(text)
    assert [chapter.title for chapter in book.chapters] == names
    assert book.dropped[0].text.splitlines() == ["CONTENTS", *names]
    kept = read(text, keep_matter=True)
    assert [chapter.title for chapter in kept.chapters][1:] == names
    assert [b.text for b in kept.chapters[0].blocks] == ["CONTENTS", *names]
    assert not kept.dropped
    wrapped = "\n".join(f"  CHAPTER {n}.  Title" for n in "IVX")
    assert len(read(f"Contents\n\n{wrapped}\n\nCHAPTER I. Title\n\n{'Text. ' * 40}").chapters) == 1


def test_gutenberg_header_credits_and_licence_are_left_out(read: Read) -> None:
    book = read(
        "The Project Gutenberg EBook of Emma\n\nTitle: Emma\n\nAuthor: Jane Austen\n\n"
        "Language: English\n\n*** START OF THIS PROJECT GUTENBERG EBOOK EMMA ***\n\n"
        "Produced by Volunteers\n\n[Illustration: A bridge]\n\nCHAPTER I\n\nText.\n\n"
        "End of the Project Gutenberg EBook of Emma\n\nLicence.\n"
    )
    assert (book.title, book.authors, book.language) == ("Emma", ("Jane Austen",), "en")
    assert outline(book) == [("CHAPTER I", ["CHAPTER I", "Text."])]
    assert len(book.dropped) == 3


def test_gutenberg_lines_inside_a_long_text_silence_nothing(read: Read) -> None:
    text = "Text. " * 6_000
    inside = (
        "*** END OF THIS PROJECT GUTENBERG EBOOK A ***\n\n*** START OF THIS PROJECT GUTENBERG B"
    )
    assert read(f"{text}\n\n{inside}\n\n{text}").dropped == ()


def test_a_header_of_the_same_form_is_metadata_without_gutenberg(read: Read) -> None:
    book = read("Title: A Story\nAuthor: Nobody\nLanguage: pt-BR\n\nText.\n")
    assert (book.title, book.authors, book.language) == ("A Story", ("Nobody",), "pt-BR")
    assert outline(book) == [("A Story", ["Text."])]


def test_a_text_without_headings_is_one_chapter_named_like_its_file(read: Read) -> None:
    assert outline(read("One.\n\nTwo.", "My Story.txt")) == [("My Story", ["One.", "Two."])]


def test_long_lines_are_paragraphs_of_their_own(read: Read) -> None:
    line = "A sentence that is never wrapped. " * 10
    assert len(read(f"{line}\n{line}\n{line}").chapters[0].blocks) == 3


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_texts_are_decoded_by_their_mark_as_utf8_or_cp1252(read: Read, encoding: str) -> None:
    book = read("Café “quoted”".encode(encoding))
    assert book.chapters[0].blocks[0].text == "Café “quoted”"
    assert bool(book.warnings) == (encoding == "cp1252")


@pytest.mark.parametrize("name", ["x.txt", "x.md"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b" \n", "the file is empty"),
        (bytes(range(256)) * 10, "binary data"),
        (b"%PDF-1.4", "this is a PDF"),
        (b"***\n\n---\n", "nothing in it can be read"),
    ],
)
def test_files_without_text_are_refused(
    read: Read, name: str, content: bytes, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read(content, name)


def test_markdown_is_read_as_it_is_shown(read: Read) -> None:
    book = read(
        '---\ntitle: "My Book"\nauthor:\n  - Ann\n  - Bea\nlanguage: en\n---\n# My Book\n\n'
        "Intro _text_ with [a link](http://x.org), ![alt](x.png) and `code`.\n\nOne\n---\n\n"
        "First para\nhard wrapped.\n\n***\n\n1. item\n2. other\n\n## Two ##\n\n"
        "snake_case & <b>html</b>\n",
        "x.md",
    )
    assert (book.title, book.authors, book.language) == ("My Book", ("Ann", "Bea"), "en")
    assert outline(book) == [
        ("My Book", ["My Book", "Intro text with a link, and code."]),
        ("One", ["One", "First para hard wrapped.", "", "1. item", "2. other"]),
        ("Two", ["Two", "snake_case & html"]),
    ]
    assert book.chapters[1].blocks[1].where == "x.md:15"


def test_markdown_without_front_matter_takes_its_only_top_heading_as_title(read: Read) -> None:
    assert read("# Title\n\nText.", "x.md").title == "Title"
    assert read("Text.\n\n---\n\ntitle: no", "x.md").title == "x"


def test_bare_numbers_between_a_prologue_and_an_epilogue_are_chapters(tmp_path: Path) -> None:
    path = tmp_path / "novel.txt"
    parts = ("Prologue", "1", "2", "III", "Four", "Epilogue")
    path.write_text("\n\n".join(f"{part}\n\nSomething happened." for part in parts))
    assert [chapter.title for chapter in read_book(path).chapters] == list(parts)


WRAPPED = "The harbour was quiet that morning, and the nets lay folded on"


def test_paragraphs_may_begin_at_an_indent(read: Read) -> None:
    text = (
        f"    {WRAPPED}\nthe quay.\n    “Nobody,” she said.\n    “Nobody at all.”\n    {WRAPPED}\n"
        f"{WRAPPED}\n{WRAPPED}\nthe quay."
    )
    assert [block.text for block in read(text).chapters[0].blocks] == [
        f"{WRAPPED} the quay.",
        "“Nobody,” she said.",
        "“Nobody at all.”",
        f"{WRAPPED} {WRAPPED} {WRAPPED} the quay.",
    ]


def test_a_short_line_that_ends_a_sentence_ends_a_paragraph(read: Read) -> None:
    text = f"{WRAPPED}\nthe quay.\n{WRAPPED}\nthe stones, as Mr.\nfinch had said."
    assert [block.text for block in read(text).chapters[0].blocks] == [
        f"{WRAPPED} the quay.",
        f"{WRAPPED} the stones, as Mr. finch had said.",
    ]
    verse = "The road is long.\nThe salt is white.\n  Nobody sings."
    assert len(read(verse).chapters[0].blocks) == 1


def test_a_heading_right_above_its_text_begins_a_chapter(read: Read) -> None:
    text = f"CHAPTER I\n{WRAPPED}\n{WRAPPED}\nthe quay.\n\nCHAPTER II\n{WRAPPED}\n{WRAPPED}\nit."
    assert [chapter.title for chapter in read(text).chapters] == ["CHAPTER I", "CHAPTER II"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\r\r\n", "\u2028"])
def test_lines_may_end_in_any_way(read: Read, end: str) -> None:
    book = read(end.join(["\ufeffChapter 1", "", "Text of", "two lines.", "", "More."]))
    assert outline(book) == [("Chapter 1", ["Chapter 1", "Text of two lines.", "More."])]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16_is_known_without_a_mark(read: Read, encoding: str) -> None:
    assert read("Café “quoted”".encode(encoding)).chapters[0].blocks[0].text == "Café “quoted”"


@pytest.mark.parametrize("name", ["x.txt", "x.md"])
def test_marks_for_pauses_and_voices_are_left_as_they_are(read: Read, name: str) -> None:
    said = "One. [pause 800ms] [voice marius]“Two,”[/voice] he said. [rate 0.9]"
    text = f"{said}\n\n[pause 2s]\n\nThree."
    assert [block.text for block in read(text, name).chapters[0].blocks] == [
        said,
        "[pause 2s]",
        "Three.",
    ]


MARKDOWN_NOTES = (
    "The bell[^1] rang `x[^1]` twice[^b].\n\n[^1]: By the *clock*.\n[^b]: http://example.org\n\n"
    "```\n[^1]: code\n```\n\nSee [^none].\n"
)


def test_notes_in_markdown_are_left_out_or_moved_like_those_of_books(
    read: Read, tmp_path: Path
) -> None:
    book = read(MARKDOWN_NOTES, "x.md")
    assert [(block.where, block.text) for block in book.chapters[0].blocks] == [
        ("x.md:1", "The bell rang x[^1] twice."),
        ("x.md:6", "[^1]: code"),
        ("x.md:10", "See [^none]."),
    ]
    assert [(item.where, item.reason, item.text) for item in book.dropped] == [
        ("x.md:1", "note mark", "1 b"),
        ("x.md:3", "note", "By the clock.\nhttp://example.org"),
    ]
    inline = read_book(tmp_path / "x.md", ReadSettings(notes="inline"))
    texts = [block.text for block in inline.chapters[0].blocks]
    assert texts[1:3] == ["By the clock.", "http://example.org"]


def test_the_language_of_a_text_may_be_a_name(read: Read) -> None:
    assert read("Title: T\nLanguage: Deutsch\n\nText.").language == "de"
    assert read("---\nlang: pt_BR\n---\nText.", "x.md").language == "pt-BR"
    assert read("---\nlanguage: the king's\n---\nText.", "x.md").language == ""


def test_the_lines_of_a_header_may_come_in_any_order(read: Read) -> None:
    book = read("Language: en\nAuthor: B\nTitle: A\n\nChapter 1\n\nHello there, you.\n")
    assert (book.title, book.authors, book.language) == ("A", ("B",), "en")
    assert [chapter.title for chapter in book.chapters] == ["Chapter 1"]
