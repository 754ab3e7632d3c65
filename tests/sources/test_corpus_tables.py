"""Tables: which of their columns count, and what one bad row costs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.errors import InputError, UsageError
from pocket_batch.rows import CorpusReject, CorpusRow
from pocket_batch.sources.corpus_columns import split_named

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


def test_a_quote_that_is_not_closed_costs_its_row_only(read: Read) -> None:
    found = read("a.csv", 'id,text\n1,"oops\n2,b\n3,"c, d"\n4,d\n')
    assert shown(found) == ["2 bad_line", "b", "c, d", "d"]
    many = "".join(f"{n},row\n" for n in range(3000))
    assert shown(read("a.csv", f'id,text\n1,"oops\n{many}')) == ["2 bad_line", *["row"] * 3000]


def test_a_bad_byte_in_a_cell_of_many_lines_costs_the_whole_row(read: Read) -> None:
    assert shown(read("a.csv", b'id,text\n1,"a\n\xff\nb"\n2,c\n')) == ["3 bad_encoding", "c"]


def test_quotes_inside_a_cell_are_kept_or_undone(read: Read) -> None:
    text = 'id,text\n1,"He said ""hi, there""."\n2,"Go" he said\n3,say "hi"\n'
    assert shown(read("a.csv", text)) == ['He said "hi, there".', '"Go" he said', 'say "hi"']
    text = 'id\ttext\n1\t"Hello" he said\n2\t"unbalanced\n3\t"two ""q"" words"\n4\t"a\tb"\n'
    assert shown(read("a.tsv", text)) == [
        '"Hello" he said', '"unbalanced', 'two "q" words', "a b"
    ]  # fmt: skip


def test_a_column_alone_may_have_commas(read: Read) -> None:
    assert shown(read("a.csv", 'text\nHello, world\nfoo\n"a, ""b"""\n')) == [
        "Hello, world", "foo", 'a, "b"'
    ]  # fmt: skip


def test_what_is_above_or_in_a_header_does_not_spoil_its_columns(read: Read) -> None:
    assert shown(read("a.csv", "\n\nid,text\n1,a\n")) == ["a"]
    assert shown(read("a.csv", b"i\xffd,text\n1,a\n")) == ["a"]
    assert shown(read("a.csv", "id;text\n1;a, b\n")) == ["a, b"]
    assert shown(read("a.csv", "text,text\na,b\n")) == ["a"]


def test_too_many_cells_are_a_bad_row_and_too_few_have_no_text(read: Read) -> None:
    found = read("a.csv", "id,text\n1\n2,b,c\n3,d,,\n")
    assert shown(found) == ["2 no_text", "3 bad_line", "d"]


def test_pipes_without_a_header_are_ljspeech_or_piper(read: Read) -> None:
    text = 'LJ1|Dr. "A|Doctor A\nLJ2|x|y\nLJ3|too|many|cells\n'
    found = read("metadata.csv", text)
    assert shown(found) == ['Dr. "A', "x", "3 bad_line"]
    assert found[0].id == "LJ1"
    assert shown(read("metadata.csv", text, text_column="normalized_text"))[0] == "Doctor A"
    assert shown(read("metadata.csv", "u1|hello, you\nu2|bye\n")) == ["hello, you", "bye"]


def test_pipes_with_a_header_have_its_columns(read: Read) -> None:
    (row,) = read("a.csv", "id|text|speaker\n1|a|joe\n", voice_column="speaker")
    assert isinstance(row, CorpusRow)
    assert (row.text, row.id, row.voice) == ("a", "1", "joe")
    assert shown(read("a.csv", "utt|said\n1|a\n", text_column="said")) == ["a"]


@pytest.mark.parametrize("space", ["", "\n\n", "\ufeff \n"])
def test_json_may_be_one_array_or_written_over_many_lines(read: Read, space: str) -> None:
    for text in (
        '[{"text":"a"},{"text":"b"}]',
        '[\n {\n  "text": "a"\n },\n {"text":"b"}\n]\n',
        '{"text":"a"}\n\n{"text":"b"}',
        '{\n "text": "a"\n}\n{\n "text": "b"\n}',
    ):
        assert shown(read("a.json", space + text)) == ["a", "b"]


def test_a_bad_item_of_json_costs_that_item_only(read: Read) -> None:
    found = read("a.json", b'[{"text":"a"},\n{"text":"\xff"},\n7,\n{"text":"c"}]')
    assert shown(found) == ["a", "2 bad_encoding", "3 bad_line", "c"]
    found = read("a.jsonl", '{"text":"ok"}\n{broken\n[1]\n{"text":null}\n{"text":"a\\ud800b"}\n')
    assert shown(found) == ["ok", "2 bad_line", "3 bad_line", "4 no_text", "5 bad_encoding"]
    deep = '{"text":' + "[" * 100_000
    assert shown(read("a.jsonl", f'{{"text":"a"}}\n{deep}\n')) == ["a", "2 bad_line"]


def test_an_array_that_does_not_end_is_told_with_its_place(read: Read) -> None:
    with pytest.raises(InputError, match=r"a\.json:2"):
        read("a.json", '[{"text":"a"},\n{"text":')


def test_a_field_may_come_late_but_must_come(read: Read) -> None:
    late = '{"text":"a"}\n' * 1500 + '{"text":"b","v":"joe"}\n'
    assert read("a.jsonl", late, voice_column="v")[-1].voice == "joe"
    assert shown(read("a.jsonl", '{"id":1}\n{"text":"b"}\n')) == ["1 no_text", "b"]
    with pytest.raises(UsageError, match="no column `w`"):
        read("a.jsonl", late, voice_column="w")
    with pytest.raises(UsageError, match="Did you mean `sentance`"):
        read("a.csv", "id,sentance\n1,2\n", text_column="sentence")
    with pytest.raises(UsageError, match="--text-column"):
        read("a.csv", "foo,bar\n1,2\n")


def test_lists_give_a_row_for_each_item(read: Read) -> None:
    text = (
        '{"d":[{"n":"x","s":[{"t":"a","i":1},{"t":"b","i":2}]},{"n":"y","s":[]}],"m":{"s":"dev"}}'
    )
    found = read("a.jsonl", text, text_column="d[].s[].t", id_column="d[].s[].i",
        split_column="m.s", keep_columns=("d[].n",))  # fmt: skip
    rows = [item for item in found if isinstance(item, CorpusRow)]
    assert [(r.text, r.id, r.where, r.split) for r in rows] == [
        ("a", "1", "a.jsonl:1.1.1", "validation"),
        ("b", "2", "a.jsonl:1.1.2", "validation"),
    ]
    assert [row.columns["d[].n"] for row in rows] == ["x", "x"]


def test_lists_without_texts_are_rejects_and_a_wrong_name_an_error(read: Read) -> None:
    text = '{"s":null}\n{"s":[]}\n{"s":[{"text":"z"}]}\n{"s":["q"]}\n'
    found = read("a.jsonl", text, text_column="s[].text")
    assert shown(found) == ["1 no_text", "2 no_text", "z", "4.1 no_text"]
    with pytest.raises(UsageError, match=r"no column `s\[\]\.txt`"):
        read("a.jsonl", '{"s":[{"text":"a"}]}\n', text_column="s[].txt")


@pytest.mark.parametrize(
    ("names", "split"),
    [
        ("train train-clean-100 train.clean.100 train1 TRAINING other_train", "train"),
        ("dev dev_other validation VALID val2", "validation"),
        ("test test2 test.other", "test"),
        ("foo train-dev 7 -", ""),
    ],
)
def test_splits_go_by_many_names(names: str, split: str) -> None:
    assert {split_named(name) for name in names.split()} == {split}


def test_a_parquet_file_is_read_without_its_audio(read: Read, tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    table = {"text": ["a", None], "audio": [{"bytes": b"x"}] * 2, "n": [1.5, float("nan")]}
    pyarrow.parquet.write_table(pyarrow.table(table), tmp_path / "b.parquet")
    data = (tmp_path / "b.parquet").read_bytes()
    found = read("a.parquet", data, keep_columns=("n",))
    assert shown(found) == ["a", "2 no_text"]
    for damaged in (data[:-40], b"xx", b""):
        with pytest.raises(InputError, match=r"a\.parquet"):
            read("a.parquet", damaged)
