"""From the inputs of a job to texts that can be spoken, each as written and as it is said."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from pocket_batch.data import Block, Book, Chapter
from pocket_batch.dataset_settings import DatasetPipeline
from pocket_batch.engine.base import Engine
from pocket_batch.jobs.lexicon import load_lexicon
from pocket_batch.rows import CorpusReject, CorpusRow
from pocket_batch.sources.base import read_book
from pocket_batch.sources.corpus import BOOKS, kind_of, read_corpus
from pocket_batch.stages.normalize import Normalize
from pocket_batch.text.cuts import cut_long
from pocket_batch.text.filters import TextFilter
from pocket_batch.text.recase import recase
from pocket_batch.text.sentences import split_sentences

BATCH = 500  # rows that are normalised at a time
MAX_SHOWN = 200  # letters of a text in the list of rejects


@dataclass(frozen=True, slots=True)
class SpokenText:
    """A text that is spoken at once. `part` counts the parts of a text that was cut, from 1."""

    row: CorpusRow
    text: str
    spoken: str
    part: int = 0


class Texts:
    """Reads, filters, recases, normalises and cuts what a corpus has."""

    def __init__(
        self,
        pipeline: DatasetPipeline,
        paths: Sequence[Path],
        language: str,
        engines: Iterable[Engine],
    ) -> None:
        """Read nothing yet.

        Args:
            pipeline: settings of the corpus and of normalisation.
            paths: files, as `expand_inputs` gives them.
            language: BCP 47 tag of all texts.
            engines: a text must fit each of them.

        Raises:
            UsageError: a lexicon is wrong, or a package for normalisation is missing.
        """
        self._settings = pipeline.corpus
        self._read = pipeline.read
        self._paths = paths
        self._language = language
        self._engines = list(engines)
        self._filter = TextFilter(pipeline.corpus, language)
        takes_ipa = all(engine.takes_ipa for engine in self._engines)
        beside = Book("", "", ())
        lexicon = load_lexicon(paths[0], beside, pipeline.normalize, language, takes_ipa)
        self._normalize = Normalize(language, lexicon, pipeline.normalize.normalizer)

    def run(self) -> Iterator[SpokenText | CorpusReject]:
        """Every row of the corpus, spoken or rejected, in order.

        Raises:
            InputError, UsageError: as the readers of corpora and books.
        """
        rows = iter(self._rows())
        while batch := list(islice(rows, BATCH)):
            wanted = [row for row in batch if isinstance(row, CorpusRow)]
            said = iter(self._said([row.text for row in wanted]))
            for row in batch:
                if isinstance(row, CorpusReject):
                    yield row
                else:
                    yield from self._fitting(row, next(said))

    def _rows(self) -> Iterator[CorpusRow | CorpusReject]:
        for path in self._paths:
            is_book = kind_of(path) in BOOKS
            rows = self._sentences(path) if is_book else read_corpus([path], self._settings)
            for row in rows:
                yield row if isinstance(row, CorpusReject) else self._filtered(row)

    def _sentences(self, path: Path) -> Iterator[CorpusRow]:
        """The sentences of a book; those of one chapter stay together."""
        book = read_book(path, self._read)
        for chapter in book.chapters:
            group = f"{path.name} {chapter.number}"
            for block in chapter.blocks:
                for sentence in split_sentences(block.text, self._language):
                    yield CorpusRow(sentence, f"{path.name}:{block.where}", group=group)

    def _filtered(self, row: CorpusRow) -> CorpusRow | CorpusReject:
        if self._settings.recase:
            row = replace(row, text=recase(row.text, self._language))
        reason = self._filter.reason(row.text)
        return rejected(row, *reason) if reason else row

    def _said(self, texts: Sequence[str]) -> list[str]:
        """Texts in spoken form; empty where nothing is to be said."""
        blocks = tuple(Block("paragraph", " ".join(t.split()), str(i)) for i, t in enumerate(texts))
        said = dict.fromkeys(range(len(texts)), "")
        for chapter in self._normalize.run([Chapter(1, "", blocks)]):
            for block in chapter.blocks:
                said[int(block.where)] = block.text
        return list(said.values())

    def _fitting(self, row: CorpusRow, spoken: str) -> Iterator[SpokenText | CorpusReject]:
        """A row as it is if it fits, else in parts."""
        if not any(character.isalnum() for character in spoken):
            yield rejected(row, "empty_text", "")
        elif self._fits(row.text, spoken):
            yield SpokenText(row, row.text, spoken)
        elif not self._settings.split_long:
            yield rejected(row, "too_long", str(len(row.text)))
        else:
            yield from self._parts(row)

    def _parts(self, row: CorpusRow) -> Iterator[SpokenText | CorpusReject]:
        parts = self._cut(split_sentences(row.text, self._language))
        for number, (text, spoken) in enumerate(zip(parts, self._said(parts), strict=True), 1):
            if self._fits(text, spoken) and any(c.isalnum() for c in spoken):
                yield SpokenText(row, text, spoken, number)
            else:
                reason = "too_long" if spoken else "empty_text"
                yield rejected(replace(row, text=text), reason, str(len(text)))

    def _cut(self, sentences: Sequence[str]) -> list[str]:
        """Sentences that do not fit are cut at clauses; a text's length grows when it is said."""
        found: list[str] = []
        for sentence, spoken in zip(sentences, self._said(sentences), strict=True):
            if self._fits(sentence, spoken):
                found.append(sentence)
                continue
            growth = max(1.0, len(spoken) / max(1, len(sentence)))
            limit = int(self._limit() / growth * 0.9)
            found += cut_long(sentence, max(1, limit), self._count, self._language)
        return found

    def _fits(self, text: str, spoken: str) -> bool:
        longest = self._settings.max_letters
        return self._count(spoken) <= self._limit() and (not longest or len(text) <= longest)

    def _count(self, text: str) -> int:
        """Tokens by the engine that has the least room for them, scaled to the limit."""
        used = (e.count_tokens(text) / e.max_tokens for e in self._engines)
        return int(max(used, default=0.0) * self._limit() + 0.999)

    def _limit(self) -> int:
        return min((engine.max_tokens for engine in self._engines), default=1)


def rejected(row: CorpusRow, reason: str, value: str) -> CorpusReject:
    """The reject of a row."""
    return CorpusReject(row.where, row.id, row.text[:MAX_SHOWN], reason, value)
