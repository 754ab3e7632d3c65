"""Rows of text files and tables, whatever is wrong with some of their lines."""

import contextlib
import gzip
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pocket_batch.dataset_settings import CorpusSettings
from pocket_batch.errors import InputError, PocketBatchError, UsageError
from pocket_batch.rows import CorpusReject, CorpusRow
from pocket_batch.sources.corpus import expand_inputs, read_corpus

Item = CorpusRow | CorpusReject
Read = Callable[..., list[Item]]


def shown(items: list[Item]) -> list[str]:
    """Texts, and for rejects the line and the reason."""
    return [
        item.text
        if isinstance(item, CorpusRow)
        else f"{item.where.partition(':')[2]} {item.reason}"
        for item in items
    ]


def test_marks_and_line_ends_are_gone_and_a_bad_byte_costs_its_line_only(read: Read) -> None:
    """Case 36."""
    found = read("a.txt", b"\xef\xbb\xbfone\r\ntwo \xff\rthree\nfour")
    assert shown(found) == ["one", "2 bad_encoding", "three", "four"]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_read_and_half_a_character_costs_its_line_only(read: Read, encoding: str) -> None:
    data = "\ufeffone\r\ntwo é\nthree".encode(encoding)
    assert shown(read("a.txt", data)) == ["one", "two é", "three"]
    assert shown(read("a.txt", data + b"x")) == ["one", "two é", "3 bad_encoding"]
    alone = "\ud800".encode(encoding, "surrogatepass")
    half = "\ufeffone\n".encode(encoding) + alone + "\ntwo".encode(encoding)
    assert shown(read("a.txt", half)) == ["one", "2 bad_encoding", "two"]


def test_lines_are_the_same_however_the_stream_is_cut(
    read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "\ufeffone\r\ntwo\rthree\n\nfünf 😀\r\n"
    for encoding in ("utf-8", "utf-16-le"):
        for chunk in range(1, 9):
            monkeypatch.setattr("pocket_batch.sources.corpus_lines.CHUNK", chunk)
            found = read("a.txt", text.encode(encoding))
            assert [item.where[6:] for item in found] == ["1", "2", "3", "5"]
            assert shown(found) == ["one", "two", "three", "fünf 😀"]


def test_packed_files_are_read_and_damaged_ones_are_named(read: Read) -> None:
    packed = gzip.compress(random.Random(1).randbytes(999).hex().encode())
    assert len(read("a.txt.gz", packed)) == 1
    for data in (packed[:-9], packed[:30] + b"\0" * 60, b"hello"):
        with pytest.raises(InputError, match=r"a\.txt\.gz"):
            read("a.txt.gz", data)


def test_texts_that_look_like_other_things_stay_as_they_are(read: Read) -> None:
    """Case 2."""
    texts = ["NA", "007", "2024-01-01", "1.50", "true", "null"]
    assert shown(read("a.csv", "text\n" + "\n".join(texts))) == texts
    assert shown(read("a.tsv", "id\ttext\n" + "\n".join(f"1\t{t}" for t in texts))) == texts
    assert shown(read("a.jsonl", "\n".join(f'{{"text":"{t}"}}' for t in texts))) == texts
    assert shown(read("a.jsonl", '{"text":1.50}\n{"text":12}\n{"text":NaN}')) == [
        "1.50", "12", "3 no_text"
    ]  # fmt: skip


def test_a_text_is_one_line(read: Read) -> None:
    assert shown(read("a.csv", 'id,text\n1,"two\nlines\tand  more"\n')) == ["two lines and  more"]
    assert shown(read("a.jsonl", '{"text":"a\\n \\u2028b\\u000bc "}')) == ["a b c"]


def test_an_empty_or_missing_file_is_told_apart(read: Read, tmp_path: Path) -> None:
    """Case 39."""
    for name in ("a.txt", "a.csv", "a.tsv", "a.jsonl", "a.json"):
        assert read(name, "") == read(name, "\n\n") == []
    assert read("a.csv", "id,text\n") == []
    for pattern in ("missing.txt", "no*.txt", str(tmp_path / "none")):
        with pytest.raises(UsageError):
            expand_inputs([pattern])


def test_a_long_sentence_comes_whole(read: Read) -> None:
    """Case 40: what is done with it is decided later."""
    assert len(read("a.txt", "word " * 4000)[0].text) == 19_999


def test_the_files_beside_the_repository_are_read(corpus: Path) -> None:
    for path in expand_inputs([str(corpus / "text")]):
        column = "written" if path.name == "nemo_tn_cases.jsonl" else None
        found = Counter(type(i) for i in read_corpus([path], CorpusSettings(text_column=column)))
        assert found[CorpusRow] > 0, path.name
        assert found[CorpusReject] == 0, path.name


@pytest.mark.parametrize(
    "name",
    ["a.txt", "a.txt.gz", "a.csv", "a.tsv", "a.jsonl", "a.json", "a.json.gz", "a.parquet"],
)
@given(data=st.data())
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_no_bytes_raise_anything_but_our_errors(read: Read, name: str, data: st.DataObject) -> None:
    marks = st.sampled_from([
        b"", b"\xff\xfe", b"\xfe\xff", b"id,text\n", b"a\ttext\n", b"id|text\n", b"[", b"{", b'"',
        b'{"text":"a', b'{"text":', b"}", b"]", b",", b"\n", b"\r", b"text",
        b"PAR1", b"\x1f\x8b\x08",
    ])  # fmt: skip
    pieces = data.draw(st.lists(marks | st.binary(max_size=12), max_size=12))
    with contextlib.suppress(PocketBatchError):
        read(name, b"".join(pieces))
