"""Files of respellings: what they may say, what is refused with its line, and which are used."""

from pathlib import Path

import pytest

from pocket_batch.data import Book, Respelling
from pocket_batch.errors import UsageError
from pocket_batch.jobs.lexicon import lexicon_files, lexicon_note, load_lexicon, unread_ipa
from pocket_batch.jobs.lexicon_file import read_lexicon
from pocket_batch.settings import NormalizeSettings

BOOK = Book("id", "A Title", ())

YAML = r"""
# names
Hermione: her-MY-oh-nee
Siobhan: /ʃɪˈvɔːn/
no: know
1984: nineteen eighty-four
12:30: half past twelve
Muggle:                 # 12 times
"[sic]": ""
en:
  lead: leed
entries:
  - {written: 'St\. (\w+)', spoken: 'Saint \1', regex: true, language: en}
  - written: Nice
    spoken: neese
    match_case: no
    ipa: niːs
"""


def write(folder: Path, text: str, name: str = "words.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_yaml_is_a_map_of_words_with_maps_by_language_and_a_list_of_entries(tmp_path: Path) -> None:
    entries = read_lexicon(write(tmp_path, YAML))
    assert set(entries) == {
        Respelling("Hermione", "her-MY-oh-nee"),
        Respelling("Siobhan", ipa="ʃɪˈvɔːn"),
        Respelling("no", "know"),
        Respelling("1984", "nineteen eighty-four"),
        Respelling("12:30", "half past twelve"),
        Respelling("[sic]", ""),
        Respelling("lead", "leed", "en"),
        Respelling(r"St\. (\w+)", r"Saint \1", "en", is_regex=True),
        Respelling("Nice", "neese", match_case=False, ipa="niːs"),
    }


def test_yaml_may_be_the_list_alone_and_an_empty_file_is_an_empty_lexicon(tmp_path: Path) -> None:
    listed = write(tmp_path, "- {written: a, spoken: b}\n- {written: c}\n")
    assert read_lexicon(listed) == (Respelling("a", "b"),)
    assert read_lexicon(write(tmp_path, "# nothing yet\n")) == ()


CSV = """word,respelling,language,flags
Hermione,her-MY-oh-nee
# a comment
lead,leed,en
"St\\. (\\w+)","Saint \\1",en,regex nocase
Nice,"neese, really",,case
Siobhan,ʃɪˈvɔːn,,ipa
Muggle,
"""
ROWS = {
    Respelling("Hermione", "her-MY-oh-nee"),
    Respelling("lead", "leed", "en"),
    Respelling(r"St\. (\w+)", r"Saint \1", "en", is_regex=True, match_case=False),
    Respelling("Nice", "neese, really", match_case=True),
    Respelling("Siobhan", ipa="ʃɪˈvɔːn"),
}


def test_csv_has_a_row_for_each_word_with_or_without_a_header(tmp_path: Path) -> None:
    assert set(read_lexicon(write(tmp_path, CSV, "a.csv"))) == ROWS
    assert set(read_lexicon(write(tmp_path, CSV.split("\n", 1)[1], "b.csv"))) == ROWS


@pytest.mark.parametrize(("delimiter", "name"), [("\t", "a.tsv"), ("\t", "a.csv"), (";", "a.csv")])
def test_tables_may_be_cut_at_tabs_or_semicolons(tmp_path: Path, delimiter: str, name: str) -> None:
    text = "respelling,word\nleed,lead\n".replace(",", delimiter)
    assert read_lexicon(write(tmp_path, text, name)) == (Respelling("lead", "leed"),)


def test_a_table_may_come_from_a_spreadsheet(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for encoding in ("utf-8-sig", "utf-16"):
        path.write_bytes("Zoë;zoh-ee\r\n".encode(encoding))
        assert read_lexicon(path) == (Respelling("Zoë", "zoh-ee"),)
    path.write_bytes("Zoë,x".encode("latin-1"))
    with pytest.raises(UsageError, match="UTF-8"):
        read_lexicon(path)


@pytest.mark.parametrize(
    ("name", "text", "line", "says"),
    [
        ("a.yaml", "a: b\nentries:\n- {written: a, spokn: b}", 3, "`spoken`"),
        ("a.yaml", "entries:\n- {spoken: b}", 2, "`written`"),
        ("a.yaml", "entries:\n- {written: '(', spoken: b, regex: true}", 2, "not valid"),
        ("a.yaml", "entries:\n- {written: '(a+)+', spoken: b, regex: true}", 2, "forever"),
        ("a.yaml", "entries:\n- {written: a, spoken: b, regex: maybe}", 2, "true or false"),
        ("a.yaml", "entries:\n- {written: a, spoken: [b]}", 2, "single value"),
        ("a.yaml", "entries:\n- {written: a, spoken: b, language: English}", 2, "language code"),
        ("a.yaml", "Hermione:\n  spoken: b", 1, "list called `entries`"),
        ("a.yaml", "tom: {spoken: b}", 1, "list called `entries`"),
        ("a.yaml", "just words", 1, "word: respelling"),
        ("a.csv", "a,b\nc,d,english words", 2, "language code"),
        ("a.csv", "a,b\n\nc,d,en,regx", 3, "`regex`"),
        ("a.csv", "a,b,,,e", 1, "double quotes"),
        ("a.csv", "word,respelling,langage\na,b,en", 1, "`language`"),
        ("a.csv", "x,y\n,b", 2, "a word"),
        ("a.yaml", "a: b\nc: /d", 2, "two slashes"),
        ("a.yaml", "a: //", 1, "two slashes"),
        ("a.csv", "a,b\nc,/d", 2, "two slashes"),
    ],
)
def test_what_is_wrong_is_told_with_file_line_and_entry(
    tmp_path: Path, name: str, text: str, line: int, says: str
) -> None:
    path = write(tmp_path, text, name)
    with pytest.raises(UsageError, match=f"line {line}: ") as caught:
        read_lexicon(path)
    assert str(path) in str(caught.value)
    assert says in str(caught.value)


def test_an_alias_or_a_wrong_suffix_or_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="line 1 has an alias"):
        read_lexicon(write(tmp_path, "a: &x b\nc: *x"))
    with pytest.raises(UsageError, match=r"\.csv"):
        read_lexicon(write(tmp_path, "a b", "words.txt"))
    with pytest.raises(UsageError, match="no lexicon"):
        lexicon_files(tmp_path / "b.epub", NormalizeSettings(str(tmp_path / "none.yaml")))


def test_lexicons_beside_the_book_are_used_unless_a_file_is_named(tmp_path: Path) -> None:
    source = tmp_path / "story.epub"
    write(tmp_path, "a: from folder\nb: from folder", "lexicon.yaml")
    write(tmp_path, "b,from book", "story.lexicon.csv")
    write(tmp_path, "b: from other", "other.lexicon.yaml")
    lexicon = load_lexicon(source, BOOK, NormalizeSettings(), "en")
    assert lexicon.resolve(lexicon.mark("so a or b")) == "so from folder or from book"
    note = lexicon_note(source, BOOK, NormalizeSettings())
    assert note == "Words are respelled by story.lexicon.csv and lexicon.yaml beside the book."
    named = NormalizeSettings(str(tmp_path / "other.lexicon.yaml"))
    lexicon = load_lexicon(source, BOOK, named, "en")
    assert lexicon.resolve(lexicon.mark("so a or b")) == "so a or from other"
    assert lexicon_note(source, BOOK, named) == "Words are respelled by other.lexicon.yaml."
    none = NormalizeSettings("none")
    assert load_lexicon(source, BOOK, none, "en").is_empty
    assert lexicon_note(source, BOOK, none) == ""


def test_words_in_phonetic_letters_alone_are_told_for_a_voice_without_them(tmp_path: Path) -> None:
    source = tmp_path / "story.epub"
    path = write(tmp_path, "Ann: /æn/\nBea: bee\nZoe: /ˈzoʊi/\nfr: {le: /lə/}", "lexicon.yaml")
    assert "`Ann` and 1 more in phonetic letters" in unread_ipa(
        source, NormalizeSettings(), "en-US"
    )
    assert unread_ipa(source, NormalizeSettings("none"), "en") == ""
    path.write_text("entries:\n- {written: Ann, spoken: an, ipa: æn}", encoding="utf-8")
    assert unread_ipa(source, NormalizeSettings(), "en-US") == ""


def test_what_the_book_says_of_its_words_comes_last(tmp_path: Path) -> None:
    own = (
        Respelling("Ann", "book", "eng"),
        Respelling("Bea", "bee", "en-US"),
        Respelling("Zoe", ipa="ˈzoʊi"),
    )
    book = Book("id", "A Title", (), lexicon=own)
    write(tmp_path, "ann: file", "lexicon.yaml")
    lexicon = load_lexicon(tmp_path / "b.epub", book, NormalizeSettings(), "eng")
    assert lexicon.resolve(lexicon.mark("to Ann, Bea, Zoe")) == "to file, bee, Zoe"
    note = lexicon_note(tmp_path / "b.epub", book, NormalizeSettings())
    assert "the book itself (2 words)" in note
    assert "1 word in phonetic letters" in note


def test_of_two_entries_for_a_word_the_later_holds(tmp_path: Path) -> None:
    path = write(tmp_path, "bow,boh\nbow,bough\n", "lexicon.csv")
    lexicon = load_lexicon(path.with_name("b.txt"), BOOK, NormalizeSettings(), "en")
    assert lexicon.resolve(lexicon.mark("a bow")) == "a bough"


def test_ten_thousand_entries_are_read_at_once(tmp_path: Path) -> None:
    path = write(tmp_path, "".join(f"word{i}: spoken {i}\n" for i in range(10_000)))
    assert len(read_lexicon(path)) == 10_000
