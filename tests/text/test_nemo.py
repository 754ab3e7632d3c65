"""NVIDIA's grammars as a normaliser: asked seldom, each sentence once; a double stands for them."""

import sys
from collections.abc import Callable, Iterable, Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pocket_batch.errors import UsageError
from pocket_batch.text import nemo
from pocket_batch.text.nemo import NemoNormalizer


class Grammars:
    """Says `5` as `five`, counts what it is asked, and fails where it is told to."""

    asked: list[str] = []  # noqa: RUF012 - the module makes its own instances
    built: list[tuple[str, str]] = []  # noqa: RUF012

    def __init__(self, input_case: str, lang: str, cache_dir: str) -> None:
        self.built.append((lang, cache_dir))

    def normalize(self, text: str) -> str:
        self.asked.append(text)
        if "refuse" in text:
            raise ValueError("too many permutations")
        return text.replace("[", "\\[") if "escape" in text else text.replace("5", "  five ")


@pytest.fixture
def grammars(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Grammars]]:
    Grammars.asked.clear()
    Grammars.built.clear()
    name = "nemo_text_processing"
    for path in (name, f"{name}.text_normalization", f"{name}.text_normalization.normalize"):
        module = ModuleType(path)
        module.__spec__ = ModuleSpec(path, None)
        module.__path__ = []
        monkeypatch.setitem(sys.modules, path, module)
    module.__dict__["Normalizer"] = Grammars
    nemo._grammars.cache_clear()
    yield Grammars
    nemo._grammars.cache_clear()


def test_the_extra_is_named_when_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nemo, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'pocket-batch\[nemo\]'"):
        NemoNormalizer("en")


def test_a_language_without_grammars_is_refused_by_name(grammars: type[Grammars]) -> None:
    with pytest.raises(UsageError, match="'nl'; it has de, en"):
        NemoNormalizer("nl")


def test_only_sentences_with_something_to_normalize_are_asked(
    grammars: type[Grammars], tmp_path: Path
) -> None:
    normalizer = NemoNormalizer("en-GB", tmp_path / "grammars")
    assert normalizer.normalize("A plain one. He had 5 “apples”. He left.") == (
        'A plain one. He had five "apples". He left.'
    )
    assert normalizer.normalize("Nothing to do here—nothing.") == "Nothing to do here, nothing."
    assert grammars.asked == ['He had 5 "apples".']
    assert grammars.built == [("en", str(tmp_path / "grammars"))]


def test_nothing_is_built_before_it_is_needed(grammars: type[Grammars], tmp_path: Path) -> None:
    NemoNormalizer("en", tmp_path).normalize("Nothing to do.")
    assert grammars.built == []


def test_a_sentence_is_asked_once(grammars: type[Grammars], tmp_path: Path) -> None:
    normalizer = NemoNormalizer("en", tmp_path)
    written = normalizer.write_out_all(["He had 5.", "He had 5.", "No."])
    assert written == ["He had five .", "He had five .", "No."]
    assert grammars.asked == ["He had 5."]


def test_what_the_grammars_leave_is_done_by_our_own_rules(
    grammars: type[Grammars], tmp_path: Path
) -> None:
    said = NemoNormalizer("en", tmp_path).normalize("He had 5 and 7 of \ue100.")
    assert said == "He had five and seven of \ue100."


@pytest.mark.parametrize("text", ["They refuse 3 men.", "They escape [3] men."])
def test_a_sentence_that_the_grammars_cannot_read_is_done_by_our_own_rules(
    grammars: type[Grammars], tmp_path: Path, text: str
) -> None:
    normalizer = NemoNormalizer("en", tmp_path)
    assert normalizer.write_out(text) == text
    assert "three" in normalizer.normalize(text)


class Pool:
    """Stands for processes: keeps what it was asked to start, and works in this one."""

    started: list[int] = []  # noqa: RUF012

    def __init__(self, num_workers: int, mp_context: object) -> None:
        self.started.append(num_workers)

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def map(
        self, function: Callable[[Any], Any], items: Iterable[Any], chunksize: int
    ) -> Iterator[Any]:
        return map(function, items)


def test_many_sentences_are_shared_among_processes_with_the_same_outcome(
    grammars: type[Grammars], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nemo, "ProcessPoolExecutor", Pool)
    texts = [f"Number {number} had 5. Plain here. And 5 “more”." for number in range(60)]
    one_by_one = [NemoNormalizer("en", tmp_path).write_out(text) for text in texts]
    asked = len(grammars.asked)
    assert NemoNormalizer("en", tmp_path).write_out_all(texts, num_workers=3) == one_by_one
    assert Pool.started == [3]
    assert len(grammars.asked) - asked == 61  # the last sentence is the same in all texts
