"""NVIDIA's grammars as the normaliser, an extra: thorough, slow, asked only where they have work.

The grammars of a language take about a minute to build and a second to read again, so they are kept
in a folder; a sentence takes a tenth of a second to a second, so only sentences with something to
normalise are given to them, each once.
"""

import logging
import multiprocessing
import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from pocket_batch.bcp47 import primary
from pocket_batch.errors import UsageError
from pocket_batch.text.clean import clean
from pocket_batch.text.normalize import normalize
from pocket_batch.text.sentences import split_sentences

LANGUAGES = ("de", "en", "es", "fr", "it", "pt")  # of the voices' languages, those with grammars
MAX_CACHED_SENTENCES = 20_000
MIN_SENTENCES_FOR_POOL = 40  # below, starting processes takes longer than the work

_PACKAGE = "nemo_text_processing"
# a figure, a sign, `Dr. `, `XIV`: what the grammars could write out
_HAS_WORK = re.compile(
    r"\d|[$€£¥₽%‰&@§°+=#×÷½¼¾²³<>]|(?<!\w)[^\W\d_]{1,5}\.(?=\s\S)|\b[IVXLC]{2,}\b"
)


class NemoNormalizer:
    """Written to spoken form by `nemo_text_processing`; what it leaves is done by our own rules."""

    def __init__(self, language: str, cache_folder: Path | None = None) -> None:
        """Check that the extra is installed and has the language; build nothing yet.

        Args:
            language: BCP 47 tag; only its first part counts.
            cache_folder: where compiled grammars are kept; the user's cache folder if None.

        Raises:
            UsageError: the package is not installed, or has no grammars for the language.
        """
        self.language = language
        self._code = primary(language)
        if self._code not in LANGUAGES:
            raise UsageError(
                f"The normaliser `nemo` has no grammars for the language {language!r}; it has "
                f"{', '.join(LANGUAGES)}. Take `normalizer: builtin` for this book."
            )
        if find_spec(_PACKAGE) is None:
            raise UsageError(
                "The normaliser `nemo` needs the package nemo_text_processing, which is not "
                "installed. Install it with `pip install 'pocket-batch[nemo]'`, or take "
                "`normalizer: builtin`."
            )
        self._folder = cache_folder or _default_folder()
        self._said = lru_cache(maxsize=MAX_CACHED_SENTENCES)(self._say)

    def normalize(self, text: str) -> str:
        """Write a paragraph the way it is said; the grammars first, then our own rules."""
        return normalize(self.write_out(text), self.language)

    def write_out(self, text: str) -> str:
        """Apply the grammars alone, sentence by sentence, where a sentence has work for them."""
        text = clean(text)
        if not _HAS_WORK.search(text):
            return text
        sentences = split_sentences(text, self.language)
        return " ".join(self._said(s) if _HAS_WORK.search(s) else s for s in sentences)

    def write_out_all(self, texts: Sequence[str], num_workers: int = 1) -> list[str]:
        """Apply the grammars to many texts, in processes when there are sentences enough.

        Args:
            texts: paragraphs as written.
            num_workers: processes at most, each of one core; 1 works in this process.

        Returns:
            The texts in their order, the same as `write_out` gives one by one.
        """
        sentences = list(dict.fromkeys(self._with_work(texts)))
        if num_workers < 2 or len(sentences) < MIN_SENTENCES_FOR_POOL:
            return [self.write_out(text) for text in texts]
        said = self._said_in_pool(sentences, num_workers)
        return [
            " ".join(said.get(sentence, sentence) for sentence in self._sentences(text))
            for text in texts
        ]

    def _sentences(self, text: str) -> list[str]:
        text = clean(text)
        return split_sentences(text, self.language) if _HAS_WORK.search(text) else [text]

    def _with_work(self, texts: Iterable[str]) -> Iterable[str]:
        for text in texts:
            yield from (s for s in self._sentences(text) if _HAS_WORK.search(s))

    def _said_in_pool(self, sentences: list[str], num_workers: int) -> dict[str, str]:
        """Say sentences in processes; the grammars are built here first so that these read them."""
        _grammars(self._code, self._folder)
        context = multiprocessing.get_context("spawn")
        jobs = ((self._code, self._folder, sentence) for sentence in sentences)
        with ProcessPoolExecutor(min(num_workers, len(sentences)), mp_context=context) as pool:
            return dict(zip(sentences, pool.map(_say_job, jobs, chunksize=8), strict=True))

    def _say(self, sentence: str) -> str:
        return _say_job((self._code, self._folder, sentence))


def _default_folder() -> Path:
    from pocket_batch.config import cache_folder

    return cache_folder() / "nemo"


@lru_cache(maxsize=2)
def _grammars(code: str, folder: Path) -> Callable[[str], str]:
    """Build the grammars of a language, or read them from the folder; give its function."""
    module = import_module(f"{_PACKAGE}.text_normalization.normalize")
    logging.getLogger("NeMo-text-processing").disabled = True  # it reports each file it reads
    folder.mkdir(parents=True, exist_ok=True)
    grammars = module.Normalizer(input_case="cased", lang=code, cache_dir=str(folder))

    def say(sentence: str) -> str:
        return str(grammars.normalize(sentence))

    return say


def _say_job(job: tuple[str, Path, str]) -> str:
    """Say one sentence, in this process or a worker; one that the grammars refuse stays."""
    code, folder, sentence = job
    try:
        said = _grammars(code, folder)(sentence)
    except (ValueError, RuntimeError, AssertionError):  # too many readings, or no path
        return sentence
    if "\\" in said and "\\" not in sentence:  # its answer when a reading fails: the text, escaped
        return sentence
    return " ".join(said.split()) or sentence
