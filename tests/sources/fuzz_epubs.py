"""Damaged copies of EPUBs: each must give a book or an `InputError`, within time.

    python tests/sources/fuzz_epubs.py FOLDER... [--seconds 120] [--seed 1]

A copy that does otherwise is kept in the current folder, with what happened.
"""

import argparse
import io
import random
import re
import resource
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from pocket_batch.data import Book
from pocket_batch.errors import InputError
from pocket_batch.sources.base import read_book

Members = list[tuple[str, bytes]]

MAX_SECONDS = 20.0
ATTRIBUTE = re.compile(rb"\b([\w:-]+)=\"([^\"]*)\"")
TAG = re.compile(rb"</?[A-Za-z][^<>]*>")
ODD_VALUES = (
    *(b"", b"#", b"..", b"../../../etc/passwd", b"%00", b"%", b"http://", b"nav", b"no", b"-1"),
    *(b"footnote", b"noteref", b"toc", b"pagebreak", b"display:none", b"9999999999", b"\\a\\b"),
    *(b"hidden", b"true", b"x:y", b"#\xc3\xa9", b"&xxe;", b"a b c", b"doc-endnotes", b"la"),
)
ODD_TEXTS = (
    *(
        b"<div>" * 3000,
        b"</p>" * 50,
        b"&foo;",
        b"&#0;",
        b"&#x110000;",
        b"<![CDATA[",
        b"<!--",
        b"]]>",
    ),
    *(b"\0\1\2", b"\xff\xfe", b"\xef\xbb\xbf", b"<ruby><rt>x</rt></ruby>", b"<math><mi>x</mi>"),
    *(b"<table><tr><td>", b"<ol start='x'><li>", b"<svg><text>t", b"<a href='#'>1</a>", b"<hr/>"),
    *(
        b"<sub alias='x'>y</sub>",
        b"<break time='9s'/>",
        b"<pre>\n\n",
        b"<!DOCTYPE a [<!ENTITY b 'c'>",
    ),
    *(b"<p hidden=''>", b"<nav>", b"</body></html><html><body>", b"<p xml:lang='la'>", b" " * 9999),
)
ENCODINGS = ("utf-16", "utf-8-sig", "cp1252", "utf-32", "cp932", "punycode", "utf-7")


def main() -> None:
    """Damage books for some seconds and count what comes of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    paths = [path for folder in arguments.folders for path in sorted(folder.glob("*.epub"))]
    chance = random.Random(arguments.seed)
    outcomes: Counter[str] = Counter()
    end = time.monotonic() + arguments.seconds
    with tempfile.TemporaryDirectory() as folder:
        damaged = Path(folder) / "damaged.epub"
        while time.monotonic() < end:
            source = chance.choice(paths)
            content = mutate(source.read_bytes(), chance)
            damaged.write_bytes(content)
            outcome = outcome_of(damaged)
            outcomes[outcome] += 1
            if outcome not in ("book", "refused"):
                kept = Path(f"fuzz-{sum(outcomes.values())}-{source.name}")
                kept.write_bytes(content)
                print(kept, outcome, flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{dict(outcomes)}, peak {peak} MB")


def outcome_of(path: Path) -> str:
    """What comes of a file: `book`, `refused`, or in words what must not happen."""
    start = time.process_time()
    try:
        found = check_book(read_book(path))
    except InputError:
        found = "refused"
    except Exception as error:  # noqa: BLE001 the point of the exercise
        return f"{type(error).__name__}: {error}"[:200]
    seconds = time.process_time() - start
    return found if seconds < MAX_SECONDS else f"took {seconds:.0f} s"


def check_book(book: Book) -> str:
    """What must hold for any book, whatever file it comes of."""
    if [chapter.number for chapter in book.chapters] != list(range(1, len(book.chapters) + 1)):
        return "chapters are not numbered in order"
    for chapter in book.chapters:
        if not chapter.title or not any(block.text for block in chapter.blocks):
            return "a chapter without title or text"
        for block in chapter.blocks:
            if block.text != " ".join(block.text.split()) or not block.where:
                return f"a block that is not folded or has no place: {block}"
            if not block.text.isprintable() and re.search("[\x00-\x1f\ud800-\udfff]", block.text):
                return f"a block with control characters: {block}"
    return "book"


def mutate(data: bytes, chance: random.Random) -> bytes:
    """A damaged copy: of the archive itself, or of what it holds."""
    if chance.random() < 0.25:
        return chance.choice((flipped, cut, with_hole))(data, chance)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    except (zipfile.BadZipFile, RuntimeError):
        return flipped(data, chance)
    for _ in range(chance.randint(1, 4)):
        if members:
            chance.choice(CHANGES)(members, chance)
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names that come twice are meant
        for name, content in members:
            archive.writestr(name or "x", content)
    return output.getvalue()


def flipped(data: bytes, chance: random.Random) -> bytes:
    """Some bytes changed."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 3, 30)) if changed else 0):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def cut(data: bytes, chance: random.Random) -> bytes:
    """The end cut off, or the beginning."""
    place = chance.randrange(len(data) + 1)
    return data[:place] if chance.random() < 0.8 else data[place:]


def with_hole(data: bytes, chance: random.Random) -> bytes:
    """A stretch overwritten with zeros, or taken out."""
    start = chance.randrange(len(data) + 1)
    length = chance.randrange(1, 2_000)
    filling = b"\0" * length if chance.random() < 0.5 else b""
    return data[:start] + filling + data[start + length :]


def _remove(members: Members, chance: random.Random) -> None:
    members.pop(chance.randrange(len(members)))


def _swap(members: Members, chance: random.Random) -> None:
    a, b = chance.randrange(len(members)), chance.randrange(len(members))
    members[a], members[b] = (members[a][0], members[b][1]), (members[b][0], members[a][1])


def _rename(members: Members, chance: random.Random) -> None:
    index = chance.randrange(len(members))
    name, content = members[index]
    changes: tuple[Callable[[str], str], ...] = (
        *(str.upper, lambda n: n.replace("/", "\\"), lambda n: "/" + n, lambda n: "../" + n),
        *(lambda n: "folder/" + n, lambda n: n.replace(".", "%2E"), lambda n: n + "\0x"),
    )
    members[index] = (chance.choice(changes)(name), content)


def _repeat(members: Members, chance: random.Random) -> None:
    members.insert(chance.randrange(len(members)), chance.choice(members))


def _damage(members: Members, chance: random.Random) -> None:
    index = chance.randrange(len(members))
    name, content = members[index]
    members[index] = (name, chance.choice((flipped, cut, with_hole))(content, chance))


def _document(members: Members, chance: random.Random) -> int:
    texts = [i for i, (name, _) in enumerate(members) if name.endswith(("ml", "opf", "ncx"))]
    return chance.choice(texts or [0])


def _recode(members: Members, chance: random.Random) -> None:
    index = _document(members, chance)
    name, content = members[index]
    encoding = chance.choice(ENCODINGS)
    text = content[:100_000].decode("utf-8", "replace")
    if chance.random() < 0.5:
        text = re.sub(r"encoding=\"[^\"]*\"", f'encoding="{chance.choice(ENCODINGS)}"', text)
    members[index] = (name, text.encode(encoding, "replace"))


def _change_attributes(members: Members, chance: random.Random) -> None:
    index = _document(members, chance)
    name, content = members[index]
    found = ATTRIBUTE.findall(content)
    if not found:
        return
    values = [value for _, value in found]

    def change(match: re.Match[bytes]) -> bytes:
        if chance.random() > 0.05:
            return match[0]
        value = chance.choice(values) if chance.random() < 0.5 else chance.choice(ODD_VALUES)
        names = (match[1], b"epub:type", b"role", b"class", b"id", b"href", b"hidden", b"style")
        return chance.choice(names) + b'="' + value + b'"'

    members[index] = (name, ATTRIBUTE.sub(change, content))


def _change_tags(members: Members, chance: random.Random) -> None:
    index = _document(members, chance)
    name, content = members[index]
    tags = TAG.findall(content)

    def change(match: re.Match[bytes]) -> bytes:
        if chance.random() > 0.03:
            return match[0]
        return chance.choice((b"", chance.choice(tags), chance.choice(ODD_TEXTS)))

    members[index] = (name, TAG.sub(change, content[:200_000]))


CHANGES = (
    *(_remove, _swap, _rename, _repeat, _damage, _recode),
    *(_change_attributes, _change_attributes, _change_tags, _change_tags),
)

if __name__ == "__main__":
    main()
