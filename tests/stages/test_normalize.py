"""Chapters come out of the stage in spoken form, and the lexicon has the last word."""

import pytest

from pocket_batch.data import Block, Chapter, Respelling
from pocket_batch.errors import UsageError
from pocket_batch.stages.normalize import Normalize
from pocket_batch.text.lexicon import Lexicon


def said(stage: Normalize, *blocks: Block) -> list[Block]:
    (chapter,) = stage.run([Chapter(1, "One", blocks)])
    return list(chapter.blocks)


def test_a_respelling_is_not_changed_by_the_rules_that_follow() -> None:
    lexicon = Lexicon([Respelling("MI5", "em eye 5"), Respelling("Dr. Who", "Doctor Hoo")], "en")
    (block,) = said(Normalize("en", lexicon), Block("paragraph", "MI5 met Dr. Who at 5 p.m."))
    assert block.text == "Em eye 5 met Doctor Hoo at five PM."


def test_all_but_the_text_of_a_block_stays() -> None:
    block = Block("paragraph", "No. 5", "a:1", voice="low", pause_after_ms=9, continues=True)
    (found,) = said(Normalize("en"), block)
    assert found == Block(
        "paragraph", "Number five", "a:1", voice="low", pause_after_ms=9, continues=True
    )


def test_a_block_of_another_language_has_its_own_rules_and_respellings() -> None:
    lexicon = Lexicon([Respelling("Haus", "Hows", "de"), Respelling("Haus", "house", "en")], "en")
    found = said(
        Normalize("en", lexicon),
        Block("paragraph", "The Haus has 3 doors."),
        Block("paragraph", "Das Haus hat 3 Türen.", language="de"),
    )
    assert [block.text for block in found] == [
        "The house has three doors.",
        "Das Hows hat drei Türen.",
    ]


def test_what_says_nothing_is_left_out() -> None:
    found = said(Normalize("en"), Block("paragraph", "***"), Block("scene_break", ""))
    assert [block.kind for block in found] == ["scene_break"]


class Shouting:
    """A normaliser that changes what it is asked about, so that it shows."""

    def __init__(self, language: str) -> None:
        self.asked: list[list[str]] = []

    def write_out_all(self, texts: list[str], num_workers: int) -> list[str]:
        self.asked.append(texts)
        return [text.replace("3", "THREE") for text in texts]


def test_nemo_goes_before_our_rules_and_sees_neither_respellings_nor_other_languages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pocket_batch.text.nemo.NemoNormalizer", Shouting)
    lexicon = Lexicon([Respelling("U23", "you twenty-three")], "en")
    found = said(
        Normalize("en", lexicon, "nemo"),
        Block("paragraph", "U23 has 3 and 4."),
        Block("paragraph", "Das sind 3.", language="de"),
    )
    assert found[0].text.startswith("You twenty-three has")
    assert "3" not in found[0].text
    assert found[0].text.lower().endswith("three and four.")
    assert found[1].text == "Das sind drei."


def test_what_nemo_would_lose_is_said_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(Shouting):
        def write_out_all(self, texts: list[str], num_workers: int) -> list[str]:
            return ["".join(filter(str.isascii, text)) for text in texts]

    monkeypatch.setattr("pocket_batch.text.nemo.NemoNormalizer", Forgetful)
    lexicon = Lexicon([Respelling("U23", "you twenty-three")], "en")
    (block,) = said(Normalize("en", lexicon, "nemo"), Block("paragraph", "The U23 has 3."))
    assert block.text == "The you twenty-three has three."


def test_nemo_is_refused_where_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pocket_batch.text.nemo.find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'pocket-batch\[nemo\]'"):
        Normalize("en", normalizer="nemo")
