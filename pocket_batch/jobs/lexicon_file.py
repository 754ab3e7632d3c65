"""Files of respellings: YAML and CSV (or TSV).

YAML is a map of words, with maps of a language's words in it, and a list of entries for all else:

    Hermione: her-MY-oh-nee
    Siobhan: /ʃɪˈvɔːn/
    en:
      lead: leed
    entries:
      - {written: 'St\\. (\\w+)', spoken: 'Saint \\1', regex: true, language: en}

CSV has the columns word, respelling, language and flags (regex, case, nocase, ipa); a header may
put them in another order. A word without a respelling waits to be filled in and changes nothing.
Of two entries for the same word the later one holds.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from pocket_batch.bcp47 import TAG
from pocket_batch.config import nearest
from pocket_batch.data import Respelling
from pocket_batch.errors import UsageError
from pocket_batch.text.respell import compiled
from pocket_batch.yaml_files import YamlNode, read_words

SUFFIXES = (".yaml", ".yml", ".csv", ".tsv")
MAX_BYTES = 64_000_000

_FIELDS = ("written", "spoken", "language", "regex", "match_case", "ipa")
_FLAGS = ("regex", "case", "nocase", "ipa")
_COLUMNS = ("word", "respelling", "language", "flags")
_OTHER_NAMES = {"written": "word", "spoken": "respelling"}  # of columns
_TRUTH = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_LANGUAGES = ("de", "en", "es", "fr", "it", "nl", "pt")  # that voices speak
_IPA = re.compile(r"/\s*([^/]+?)\s*/")  # `/ʃɪˈvɔːn/` as a respelling

Fail = Callable[[int, str], UsageError]  # from a line and a sentence


def read_lexicon(path: Path) -> tuple[Respelling, ...]:
    """The entries of a file, those that win first.

    Raises:
        UsageError: the file cannot be read, or a line of it says something wrong.
    """
    _check_file(path)

    def fail(line: int, sentence: str) -> UsageError:
        return UsageError(f"{path}, line {line}: {sentence}")

    read = _read_yaml if path.suffix.lower() in (".yaml", ".yml") else _read_table
    entries = []
    for line, entry in read(path, fail):
        if entry.language and not TAG.fullmatch(entry.language):
            raise fail(line, f"`{entry.language:.40}` is not a language code, such as en or pt-BR.")
        if entry.is_regex:
            try:
                compiled(entry)
            except UsageError as error:
                raise fail(line, str(error)) from error
        entries.append(entry)
    return tuple(reversed(entries))


def _check_file(path: Path) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path}: a lexicon ends in one of {', '.join(SUFFIXES)}.")
    try:
        num_bytes = path.stat().st_size
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}).") from error
    if num_bytes > MAX_BYTES:
        raise UsageError(
            f"{path}: a lexicon of {num_bytes:,} bytes is more than the {MAX_BYTES:,} that are "
            "read. Keep the words that the book has."
        )


def _read_yaml(path: Path, fail: Fail) -> Iterator[tuple[int, Respelling]]:
    root = read_words(path)
    if root.items is not None:
        yield from _listed(root.items, fail)
        return
    if root.text is not None:
        raise fail(root.line, "expected `word: respelling` on each line.")
    for key, value in root.pairs or ():
        word = _text(key, fail)
        if value.items is not None and word == "entries":
            yield from _listed(value.items, fail)
        elif value.pairs is not None and _is_language(word, value):
            for inner, spoken in value.pairs:
                yield from _word(inner.line, _text(inner, fail), spoken, word, fail)
        else:
            yield from _word(key.line, word, value, "", fail)


def _is_language(key: str, value: YamlNode) -> bool:
    """Whether a map holds the words of a language, rather than the fields of the word `Tom`."""
    if not TAG.fullmatch(key) or not key[:2].islower():
        return False
    names = {name.text for name, _ in value.pairs or ()}
    return key[:2] in _LANGUAGES or not names or not names <= set(_FIELDS)


def _word(
    line: int, written: str, value: YamlNode, language: str, fail: Fail
) -> Iterator[tuple[int, Respelling]]:
    """The entry of `word: respelling`, unless the respelling is still to be filled in."""
    if value.items is not None or value.pairs is not None:
        raise fail(
            line,
            f"`{written:.60}` should have a respelling. Maps belong under a language code, and "
            f"entries with the fields {', '.join(_FIELDS)} in a list called `entries`.",
        )
    if value.text is not None:
        yield line, _respelled(written, value.text, language, line, fail)


def _respelled(written: str, spoken: str, language: str, line: int, fail: Fail) -> Respelling:
    """`/ʃɪˈvɔːn/` is a pronunciation, anything else a respelling."""
    ipa = _IPA.fullmatch(spoken.strip())
    if ipa:
        return Respelling(written, language=language, ipa=ipa[1])
    if spoken.strip()[:1] == "/":
        raise fail(
            line,
            f"`{spoken.strip():.60}` begins like a pronunciation. One stands between two slashes, "
            "such as /ʃɪˈvɔːn/.",
        )
    return Respelling(written, spoken, language)


def _listed(items: Iterable[YamlNode], fail: Fail) -> Iterator[tuple[int, Respelling]]:
    """The entries of a list, each a map of fields."""
    for item in items:
        if item.pairs is None:
            raise fail(item.line, f"expected an entry with the fields {', '.join(_FIELDS)}.")
        fields: dict[str, str | None] = {}
        for key, value in item.pairs:
            name = _text(key, fail)
            if name not in _FIELDS:
                raise fail(key.line, f"`{name:.40}` is not a field. {nearest(name, list(_FIELDS))}")
            if value.items is not None or value.pairs is not None:
                raise fail(key.line, f"`{name}` should be a single value.")
            fields[name] = value.text
        if not fields.get("written"):
            raise fail(item.line, "an entry needs the field `written`.")
        if fields.get("spoken") is not None or fields.get("ipa"):
            yield item.line, _from_fields(fields, item.line, fail)


def _from_fields(fields: dict[str, str | None], line: int, fail: Fail) -> Respelling:
    ipa = (fields.get("ipa") or "").strip().strip("/[]")
    return Respelling(
        written=fields["written"] or "",
        spoken=fields.get("spoken") or "",
        language=fields.get("language") or "",
        is_regex=_truth(fields, "regex", line, fail) or False,
        match_case=_truth(fields, "match_case", line, fail),
        ipa=ipa,
    )


def _truth(fields: dict[str, str | None], name: str, line: int, fail: Fail) -> bool | None:
    text = fields.get(name)
    if text is None:
        return None
    if text.lower() not in _TRUTH:
        raise fail(line, f"`{name}` is true or false, not `{text:.40}`.")
    return _TRUTH[text.lower()]


def _text(key: YamlNode, fail: Fail) -> str:
    if not key.text:
        raise fail(key.line, "a word was expected before the colon.")
    return key.text


def _read_table(path: Path, fail: Fail) -> Iterator[tuple[int, Respelling]]:
    """The rows of a CSV or TSV file; those that begin with `#` are comments."""
    lines = _decoded(path).splitlines()
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    tab = path.suffix.lower() == ".tsv" or ("\t" in first and "," not in first)
    delimiter = "\t" if tab else ";" if ";" in first and "," not in first else ","
    reader = csv.reader(
        ("" if line.startswith("#") else line for line in lines), delimiter=delimiter
    )
    columns: tuple[str, ...] = ()
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            line = reader.line_num
            if not columns:
                columns = _header(cells, line, fail)
                if columns:
                    continue
                columns = _COLUMNS
            if len(cells) > len(columns) and any(cells[len(columns) :]):
                raise fail(
                    line,
                    f"{len(cells)} fields, but there are {len(columns)} columns "
                    f"({', '.join(columns)}). Put text with a `{delimiter}` in double quotes.",
                )
            yield from _row(dict(zip(columns, cells, strict=False)), line, fail)
    except csv.Error as error:
        raise fail(reader.line_num, f"not valid CSV ({error}).") from error


def _header(cells: list[str], line: int, fail: Fail) -> tuple[str, ...]:
    """The names of the columns when the first row has them, else nothing."""
    names = tuple(_OTHER_NAMES.get(cell.lower(), cell.lower()) for cell in cells)
    if not {"word", "respelling"} <= set(names):
        return ()
    for name in names:
        if name not in _COLUMNS:
            raise fail(line, f"`{name:.40}` is not a column. {nearest(name, list(_COLUMNS))}")
    return names


def _row(cells: dict[str, str], line: int, fail: Fail) -> Iterator[tuple[int, Respelling]]:
    written, spoken = cells.get("word", ""), cells.get("respelling", "")
    flags = re.split(r"[\s|]+", cells.get("flags", "").lower())
    for flag in filter(None, flags):
        if flag not in _FLAGS:
            raise fail(line, f"`{flag:.40}` is not a flag. {nearest(flag, list(_FLAGS))}")
    if not written:
        raise fail(line, "a word was expected in the column `word`.")
    if not spoken:
        return
    entry = _respelled(written, spoken, cells.get("language", ""), line, fail)
    match_case = True if "case" in flags else False if "nocase" in flags else None
    yield (
        line,
        Respelling(
            written,
            "" if "ipa" in flags else entry.spoken,
            entry.language,
            is_regex="regex" in flags,
            match_case=match_case,
            ipa=entry.ipa or (spoken if "ipa" in flags else ""),
        ),
    )


def _decoded(path: Path) -> str:
    """The text of a table: UTF-8, or UTF-16 as spreadsheets write it."""
    try:
        data = path.read_bytes()
        has_utf16_mark = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        return data.decode("utf-16" if has_utf16_mark else "utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path}: byte {error.start} is not text in UTF-8. Save the file as UTF-8."
        ) from error
