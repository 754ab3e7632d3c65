"""Who speaks: a voice with its engine and model, by what was asked for and the book's language.

A voice that was named is used or refused, never replaced. Without a name it is the default voice
of the Pocket model of the book's language if that is on this machine, else the embedded one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pocket_batch.bcp47 import primary
from pocket_batch.config import load_voices
from pocket_batch.data import EngineSpec, Sampling, Voice
from pocket_batch.engine.auto_precision import resolved
from pocket_batch.engine.base import Engine, make_engine
from pocket_batch.errors import ModelUnavailableError, StoppedError, UsageError
from pocket_batch.jobs.language import BookLanguage as BookLanguage
from pocket_batch.jobs.language import spoken_languages
from pocket_batch.jobs.named import POCKET, located, own_voices, spec_of, voice_by_name
from pocket_batch.jobs.named import named_voice as named_voice
from pocket_batch.jobs.progress import DownloadMeter, Reporter
from pocket_batch.models.presets import (
    ModelSource,
    find_model,
    load_presets,
    model_for_language,
)
from pocket_batch.settings import AudiobookPipeline

if TYPE_CHECKING:
    from pocket_batch.engine.states import VoiceStates

EMBEDDED = "heart"  # comes with the package, and reads English
MAX_VOICES_NAMED = 8


@dataclass(frozen=True, slots=True)
class Speaker:
    """A voice and what it speaks with; `language` is the BCP 47 tag to read in.

    `hint` says how to get another voice, to somebody who named none. `cast` are the other voices
    that have lines, by the names that the text has for them.
    """

    voice: Voice
    engine: Engine
    language: str
    hint: str = ""
    cast: dict[str, Voice] = field(default_factory=dict)

    @property
    def voices(self) -> tuple[Voice, ...]:
        """The narrator, then all others, each once."""
        voices = [self.voice]
        voices += (v for v in self.cast.values() if v not in voices)
        return tuple(voices)


def choose_speaker(pipeline: AudiobookPipeline, language: BookLanguage) -> Speaker:
    """The voice that was asked for, or the one that suits the language.

    Uses no network. What was asked for need not be on this machine: `Engine.fetch` gets it.

    Raises:
        ModelUnavailableError: there is no such voice or model, it reads another language, or none
            was named and none is here.
        UsageError: the voice does not go with the other settings.
    """
    if pipeline.voice is None:
        return _default(pipeline, language)
    voice = named_voice(pipeline.voice, pipeline.model)
    if voice.engine != POCKET:
        _refuse_pocket_settings(pipeline, voice)
        return _speaker(voice, spec_of(voice), language)
    return _pocket_speaker(voice, _model_for(voice, pipeline, language), pipeline, language)


def fetch(
    speaker: Speaker, reporter: Reporter, should_stop: Callable[[], bool] = lambda: False
) -> None:
    """Put what a speaker needs on this machine, unless it is here, and show how it comes.

    Raises:
        ModelUnavailableError: it cannot be had; the message says what to do.
        StoppedError: `should_stop()` turned true; what has come is kept.
    """
    meter = DownloadMeter(reporter)

    def progress(file: str, num_bytes: int, total_bytes: int) -> None:
        meter.report(file, num_bytes, total_bytes)
        if should_stop():
            raise StoppedError("Stopped while downloading. What has come is kept.")

    speaker.engine.fetch(speaker.voices, progress)


def recording_warnings(speaker: Speaker) -> list[str]:
    """What is wrong with the recordings that voices are made from, as `voices check` says it.

    Raises:
        InputError: one is damaged, or not good enough for a voice.
    """
    states = states_of(speaker.engine)
    if states is None:
        return []
    return [f"Voice {v.name}: {text}" for v in speaker.voices for text in states.check(v)]


def states_of(engine: Engine) -> "VoiceStates | None":
    """The voice states of an engine that has such."""
    states: VoiceStates | None = getattr(engine, "states", None)
    return states


def _default(pipeline: AudiobookPipeline, language: BookLanguage) -> Speaker:
    """Who speaks when nobody was named."""
    if pipeline.model:
        source = find_model(located(pipeline.model))
        voice = _default_voice(source)
        speaker = _pocket_speaker(voice, source, pipeline, language, was_named=False)
        _check_default_voice(source, speaker)
        return speaker
    code = primary(language.tag) or "en"
    suited = model_for_language(code)
    if suited and _is_here(suited):
        hint = f"Quicker, and inside the package: --voice {EMBEDDED}." if code == "en" else ""
        return _pocket_speaker(_default_voice(suited), suited, pipeline, language, hint)
    if code == "en":
        voice = voice_by_name(EMBEDDED)
        hint = _how_to_get(suited) if suited else ""
        _refuse_pocket_settings(pipeline, voice, hint, was_named=False)
        return _speaker(voice, EngineSpec(voice.engine), language, hint)
    if suited:
        raise ModelUnavailableError(
            f"{language.says} `{language.tag}`, and the voice for it ({suited.default_voice}) is "
            f"not on this machine. Run `pocket-batch models pull {suited.name}` while online, or "
            f"give --language en if it is not so."
        )
    raise ModelUnavailableError(
        f"{language.says} `{language.tag}`, and there is no model for that. The languages are "
        f"{', '.join(spoken_languages())}. Give --language CODE if it is not so."
    )


def _how_to_get(source: ModelSource) -> str:
    return (
        f"For Pocket TTS (voice {source.default_voice}): "
        f"`pocket-batch models pull {source.name}` once, while online."
    )


def _speaker(
    voice: Voice, spec: EngineSpec, language: BookLanguage, hint: str = "", was_named: bool = True
) -> Speaker:
    """A speaker that reads the book's language.

    Raises:
        ModelUnavailableError: the voice or its model reads another one.
    """
    engine = make_engine(spec)
    reads = engine.language or voice.language
    if language.tag and reads and primary(language.tag) != primary(reads):
        model = f" with the model `{spec.model}`" * bool(spec.model)
        who, choose = (
            f"voice {voice.name}{model}",
            "a voice of that language (`pocket-batch voices`)",
        )
        if not was_named:
            who, choose = f"the model `{spec.model}`", "another model, or leave --model out"
        raise ModelUnavailableError(
            f"{language.says} `{language.tag}`, and {who} speaks {reads}. Choose {choose}, or give "
            f"--language {primary(reads)} if it is not so."
        )
    if not language.tag and primary(reads) not in ("", "en"):
        hint = f"The language of the text is not known: it is read as {reads}. {hint}".rstrip()
    return Speaker(voice, engine, language.tag or reads or "en", hint)


def _pocket_speaker(
    voice: Voice,
    source: ModelSource,
    pipeline: AudiobookPipeline,
    language: BookLanguage,
    hint: str = "",
    was_named: bool = True,
) -> Speaker:
    spec = EngineSpec(POCKET, source.name, resolved(pipeline.precision), pipeline.sampling)
    return _speaker(voice, spec, language, hint, was_named)


def _model_for(voice: Voice, pipeline: AudiobookPipeline, language: BookLanguage) -> ModelSource:
    """The model of a voice that was named: the one asked for, else by the language.

    A voice that is a state and no recording fits only the model that made it.
    """
    made_for = "" if "prompt" in voice.parameters else voice.parameters.get("model", "")
    name = pipeline.model or made_for
    if name:
        return find_model(located(name))
    source = model_for_language(primary(language.tag or voice.language) or "en")
    if source is None:
        says = f"{language.says} `{language.tag}`"
        if not language.tag:
            says = f"The voice {voice.name} is of the language `{voice.language}`"
        raise ModelUnavailableError(
            f"{says}, and there is no model of Pocket TTS for that, so voice {voice.name} cannot "
            f"read it. The languages are {', '.join(spoken_languages())}. Give --language CODE if "
            "it is not so."
        )
    return source


def _default_voice(source: ModelSource) -> Voice:
    """The default voice of a model, as its file in `voices/` states it."""
    name = source.default_voice
    voice = load_voices()[0].get(name)
    if voice is None or voice.engine != POCKET:
        return Voice(name, POCKET, source.language, "unknown")
    return voice


def _is_here(source: ModelSource) -> bool:
    """Whether a model can speak now with its default voice."""
    try:
        engine = make_engine(EngineSpec(POCKET, source.name))
        engine.check([_default_voice(source)])
    except ModelUnavailableError:
        return False
    return True


def _check_default_voice(source: ModelSource, speaker: Speaker) -> None:
    """Refuse a folder without the default voice: which of the others is meant is not known.

    Raises:
        ModelUnavailableError: naming the voices that the folder has.
    """
    if source.name in load_presets():
        return  # what is missing is downloaded
    try:
        speaker.engine.voice_key(speaker.voice)
    except ModelUnavailableError as error:
        found = own_voices(source)
        names = ", ".join(found[:MAX_VOICES_NAMED]) + ", ..." * (len(found) > MAX_VOICES_NAMED)
        has = f"its voices are {names}: name one with --voice" if found else "it has no voices"
        raise ModelUnavailableError(
            f"The model {source.name} lacks the voice `{speaker.voice.name}`; {has}. "
            "A recording or a state file does as well: --voice FILE."
        ) from error


def _refuse_pocket_settings(
    pipeline: AudiobookPipeline, voice: Voice, hint: str = "", was_named: bool = True
) -> None:
    """Nothing that was asked for is passed over silently.

    Raises:
        UsageError: a setting of Pocket TTS, and a voice of another engine.
    """
    sampling = pipeline.sampling
    others = replace(sampling, temperature=None) != Sampling()
    given = {
        "--model": pipeline.model is not None,
        "--temperature": sampling.temperature is not None,
        "--set sampling": others,
        "--set precision": pipeline.precision != "auto",
    }
    for name, is_given in given.items():
        if is_given and was_named:
            raise UsageError(
                f"{name} is for voices of Pocket TTS, and {voice.name} is a voice of "
                f"{voice.engine}. Leave it out, or choose another voice (`pocket-batch voices`)."
            )
        if is_given:
            raise UsageError(
                f"{name} is for voices of Pocket TTS, which is not on this machine, so that "
                f"{voice.name}, a voice of {voice.engine}, would read. {hint} Or leave {name} out."
            )
