"""Several voices in one book: by option, by cast file and by marks, and all that names them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.data import Segment, Utterance
from pocket_batch.manifest import Manifest

Command = Callable[..., int]
LOCAL = ("--executor", "local", "--log-format", "plain")
TONE = ("--voice", "tone", *LOCAL)
TEXT = (
    "Title: Talk\nAuthor: Nobody\n\nChapter 1. In\n\n"
    "The door was open. “Come in,” said Alice. “It is cold outside,” she said.\n\n"
    "“Off with his hat!” cried somebody in the dark, and a hat flew by.\n\n"
    "“I would rather stay here,” the Rabbit said.\n"
)
CAST = """
dialogue: low
cast:
  Alice: high
  White Rabbit: {voice: deep, also: [Rabbit]}
lines:
  - {pattern: "^Off with", voice: queen}
"""


@pytest.fixture(autouse=True)
def voices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some tones by other names, one of another engine, and one of another language."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "config" / "pocket-batch" / "voices"
    folder.mkdir(parents=True)
    for name in ("low", "high", "deep", "queen"):
        (folder / f"{name}.yaml").write_text(
            f"{{name: {name}, engine: fake, language: en, licence: CC0-1.0, source: test}}"
        )
    (folder / "brigitte.yaml").write_text(
        "{name: brigitte, engine: fake, language: fr, licence: CC0-1.0, source: test}"
    )


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def script(book: Path) -> list[tuple[str, str]]:
    """Voice and first words of every line that was spoken."""
    path = book.with_name(f"{book.stem}.work") / "segments.jsonl"
    return [(s.voice, " ".join(s.text.split()[:2])) for s in Manifest(path, Segment).read()]


def num_spoken(book: Path) -> int:
    path = book.with_name(f"{book.stem}.work") / "utterances.jsonl"
    return len(list(Manifest(path, Utterance).read()))


def test_quoted_speech_has_the_dialogue_voice(talk: Path, command: Command) -> None:
    assert command(talk, *TONE, "--dialogue-voice", "low") == 0
    voices = [voice for voice, text in script(talk)]
    assert set(voices) == {"tone", "low"}
    assert ("low", '"Come in,"') in script(talk)
    assert ("tone", "said Alice.") in script(talk)


def test_a_cast_file_beside_the_book_gives_lines_to_roles(
    talk: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    talk.with_name("talk.cast.yaml").write_text(CAST)
    assert command(talk, *TONE) == 0
    lines = {text: voice for voice, text in script(talk)}
    assert lines['"Come in,"'] == "high"
    assert lines['"It is'] == "high"
    assert lines['"Off with'] == "queen"
    assert lines['"I would'] == "deep"
    shown = capsys.readouterr().err
    assert "talk.cast.yaml" in shown
    assert "high (licence CC0-1.0)" in shown
    assert command(talk, *TONE, "--cast", "none", "-o", talk.with_name("plain.m4b")) == 0
    plain = talk.with_name("plain.work") / "segments.jsonl"
    assert {s.voice for s in Manifest(plain, Segment).read()} == {"tone"}


def test_a_role_without_a_line_is_told_of(
    talk: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    talk.with_name("talk.cast.yaml").write_text("cast: {Alice: low, Hatter: high, Ali: deep}")
    assert command(talk, *TONE, "--dry-run") == 0
    shown = capsys.readouterr().err
    assert "Warning: No quoted line was found for Hatter, Ali of the cast." in shown


def test_the_tags_and_the_record_name_all_voices(talk: Path, command: Command) -> None:
    from mutagen.mp4 import MP4

    talk.with_name("talk.cast.yaml").write_text(CAST)
    assert command(talk, *TONE) == 0
    names = MP4(talk.with_suffix(".m4b")).tags["©wrt"][0].split(", ")
    assert set(names) == {"tone", "high", "queen", "deep"}
    assert names[0] == "tone"  # who speaks the most words
    record = json.loads((talk.with_name("talk.work") / "run.json").read_text())
    assert record["voice"]["name"] == "tone"
    assert set(record["cast"]) == {"high", "queen", "deep"}  # `low` has no line


def test_every_voice_sounds_its_own_way_under_both_executors(talk: Path, command: Command) -> None:
    from pocket_batch.audio.ffmpeg import decode

    talk.with_name("talk.cast.yaml").write_text(CAST)
    samples = {}
    for executor in ("local", "ray"):
        output = talk.with_name(f"{executor}.wav")
        words = ("--voice", "tone", "--log-format", "plain", "--executor", executor, "-o", output)
        assert command(talk, *words) == 0
        samples[executor] = decode(output)
    assert (samples["local"] == samples["ray"]).all()
    utterances = Manifest(talk.with_name("local.work") / "utterances.jsonl", Utterance).read()
    assert len({u.seed for u in utterances}) == num_lines(talk.with_name("local.work"))


def num_lines(work: Path) -> int:
    return len(list(Manifest(work / "segments.jsonl", Segment).read()))


def test_marks_in_a_text_win_over_the_cast(talk: Path, command: Command) -> None:
    talk.write_text(
        TEXT.replace("The door", "[voice deep]The door").replace("Alice.", "Alice.[/voice]")
    )
    assert command(talk, *TONE, "--dialogue-voice", "low") == 0
    lines = script(talk)
    assert ("deep", "The door") in lines
    assert ("low", '"It is') in lines


def test_another_dialogue_voice_speaks_only_its_lines_anew(talk: Path, command: Command) -> None:
    assert command(talk, *TONE, "--dialogue-voice", "low") == 0
    before = num_spoken(talk)
    assert command(talk, *TONE, "--dialogue-voice", "high") == 5
    assert command(talk, *TONE, "--dialogue-voice", "high", "--overwrite") == 0
    assert num_spoken(talk) - before == [v for v, _ in script(talk)].count("high")


def test_a_changed_cast_or_lexicon_makes_another_result_and_the_same_one_makes_none(
    talk: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    cast, lexicon = talk.with_name("talk.cast.yaml"), talk.with_name("talk.lexicon.yaml")
    cast.write_text(CAST)
    lexicon.write_text("Alice: Aleece\n")
    assert command(talk, *TONE) == 0
    assert command(talk, *TONE) == 0
    assert "already done" in capsys.readouterr().err
    cast.write_text(CAST.replace("voice: deep", "voice: low"))
    assert command(talk, *TONE) == 5
    cast.write_text(CAST)
    assert command(talk, *TONE) == 0
    before = num_spoken(talk)
    lexicon.write_text("Alice: Aliss\n")
    assert command(talk, *TONE) == 5
    assert command(talk, *TONE, "--overwrite") == 0
    assert num_spoken(talk) == before + 1
    assert "talk.lexicon.yaml" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "cast", "code", "message"),
    [
        (("--dialogue-voice", "tome"), "", 4, "no voice `tome`"),
        (("--dialogue-voice", "hearth"), "", 4, "Did you mean `heart`"),
        (("--dialogue-voice", "brigitte"), "", 4, "brigitte speaks fr"),
        (
            ("--dialogue-voice", "heart"),
            "",
            2,
            "--dialogue-voice: The voice heart is of the engine hibari",
        ),
        (("--cast", "missing.yaml"), "", 2, "missing.yaml: cannot be read"),
        ((), "dialog: low", 2, "`dialog` is not a setting. Did you mean `dialogue`"),
        ((), "cast: {Alice: {voice: low, alos: [A]}}", 2, "Did you mean `also`"),
        ((), "cast: {Alice: {also: [A]}}", 2, "`cast.Alice.voice` is missing"),
        ((), "lines: [{patern: x, voice: low}]", 2, "Did you mean `pattern`"),
        ((), "lines: [{pattern: '(', voice: low}]", 2, "not a regular expression"),
        ((), "cast: {Nobody: nobody}", 4, "talk.cast.yaml: There is no voice `nobody`"),
    ],
)
def test_a_wrong_voice_or_cast_is_refused_before_anything_is_spoken(
    talk: Path,
    command: Command,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    cast: str,
    code: int,
    message: str,
) -> None:
    if cast:
        talk.with_name("talk.cast.yaml").write_text(cast)
    assert command(talk, *TONE, *options) == code
    assert message in capsys.readouterr().err
    assert not talk.with_name("talk.work").exists()


def test_a_voice_in_a_mark_is_checked_too(
    talk: Path, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    talk.write_text(TEXT.replace("The door", "[voice nobody] The door"))
    assert command(talk, *TONE) == 4
    shown = capsys.readouterr().err
    assert "no voice `nobody`" in shown
    assert "talk.txt:" in shown


def test_two_voices_of_hibari_read_one_book(tmp_path: Path, talk: Path, command: Command) -> None:
    folder = tmp_path / "config" / "pocket-batch" / "voices"
    (folder / "other.yaml").write_text(
        "{name: other, engine: hibari, language: en, licence: Apache-2.0, source: test,"
        " parameters: {hibari_voice: heart}}"
    )
    assert command(talk, "--voice", "heart", "--dialogue-voice", "other", *LOCAL) == 0
    assert {voice for voice, _ in script(talk)} == {"heart", "other"}
