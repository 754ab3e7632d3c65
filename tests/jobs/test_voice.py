"""Who speaks: by the language of the book, by name, by file, by model, and never somebody else."""

import subprocess
import sys
from pathlib import Path

import pytest

from pocket_batch.config import load_pipeline
from pocket_batch.data import Block, Book, Chapter, EngineSpec, Sampling, Voice
from pocket_batch.engine.base import Progress
from pocket_batch.engine.fake import FakeEngine
from pocket_batch.errors import ModelUnavailableError, StoppedError, UsageError
from pocket_batch.jobs.language import BookLanguage, book_language
from pocket_batch.jobs.progress import Silent
from pocket_batch.jobs.voice import Speaker, choose_speaker, fetch
from pocket_batch.models.hub import parse_hub
from pocket_batch.models.presets import find_model

ENGLISH = BookLanguage("en-GB", "It says its language is")
FRENCH = BookLanguage("fr", "It says its language is")
UNKNOWN = BookLanguage("", "It seems to be written in")


@pytest.fixture(autouse=True)
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All that is on this machine, and it is empty."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("POCKET_BATCH_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "mirror"


def put(mirror: Path, name: str, voice: str = "") -> list[Path]:
    """Files of a released model: weights, tokenizer, and the state of a voice."""
    source = find_model(name)
    weights = source.config.weights_path_without_voice_cloning or ""
    paths = []
    for location in (weights, source.tokenizer, source.state(voice or source.default_voice)):
        file = parse_hub(location)
        assert file
        paths.append(mirror / file.repository / file.path)
        paths[-1].parent.mkdir(parents=True, exist_ok=True)
        paths[-1].write_bytes(b"made up")
    return paths


def choose(language: BookLanguage, **settings: object) -> Speaker:
    dotted = {name.replace("__", "."): value for name, value in settings.items()}
    return choose_speaker(load_pipeline(None, dotted), language)


def own_voice(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "config" / "pocket-batch" / "voices"
    folder.mkdir(parents=True)
    (folder / "own.yaml").write_text(text)


def test_an_english_book_is_read_by_heart_where_no_model_is_with_the_way_to_alba() -> None:
    for language in (ENGLISH, UNKNOWN, BookLanguage("eng", "")):
        speaker = choose(language)
        assert (speaker.voice.name, speaker.engine.name) == ("heart", "hibari")
        assert "voice alba" in speaker.hint
        assert "pocket-batch models pull english" in speaker.hint


def test_an_english_book_is_read_by_alba_where_the_model_is_with_the_way_to_heart(
    mirror: Path,
) -> None:
    put(mirror, "english")
    for language in (ENGLISH, UNKNOWN):
        speaker = choose(language)
        assert (speaker.voice.name, speaker.engine.name) == ("alba", "pocket")
        assert speaker.engine.spec.model == "english"
        assert "--voice heart" in speaker.hint
    assert choose(ENGLISH).language == "en-GB"


@pytest.mark.parametrize("missing", range(3))
def test_a_model_that_lacks_a_file_is_not_here(mirror: Path, missing: int) -> None:
    put(mirror, "english")[missing].unlink()
    assert choose(ENGLISH).voice.name == "heart"


@pytest.mark.parametrize(
    ("tag", "model", "voice"),
    [
        ("fr", "french", "estelle"),
        ("fre", "french", "estelle"),
        ("de-AT", "german", "juergen"),
        ("it", "italian", "giovanni"),
        ("pt_BR", "portuguese", "rafael"),
        ("es", "spanish", "lola"),
        ("nld", "dutch", "daan"),
    ],
)
def test_a_book_in_another_language_has_its_model_and_voice_or_says_how_to_get_them(
    mirror: Path, tag: str, model: str, voice: str
) -> None:
    language = BookLanguage(tag, "It says its language is")
    with pytest.raises(ModelUnavailableError, match=f"models pull {model}`") as error:
        choose(language)
    assert voice in str(error.value)
    put(mirror, model)
    speaker = choose(language)
    assert (speaker.voice.name, speaker.engine.spec.model) == (voice, model)
    assert (speaker.language, speaker.hint) == (tag, "")


def test_a_language_without_a_model_is_refused() -> None:
    with pytest.raises(ModelUnavailableError, match="`ru`, and there is no model"):
        choose(BookLanguage("ru", "It seems to be written in"))
    with pytest.raises(ModelUnavailableError, match="voice alba cannot read it"):
        choose(BookLanguage("ru", "It seems to be written in"), voice="alba")


def test_a_voice_that_is_named_speaks_with_the_model_of_the_language_here_or_not() -> None:
    speaker = choose(FRENCH, voice="alba")
    assert (speaker.voice.name, speaker.engine.spec.model) == ("alba", "french")
    with pytest.raises(ModelUnavailableError, match="models pull french"):
        speaker.engine.check([speaker.voice])
    assert choose(ENGLISH, voice="alba", model="english_2m_2026-10").engine.spec.model == (
        "english_2m_2026-10"
    )


def test_a_released_model_that_is_named_speaks_with_its_default_voice() -> None:
    speaker = choose(FRENCH, model="french_24l")
    assert (speaker.voice.name, speaker.engine.spec.model) == ("estelle", "french_24l")


def test_no_voice_and_no_model_read_a_language_that_is_not_theirs() -> None:
    with pytest.raises(ModelUnavailableError, match="voice heart speaks en"):
        choose(FRENCH, voice="heart")
    with pytest.raises(ModelUnavailableError, match="with the model `german` speaks de"):
        choose(FRENCH, voice="alba", model="german")
    with pytest.raises(ModelUnavailableError, match="and the model `german` speaks de") as error:
        choose(FRENCH, model="german")
    assert "give --language de" in str(error.value)
    assert "juergen" not in str(error.value)


def test_a_language_that_nobody_knows_is_said_to_be_assumed() -> None:
    assert "it is read as fr" in choose(UNKNOWN, model="french").hint
    assert "read as" not in choose(UNKNOWN, voice="alba", model="english").hint


def test_no_message_has_an_empty_language(tmp_path: Path) -> None:
    own_voice(tmp_path, "{name: own, engine: pocket, language: ja, licence: CC0-1.0}")
    with pytest.raises(ModelUnavailableError, match="own is of the language `ja`") as error:
        choose(UNKNOWN, voice="own")
    assert "``" not in str(error.value)
    assert "de, en, es" in str(error.value)


@pytest.mark.parametrize(("asked", "message"), [("french", "French is `fr`"), ("a b", "not a")])
def test_a_language_that_is_no_code_is_refused(asked: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        book_language(book("en", ""), asked, Path("book.epub"))


@pytest.mark.parametrize(
    "settings",
    [{"model": "english"}, {"sampling__temperature": 0.5}, {"precision": "bf16"}],
)
def test_settings_of_pocket_tts_are_refused_for_other_voices(settings: dict[str, object]) -> None:
    for voice in ("heart", "tone"):
        with pytest.raises(UsageError, match="is for voices of Pocket TTS"):
            choose(ENGLISH, voice=voice, **settings)


def test_settings_of_pocket_tts_are_refused_when_only_heart_is_here(mirror: Path) -> None:
    with pytest.raises(UsageError, match=r"^--temperature is for voices of Pocket TTS") as error:
        choose(ENGLISH, sampling__temperature=0.5)
    assert "not on this machine, so that heart" in str(error.value)
    assert "pocket-batch models pull english" in str(error.value)
    put(mirror, "english")
    assert choose(ENGLISH, sampling__temperature=0.5).voice.name == "alba"


def test_model_precision_and_sampling_are_in_the_spec() -> None:
    model = "english_2026-09_24l"
    asked = {"precision": "bf16", "sampling__temperature": 0.5}
    speaker = choose(ENGLISH, voice="alba", model=model, **asked)
    wanted = EngineSpec("pocket", model, "bf16", Sampling(temperature=0.5))
    assert speaker.engine.spec == wanted


def test_a_recording_or_a_state_is_a_voice_of_its_own(tmp_path: Path) -> None:
    for name, kind in (
        ("Ann B.wav", "prompt"),
        ("ann.MP3", "prompt"),
        ("a.safetensors", "state"),
        ("a.m4a", "prompt"),
        ("no suffix", "prompt"),
        ("b.xyz", "prompt"),
    ):
        (tmp_path / name).touch()
        voice = choose(FRENCH, voice=name).voice
        assert voice.parameters == {kind: str(tmp_path / name)}
        assert (voice.name, voice.engine, voice.licence) == (Path(name).stem, "pocket", "unknown")
        assert choose(FRENCH, voice=name).engine.spec.model == "french"


def test_a_file_that_is_called_like_a_voice_does_not_hide_it(tmp_path: Path) -> None:
    (tmp_path / "alba").touch()
    assert choose(ENGLISH, voice="alba").voice.parameters["pocket_voice"] == "alba"
    assert choose(ENGLISH, voice="./alba").voice.parameters == {"prompt": str(tmp_path / "alba")}


@pytest.mark.parametrize("name", [5000 * "a", f"{5000 * 'a'}.wav", "\udcff.wav", "\udcff"])
def test_a_name_that_no_file_can_have_is_a_voice_that_is_not_there(name: str) -> None:
    with pytest.raises(ModelUnavailableError) as error:
        choose(ENGLISH, voice=name)
    assert len(str(error.value).encode()) < 400


def test_an_empty_name_is_a_mistake_of_the_command() -> None:
    with pytest.raises(UsageError, match="voice is empty"):
        choose(ENGLISH, voice="")


def test_a_file_that_is_not_there_is_refused_as_such() -> None:
    with pytest.raises(ModelUnavailableError, match=r"nobody\.wav is not there"):
        choose(ENGLISH, voice="nobody.wav")


def test_a_model_in_a_folder_speaks_with_the_voices_it_has(mirror: Path, tmp_path: Path) -> None:
    weights, tokenizer, state = put(mirror, "english")
    folder = tmp_path / "models" / "english"
    (folder / "embeddings").mkdir(parents=True)
    for path in (weights, tokenizer):
        path.rename(folder / path.name)
    with pytest.raises(ModelUnavailableError, match="it has no voices"):
        choose(ENGLISH, model="models/english")
    state.rename(folder / "embeddings" / "bob.safetensors")
    with pytest.raises(ModelUnavailableError, match="lacks the voice `alba`; its voices are bob"):
        choose(ENGLISH, model="models/english")
    assert choose(ENGLISH, model="models/english", voice="bob").voice.name == "bob"
    with pytest.raises(ModelUnavailableError, match="no voice `bobby`"):
        choose(ENGLISH, model="models/english", voice="bobby")
    (folder / "embeddings" / "alba.safetensors").touch()
    speaker = choose(ENGLISH, model="models/english")
    assert speaker.voice.name == "alba"
    assert speaker.engine.spec.model == str(folder)  # whole, for workers elsewhere


def test_a_voice_that_is_only_a_state_speaks_with_the_model_that_made_it(tmp_path: Path) -> None:
    own_voice(
        tmp_path,
        "{name: own, engine: pocket, language: en, licence: CC0-1.0,"
        " parameters: {state: own.safetensors, model: english_2026-04}}",
    )
    assert choose(ENGLISH, voice="own").engine.spec.model == "english_2026-04"
    with pytest.raises(ModelUnavailableError, match="speaks en"):
        choose(FRENCH, voice="own")


def book(language: str, text: str) -> Book:
    return Book("id", "Title", (Chapter(1, "One", (Block("paragraph", text),)),), language=language)


def test_the_language_is_what_was_asked_for_else_declared_else_guessed() -> None:
    german = "Sie wartete, bis das Segel klein war, und dann setzte sie sich an den Tisch. " * 3
    source = Path("book.epub")
    assert book_language(book("en", german), "nl", source).tag == "nl"
    assert book_language(book("en", german), "", source).tag == "en"
    for nothing in ("", "und", "mul"):
        guess = book_language(book(nothing, german), "", source)
        assert guess == BookLanguage("de", "book.epub seems to be written in")
    assert book_language(book("", "Hm."), "", source).tag == ""


def test_a_declaration_that_the_whole_text_contradicts_is_not_believed_but_that_of_a_script() -> (
    None
):
    german = "Sie wartete, bis das Segel klein war, und dann setzte sie sich an den Tisch. " * 60
    found = book_language(book("en-GB", german), "", Path("book.epub"))
    assert found.tag == "de"
    assert found.says == "book.epub declares `en-GB`, but seems to be written in"
    assert "`en-GB`" in found.warning
    assert "--language en-GB" in found.warning
    script = book_language(book("en-GB", german), "", Path("book.jsonl"), is_script=True)
    assert script.tag == "en-GB"
    assert not script.warning


class Far(FakeEngine):
    """An engine whose files come in two pieces."""

    def fetch(self, voices: object, progress: Progress) -> None:
        for num_bytes in (0, 10, 20):
            progress("model.safetensors", num_bytes, 20)


def test_a_download_can_be_stopped() -> None:
    speaker = Speaker(Voice("tone", "fake", "en", "CC0-1.0"), Far(EngineSpec("fake")), "en")
    fetch(speaker, Silent())
    with pytest.raises(StoppedError, match="is kept"):
        fetch(speaker, Silent(), lambda: True)


def test_choosing_a_voice_imports_no_torch_once_the_machine_is_known(mirror: Path) -> None:
    put(mirror, "english")
    code = (
        "import sys; from pocket_batch.config import load_pipeline; "
        "import pocket_batch.jobs.audiobook; "
        "from pocket_batch.jobs.voice import BookLanguage, choose_speaker; "
        "speaker = choose_speaker(load_pipeline(None, {}), BookLanguage('en', '')); "
        "speaker.engine.identity(); speaker.engine.check([speaker.voice]); "
        "sys.exit(speaker.voice.name != 'alba' or 'torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)  # may measure what `auto` means
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
