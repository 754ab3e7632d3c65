"""The shipped voices of the engine `pocket`: complete, and each with its licence."""

import pytest

from pocket_batch.config import load_voices, shipped
from pocket_batch.data import Voice
from pocket_batch.models.hub import parse_hub

NAMES = """
    alba anna azelma bill_boerst caro_davy charles cosette daan eponine estelle eve fantine george
    giovanni jane javert jean juergen lola marius mary michael paul peter_yearsley rafael
    stuart_bell vera
""".split()
# Licences by data set, as the page of kyutai/tts-voices states them.
LICENCES = {
    "ears": "CC-BY-NC-4.0",
    "expresso": "CC-BY-NC-4.0",
    "vctk": "CC-BY-4.0",
    "alba-mackenna": "CC-BY-4.0",
    "voice-donations": "CC0-1.0",
    "voice-zero": "CC0-1.0",
}


@pytest.fixture(scope="module")
def voices() -> dict[str, Voice]:
    found, problems = load_voices(shipped("voices") / "none")
    assert problems == []
    return {name: voice for name, voice in found.items() if voice.engine == "pocket"}


def test_all_27_voices_are_here_each_in_a_file_of_its_name(voices: dict[str, Voice]) -> None:
    assert sorted(voices) == NAMES
    assert len(NAMES) == 27
    for name in NAMES:
        assert (shipped("voices") / f"{name}.yaml").is_file()
        assert voices[name].parameters["pocket_voice"] == name


def test_the_licence_is_that_of_the_data_set_and_unknown_where_nothing_is_stated(
    voices: dict[str, Voice],
) -> None:
    for voice in voices.values():
        file = parse_hub(voice.parameters["prompt"])
        assert file is not None
        folder = file.path.partition("/")[0]
        assert voice.licence == LICENCES.get(folder, "unknown"), voice.name
        assert voice.source.endswith(f"{file.repository}, {file.path}")


def test_voices_that_are_not_for_commercial_use_say_so_where_people_look(
    voices: dict[str, Voice],
) -> None:
    marked = {v.name for v in voices.values() if "not for commercial use" in v.description}
    assert marked == {v.name for v in voices.values() if "-NC-" in v.licence} == {"cosette", "jean"}


def test_the_language_is_that_of_the_recording(voices: dict[str, Voice]) -> None:
    others = {v.name: v.language for v in voices.values() if v.language != "en"}
    assert others == {
        "giovanni": "it", "lola": "es", "juergen": "de", "rafael": "pt", "daan": "nl",
        "estelle": "fr",
    }  # fmt: skip
    for voice in voices.values():
        assert voice.description


def test_the_recordings_are_those_that_the_reference_names(voices: dict[str, Voice]) -> None:
    reference = pytest.importorskip("pocket_tts.utils.utils")
    prompts = {voice.name: voice.parameters["prompt"] for voice in voices.values()}
    assert prompts == reference._ORIGINS_OF_PREDEFINED_VOICES
