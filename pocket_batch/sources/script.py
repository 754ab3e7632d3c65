"""A script (.jsonl) -> Book: what `pocket-batch script` writes, and a person may have edited.

The first line is about the book, every other one is an utterance:

    {"script": 1, "title": "Emma", "voice": "alba", "chapters": [{"number": 1, "title": "I"}], ...}
    {"id": "001-0001", "chapter": 1, "text": "One.", "voice": "alba", "pause_after_ms": 1000}

`segments.jsonl` of a work folder lacks the first line; what it would say is in `book.json` there.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from pocket_batch.config import nearest
from pocket_batch.data import Block, Book, Chapter, Cover, Segment
from pocket_batch.errors import InputError
from pocket_batch.settings import ReadSettings
from pocket_batch.sources.base import sha256_of_file

VERSION = 1
MARK = "script"  # the key that tells the first line from the others
MAX_PAUSE_MS = 600_000
MAX_CHAPTER = 100_000
MEDIA_TYPES = {".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png",
               ".gif": "image/gif", ".webp": "image/webp"}  # fmt: skip
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_TEXTS = "title language date publisher series series_part description".split()
_LISTS = "authors subjects identifiers".split()
_KEYS = [f.name for f in fields(Segment)]


@dataclass(frozen=True, slots=True)
class ScriptHead:
    """What a script says of its book.

    `texts` and `lists` are fields of `Book` by name; `titles` and `levels` those of its chapters
    by number. `voice` is the narrator, whose lines follow whoever is asked to read; `voices` are
    the files of voices that are made from files. `cover` and `source` (the book that it was made
    from) are paths as seen from the script.
    """

    texts: dict[str, str] = field(default_factory=dict)
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)
    titles: dict[int, str] = field(default_factory=dict)
    levels: dict[int, int] = field(default_factory=dict)
    voice: str = ""
    voices: dict[str, str] = field(default_factory=dict)
    model: str = ""
    cover: str = ""
    source: str = ""
    has_gaps: bool = False


def read_script(path: Path, settings: ReadSettings) -> Book:
    """Read a script; each line becomes a block, its `where` the id of the line.

    Nothing of it is left out, so `settings` change nothing.

    Raises:
        InputError: a line is not one of a script, naming its number, or none has text.
    """
    head = read_head(path)
    lines = list(_lines(path))
    cover, warnings = _cover(path, head)
    blocks: dict[int, list[Block]] = {}
    ids: set[str] = set()
    number = 1
    for place, line in lines:
        number = line.get("chapter", number)
        name = line.get("id", "")
        where = place if name in ids or not name else name
        ids.add(where)
        voice = line.get("voice", "")
        block = Block(
            kind="paragraph",
            text=" ".join(_CONTROL.sub(" ", line["text"]).split()),
            where=where,
            voice="" if voice == head.voice else voice,
            pause_after_ms=line.get("pause_after_ms"),
        )
        blocks.setdefault(number, []).append(block)
    unlisted = [n for n in blocks if head.titles and n not in head.titles]
    if unlisted:
        warnings += (
            f"The first line does not list chapter {unlisted[0]}, which a later line names; it "
            "becomes a chapter of its own.",
        )
    if not any(block.text for found in blocks.values() for block in found):
        raise InputError(f"{path}: a script was expected, but no line of it has text.")
    return Book(
        id=sha256_of_file(path),
        title=head.texts.get("title") or path.stem,
        chapters=tuple(
            Chapter(n, head.titles.get(n, f"Chapter {n}"), tuple(found), head.levels.get(n, 1))
            for n, found in blocks.items()
        ),
        **{name: text for name, text in head.texts.items() if name != "title"},  # type: ignore[arg-type]
        **head.lists,  # type: ignore[arg-type]
        cover=cover,
        warnings=warnings,
        has_gaps=head.has_gaps,
    )


def read_head(path: Path) -> ScriptHead:
    """What a script says of its book; of a work folder's `segments.jsonl` what lies beside it.

    Raises:
        InputError: it is not what `pocket-batch script` writes.
    """
    values: dict[str, Any] | None = None
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                values = _object(line, f"{path.name}:{number}")
                break
    if values is None:
        raise InputError(f"{path}: a script was expected, but the file is empty.")
    if MARK in values:
        if values[MARK] != VERSION:
            raise InputError(
                f"{path}: a script of version {VERSION} was expected, not {values[MARK]!r:.20}. "
                "Make it anew with `pocket-batch script`."
            )
        return _head(values, f"{path.name}:1")
    beside = path.with_name("book.json")
    voices = Counter(line.get("voice", "") for _, line in _lines(path))
    about = {"voice": voices.most_common(1)[0][0]}
    if beside.is_file():
        about |= _object(beside.read_text(encoding="utf-8", errors="replace"), str(beside))
    return _head(about, str(beside))


def _head(values: dict[str, Any], place: str) -> ScriptHead:
    try:
        chapters = [_checked_chapter(chapter) for chapter in values.get("chapters", ())]
        return ScriptHead(
            texts={name: _text(values, name) for name in _TEXTS},
            lists={name: _texts(values, name) for name in _LISTS},
            titles={number: title for number, title, _ in chapters},
            levels={number: level for number, _, level in chapters},
            voice=_text(values, "voice"),
            voices={str(name): str(file) for name, file in dict(values.get("voices", {})).items()},
            model=_text(values, "model"),
            cover=_text(values, "cover"),
            source=_text(values, "source"),
            has_gaps=bool(values.get("has_gaps")),
        )
    except (TypeError, ValueError, KeyError, OverflowError) as error:
        raise InputError(
            f"{place}: not the first line of a script ({error}). "
            "Put it right, or make the script anew with `pocket-batch script`."
        ) from error


def _checked_chapter(values: Any) -> tuple[int, str, int]:
    return int(values["number"]), str(values.get("title", "")), int(values.get("level", 1))


def _text(values: dict[str, Any], name: str) -> str:
    value = values.get(name) or ""
    if not isinstance(value, str):
        raise TypeError(f"`{name}` is {value!r:.60}, not a text")
    return value


def _texts(values: dict[str, Any], name: str) -> tuple[str, ...]:
    found = values.get(name) or ()
    if not isinstance(found, list | tuple) or not all(isinstance(text, str) for text in found):
        raise TypeError(f"`{name}` is {found!r:.60}, not a list of texts")
    return tuple(found)


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The utterances of a script, each with its place.

    Raises:
        InputError: a line is damaged.
    """
    is_first = True
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            place = f"{path.name}:{number}"
            values = _object(line, place)
            if not (is_first and MARK in values):
                _check_line(values, place)
                yield place, values
            is_first = False


def _object(line: str, place: str) -> dict[str, Any]:
    try:
        values = json.loads(line)
        json.dumps(values, ensure_ascii=False).encode()  # half of a character is no text
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{place}: this line of the script is not JSON ({error}). Look for a missing quotation "
            'mark or bracket; a quotation mark inside a text is written \\".'
        ) from error
    if not isinstance(values, dict):
        raise InputError(f"{place}: a line of a script is an object in braces, not `{line:.40}`.")
    return values


def _check_line(values: dict[str, Any], place: str) -> None:
    """Refuse what is not an utterance.

    Raises:
        InputError: naming the line and the key.
    """
    for name in values:
        if name not in _KEYS:
            raise InputError(f"{place}: `{name}` is no part of a line. {nearest(name, _KEYS)}")
    if "text" not in values:
        raise InputError(f"{place}: the line has no `text`. Give it one, or remove the line.")
    ranges = {"chapter": (1, MAX_CHAPTER), "pause_after_ms": (0, MAX_PAUSE_MS)}
    for name, value in values.items():
        low, high = ranges.get(name, (0, 0))
        if not high and not isinstance(value, str):
            raise InputError(f"{place}: `{name}` is {value!r:.60}; it must be a text in quotes.")
        if high and (type(value) is not int or not low <= value <= high):
            raise InputError(
                f"{place}: `{name}` is {value!r:.60}; it must be a whole number from {low} to "
                f"{high}."
            )


def _cover(path: Path, head: ScriptHead) -> tuple[Cover | None, tuple[str, ...]]:
    if not head.cover:
        return None, ()
    file = path.parent / head.cover
    try:
        data = file.read_bytes()
    except OSError as error:
        return None, (f"The cover {file} cannot be read ({error.strerror}): there will be none.",)
    return Cover(data, MEDIA_TYPES.get(file.suffix.lower(), "")), ()
