"""A result is another one when what is heard is: words, voices, and files that say how."""

from dataclasses import replace
from pathlib import Path

import pytest

from pocket_batch.config import load_pipeline
from pocket_batch.data import Choices, Voice
from pocket_batch.engine.fake import FakeEngine
from pocket_batch.jobs.fingerprint import fingerprint
from pocket_batch.jobs.plan import plan_audiobook
from pocket_batch.jobs.reading import open_reading


@pytest.fixture(autouse=True)
def voices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two tones by other names."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "config" / "pocket-batch" / "voices"
    folder.mkdir(parents=True)
    for name in ("low", "high"):
        (folder / f"{name}.yaml").write_text(
            f"{{name: {name}, engine: fake, language: en, licence: CC0-1.0, source: test}}"
        )
    return folder


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.txt"
    path.write_text("“Come in,” said Alice, and nobody else said anything at all.\n")
    return path


def made(source: Path, **settings: object) -> str:
    """The fingerprint of a run with these settings; `__` in a name is a dot."""
    dotted = {name.replace("__", "."): value for name, value in settings.items()}
    pipeline = load_pipeline(None, {"voice": "tone", **dotted})
    return fingerprint(open_reading(source, Choices(), pipeline), pipeline, Choices())


def test_a_cast_file_counts_by_what_it_says_and_not_by_where_it_is(
    talk: Path, tmp_path: Path
) -> None:
    plain = made(talk)
    (tmp_path / "talk.cast.yaml").write_text("cast: {Alice: high}\n")
    beside = made(talk)
    (tmp_path / "other.yaml").write_text("# who speaks\ncast:\n  Alice: {voice: high}\n")
    assert made(talk, cast=str(tmp_path / "other.yaml")) == beside != plain
    (tmp_path / "other.yaml").write_text("cast: {Alice: low}\n")
    assert made(talk, cast=str(tmp_path / "other.yaml")) != beside
    assert made(talk, cast="none") == plain


@pytest.mark.parametrize("in_cast", ["Zo\u00eb", "Zoe\u0308"])
@pytest.mark.parametrize("in_text", ["Zo\u00eb", "Zoe\u0308", "Zo\u00ad\u00eb"])
def test_a_name_of_the_cast_is_found_however_it_is_encoded(
    talk: Path, tmp_path: Path, in_cast: str, in_text: str
) -> None:
    talk.write_text(f"“Come in,” said {in_text}, and nobody else said anything at all.\n")
    (tmp_path / "talk.cast.yaml").write_text(f"cast: {{{in_cast}: high}}\n")
    reading = open_reading(talk, Choices(), load_pipeline(None, {"voice": "tone"}))
    assert [voice.name for voice in reading.speaker.voices] == ["tone", "high"]
    assert not reading.book.warnings


def test_a_lexicon_counts_by_what_it_says_and_not_by_where_it_is(
    talk: Path, tmp_path: Path
) -> None:
    plain = made(talk)
    (tmp_path / "talk.lexicon.yaml").write_text("Alice: Aleece\n")
    beside = made(talk)
    (tmp_path / "mine.yaml").write_text("Alice: Aleece\n")
    assert made(talk, normalize__lexicon=str(tmp_path / "mine.yaml")) == beside != plain
    (tmp_path / "mine.yaml").write_text("Alice: Aliss\n")
    assert made(talk, normalize__lexicon=str(tmp_path / "mine.yaml")) != beside
    assert made(talk, normalize__lexicon="none") == plain


def test_a_dialogue_voice_counts_wherever_it_is_named(talk: Path, tmp_path: Path) -> None:
    named = made(talk, dialogue_voice="low")
    (tmp_path / "talk.cast.yaml").write_text("dialogue: low\n")
    assert made(talk) == named
    assert made(talk, dialogue_voice="high") != named


def test_what_a_voice_sounds_like_counts_not_only_its_name(
    talk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = made(talk, dialogue_voice="low")
    key = FakeEngine.voice_key

    def changed(self: FakeEngine, voice: Voice) -> str:
        return "another recording" if voice.name == "low" else key(self, voice)

    monkeypatch.setattr(FakeEngine, "voice_key", changed)
    assert made(talk, dialogue_voice="low") != before


def test_a_plan_has_all_voices_when_two_recordings_have_one_name(talk: Path) -> None:
    pipeline = load_pipeline(None, {"voice": "tone", "dialogue_voice": "low"})
    reading = open_reading(talk, Choices(), pipeline)
    other = Voice("tone", "fake", "en", "unknown", parameters={"prompt": "/other/tone.wav"})
    reading = replace(reading, speaker=replace(reading.speaker, cast={"low": other}))
    voices = plan_audiobook(talk, reading, pipeline).voices
    assert len(voices) == 2
    assert other in voices


def test_what_is_read_counts(talk: Path) -> None:
    assert made(talk, read__notes="inline") != made(talk)
    assert made(talk, executor__workers=2) == made(talk)


def test_a_voice_model_counts_once_it_is_named_and_wherever_it_is(talk: Path) -> None:
    plain = made(talk)
    assert made(talk, check__voice_sample=50) == plain
    named = made(talk, check__voice_model="speaker.pt")
    assert made(talk, check__voice_model="/elsewhere/speaker.pt") == named != plain
