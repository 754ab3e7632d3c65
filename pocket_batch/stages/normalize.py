"""Stage `normalize`: chapters in written form become chapters in spoken form."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pocket_batch.data import Block, Chapter
from pocket_batch.settings import Normalizer
from pocket_batch.text.lexicon import Lexicon
from pocket_batch.text.normalize import normalize_block
from pocket_batch.text.placeholders import PLACEHOLDER

if TYPE_CHECKING:
    from pocket_batch.text.nemo import NemoNormalizer

NEMO_BLOCKS = 200  # that are given to its processes at once


class Normalize:
    """Writes out numbers, abbreviations and marks as they are said.

    Words of the lexicon stand aside meanwhile, each as one letter, so that what it says of them is
    final. A block may be in another language than the book.
    """

    name = "normalize"

    def __init__(
        self,
        language: str,
        lexicon: Lexicon | None = None,
        normalizer: Normalizer = "builtin",
        num_workers: int = 1,
    ) -> None:
        """Build nothing yet.

        Args:
            language: BCP 47 tag of the book.
            lexicon: respellings, None for none.
            normalizer: `nemo` goes first where it has work, and our own rules follow.
            num_workers: processes of `nemo` at most.

        Raises:
            UsageError: `nemo` is not installed, or lacks the language.
        """
        self._language = language
        self._lexicon = Lexicon((), language) if lexicon is None else lexicon
        self._nemo = _nemo(language) if normalizer == "nemo" else None
        self._num_workers = num_workers

    def run(self, items: Iterable[Chapter]) -> Iterator[Chapter]:
        """Yield each chapter in spoken form; blocks with nothing to say are left out."""
        size = NEMO_BLOCKS if self._nemo else 1  # placeholders of the lexicon do not hold forever
        for chapter in items:
            blocks: list[Block] = []
            for start in range(0, len(chapter.blocks), size):
                blocks += self._said(chapter.blocks[start : start + size])
            yield replace(chapter, blocks=tuple(blocks))

    def _said(self, blocks: Sequence[Block]) -> Iterator[Block]:
        lexicons = [self._lexicon_for(block) for block in blocks]
        texts = [lexicon.mark(b.text) for lexicon, b in zip(lexicons, blocks, strict=True)]
        if self._nemo:
            own = [i for i, block in enumerate(blocks) if not block.language]
            said = self._nemo.write_out_all([texts[i] for i in own], self._num_workers)
            for i, text in zip(own, said, strict=True):
                if PLACEHOLDER.findall(text) == PLACEHOLDER.findall(texts[i]):  # none is lost
                    texts[i] = text
        for block, text, lexicon in zip(blocks, texts, lexicons, strict=True):
            found = normalize_block(replace(block, text=text), self._language)
            if found is not None:
                yield replace(found, text=lexicon.resolve(found.text))

    def _lexicon_for(self, block: Block) -> Lexicon:
        return self._lexicon.for_language(block.language) if block.language else self._lexicon


def _nemo(language: str) -> "NemoNormalizer":
    from pocket_batch.text.nemo import NemoNormalizer

    return NemoNormalizer(language)
