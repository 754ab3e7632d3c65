"""Whatever a book says of itself, its file has a name of its own in its own folder."""

import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.config import load_pipeline
from pocket_batch.data import Book
from pocket_batch.errors import UsageError
from pocket_batch.jobs.night.naming import FIELDS, check_pattern, fit, literal_folder, output_of

PIPELINE = load_pipeline(None, {})
ODD_NAMES = (
    *("..", ".", "/etc/passwd", "../../x", "~", "-rf", "$(x)", "{title}", "a\nb", " . ", "\0"),
    *(
        "CON",
        "nul",
        "C:x",
        "\\\\host\\x",
        "a" * 5000,
        "語" * 300,
        "🙂" * 200,
        "\u202egnp.exe",
        "שלום",
    ),
)
ODD = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(ODD_NAMES)


def reading(**values: Any) -> Any:
    book = replace(Book("id", "Title", ()), **values)
    return SimpleNamespace(
        book=book, speaker=SimpleNamespace(language="en", voice=SimpleNamespace(name="tone"))
    )


def named(pattern: str, source: str = "in/b.epub", **values: Any) -> str:
    return str(output_of(pattern, Path(source), reading(**values), PIPELINE)[0])


@given(ODD, ODD, ODD)
def test_no_name_leaves_its_folder_or_is_empty_or_too_long(
    title: str, name: str, more: str
) -> None:
    path = Path(
        named("out/{author}/{series} {title}.m4b", title=title, authors=(name,), series=more)
    )
    assert path.parts[0] == "out"
    assert len(path.parts) == 3
    for part in path.parts:
        assert part not in ("", ".", "..")
        assert len(part.encode()) <= 200
        assert not set(part) & set('\0\n/\\:*?"<>|\u202e')
    assert path.suffix == ".m4b"
    assert path.stem.strip()


@given(ODD)
def test_a_fitting_name_stays_as_it_is(text: str) -> None:
    assert fit(fit(text)) == fit(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("A/B: C?", "A B C"),
        ("..", "Untitled"),
        ("", "Untitled"),
        (".hidden", "hidden"),
        ("Vol. 1.", "Vol. 1"),
        ("con", "con_"),
        ("LPT1", "LPT1_"),
        ("Console", "Console"),
        ("exe.\u202e3pm", "exe.3pm"),
        ("a\u2028b\x85c", "a b c"),
        ("שלום 🙂", "שלום 🙂"),
    ],
)
def test_names_are_cleaned(text: str, name: str) -> None:
    assert fit(text) == name


def test_a_title_of_a_million_letters_is_cut_at_once() -> None:
    started = time.monotonic()
    assert len(fit("é " * 1_000_000).encode()) <= 180
    assert time.monotonic() - started < 0.5


@pytest.mark.parametrize(
    ("pattern", "path", "kind"),
    [
        ("out/{stem}.m4b", "out/b.m4b", "m4b"),
        ("out/{stem}.m4a", "out/b.m4a", "m4b"),
        ("out/{stem}.MP3", "out/b.MP3", "mp3"),
        ("out/{stem}", "out/b.m4b", "m4b"),
        ("out/{title}/", "out/Dr. No v2.0.m4b", "m4b"),
        ("out/{title}.{format}", "out/Dr. No v2.0.m4b", "m4b"),
        ("{folder}/{stem}.flac", "in/b.flac", "flac"),
        ("{year}-{language}-{voice}-{title}.opus", "Undated-en-tone-Dr. No v2.0.opus", "opus"),
        ("{author}/{series}/{series_part} {stem}.wav", "Unknown/No series/0 b.wav", "wav"),
    ],
)
def test_a_pattern_names_the_file_and_its_format(pattern: str, path: str, kind: str) -> None:
    found, pipeline = output_of(pattern, Path("in/b.epub"), reading(title="Dr. No v2.0"), PIPELINE)
    assert (str(found), pipeline.write.format) == (path, kind)


def test_a_folder_of_chapters_has_no_suffix() -> None:
    pipeline = load_pipeline(None, {"write.split_chapters": True, "write.format": "mp3"})
    found, pipeline = output_of("out/{title}", Path("b.txt"), reading(title="Vol. 1"), pipeline)
    assert (str(found), pipeline.write.format) == ("out/Vol. 1", "mp3")


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("out/{titel}.m4b", "Did you mean `title`"),
        ("out/book.m4b", r"needs \{stem\} or \{title\}"),
        ("out/{author}.m4b", r"needs \{stem\} or \{title\}"),
        ("out/{stem.m4b", "needs"),
        ("out/{stem}}.m4b", "a brace there belongs to no field"),
        ("out/{}/{stem}.m4b", "has no field ``"),
        ("out/{stem!r}.m4b", "has no field `stem!r`"),
        ("out/{{stem}}.m4b", "a brace"),
    ],
)
def test_a_pattern_that_makes_no_sense_is_refused(pattern: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        check_pattern(pattern, Path("job.yaml"))


def test_all_fields_are_known_and_found() -> None:
    for name in FIELDS:
        pattern = f"{{{name}}} {{stem}}"
        check_pattern(pattern, Path("job.yaml"))
        assert "{" not in named(pattern)


def test_the_run_folder_is_beside_the_first_field() -> None:
    assert literal_folder("/a/b/{author}/{title}.m4b", "audiobook") == Path("/a/b")
    assert literal_folder("/a/x-{title}.m4b", "audiobook") == Path("/a")
    assert literal_folder("/a/set", "dataset") == Path("/a")
