"""Pipeline files, overrides and voices."""

from pathlib import Path

import pytest

from pocket_batch.config import (
    load_casting,
    load_pipeline,
    load_voices,
)
from pocket_batch.errors import UsageError
from pocket_batch.yaml_files import parse_assignment


def test_the_shipped_pipeline_holds_the_defaults_people_want() -> None:
    pipeline = load_pipeline(None, {})
    assert pipeline.write.format == "m4b"
    assert pipeline.master.target_lufs == -23
    assert pipeline.master.true_peak_dbtp == -1
    assert pipeline.executor.cores_per_worker == 2


def test_every_setting_of_the_shipped_file_is_a_known_one_and_every_known_one_is_in_it() -> None:
    import yaml

    from pocket_batch.config import as_dict, shipped

    def keys(value: object, prefix: str = "") -> set[str]:
        if not isinstance(value, dict):
            return {prefix}
        return {k for name, inner in value.items() for k in keys(inner, f"{prefix}.{name}")}

    raw = yaml.safe_load((shipped("pipelines") / "audiobook.yaml").read_text(encoding="utf-8"))
    assert keys(raw) == keys(as_dict(load_pipeline(None, {})))


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"write.formt": "mp3"}, r"`write\.formt` is not a setting\. Did you mean `format`\?"),
        ({"sgment.min_words": 3}, r"`sgment` is not a setting\. Did you mean `segment`\?"),
        ({"write.format": "mp4"}, "should be 'm4b', 'mp3', 'opus', 'flac' or 'wav'"),
        ({"master.target_lufs": -3}, "must be from -40 to -8"),
        ({"segment.pauses.chapter_ms": -1}, "must be from 0 to 60000"),
        ({"sampling.temperature": 3.0}, "^--temperature is 3.0; it must be from 0 to 2"),
        ({"sampling.decode_steps": 0}, "must be from 1 to 1000"),
        ({"sampling.noise_clamp": 0}, "must be from"),
        ({"sampling.eos_threshold": float("nan")}, "must be from -30 to 30"),
        ({"sampling.frames_after_eos": 51}, "must be from 0 to 50"),
        ({"sampling.temprature": 1}, "Did you mean `temperature`"),
        ({"precision": "int8"}, "'fp32', 'bf16' or 'mixed'"),
        ({"executor.workers": 0}, "must be from 1 to"),
        ({"voice": False}, "quote them"),
        ({"seed.job": 1}, "`seed` holds a value"),
    ],
)
def test_a_wrong_setting_is_refused_in_a_sentence_that_helps(
    overrides: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        load_pipeline(None, overrides)


def test_a_pipeline_file_that_is_missing_or_not_yaml_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_pipeline(tmp_path / "none.yaml", {})
    for text in ("[1, 2", "just text", ""):
        (tmp_path / "bad.yaml").write_text(text)
        with pytest.raises(UsageError, match=r"bad\.yaml"):
            load_pipeline(tmp_path / "bad.yaml", {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "seed: 1\nvoice: alba\nseed: 2\n",
            r"mine\.yaml: not valid YAML \(line 3 has `seed` again",
        ),
        ("read:\n  alt: true\n  alt: false\n", "line 3 has `alt` again"),
        ("stages:\n- {a: 1, b: 2, a: 3}\n", "line 2 has `a` again"),
    ],
)
def test_a_key_that_stands_twice_is_refused_with_its_line(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message):
        load_pipeline(path, {})
    with pytest.raises(UsageError, match=message):
        load_casting(path)


def test_what_a_yaml_file_merges_in_may_be_given_anew(tmp_path: Path) -> None:
    path = tmp_path / "book.cast.yaml"
    path.write_text("cast:\n  Tom: &tom {voice: low}\n  Jim: {<<: *tom, voice: high}\n")
    assert load_casting(path).cast["Jim"].voice == "high"


def test_an_assignment_is_read_as_yaml() -> None:
    assert parse_assignment("write.split_chapters=true") == ("write.split_chapters", True)
    assert parse_assignment("voice=a=b") == ("voice", "a=b")
    with pytest.raises(UsageError, match="KEY=VALUE"):
        parse_assignment("voice")


def test_every_shipped_voice_names_engine_language_and_licence() -> None:
    voices, problems = load_voices()
    assert problems == []
    assert voices["heart"].engine == "hibari"
    assert all(v.engine and v.language and v.licence and v.source for v in voices.values())


def test_a_voice_of_the_user_wins_over_a_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        "{name: heart, engine: fake, language: de, licence: CC0-1.0}"
    )
    assert load_voices(tmp_path)[0]["heart"].language == "de"


def test_a_broken_voice_file_hurts_only_who_asks_for_it(tmp_path: Path) -> None:
    for text in ("{name: mine, engin: fake}", "{", "name: 3"):
        (tmp_path / "mine.yaml").write_text(text)
        voices, (problem,) = load_voices(tmp_path)
        assert "heart" in voices
        assert str(tmp_path / "mine.yaml") in problem


def test_the_example_of_a_cast_names_voices_that_there_are() -> None:
    casting = load_casting(Path(__file__).parents[1] / "jobs" / "casting.yaml")
    voices, _ = load_voices()
    named = [casting.dialogue, *(role.voice for role in casting.cast.values())]
    named += [rule.voice for rule in casting.lines]
    assert {voices[str(name)].engine for name in named} == {"pocket"}
    assert casting.cast["White Rabbit"].also == ("Rabbit",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cast: {Alice: {voice: low, alos: [A]}}", "`cast.Alice.alos` is not a setting"),
        ("cast: {voice: {also: [A]}}", "`cast.voice.voice` is missing"),
        ("cast: {Alice: 3}", "`cast.Alice` is 3"),
        ("cast: [Alice]", "`cast` is"),
        ("lines: [{pattern: x, voice: low}, {pattern: x, voic: low}]", "Did you mean `voice`"),
        ("dialogue: no", "quote them"),
        ("just a text", "expected settings"),
    ],
)
def test_a_wrong_cast_is_refused_in_a_sentence_that_helps(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "cast.yaml").write_text(text)
    with pytest.raises(UsageError, match=message):
        load_casting(tmp_path / "cast.yaml")


def test_one_thing_where_a_list_belongs_is_told_as_a_list() -> None:
    with pytest.raises(UsageError, match=r"subtitles` is 'srt', and should be a list, such as"):
        load_pipeline(None, {"write.subtitles": "srt"})
