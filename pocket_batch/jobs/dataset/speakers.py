"""The voices of a data set with their engines, of which a set may have several."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from pocket_batch.bcp47 import primary
from pocket_batch.config import load_pipeline
from pocket_batch.data import EngineSpec, Voice
from pocket_batch.dataset_settings import DatasetPipeline
from pocket_batch.engine.base import Engine
from pocket_batch.errors import UsageError
from pocket_batch.executors.base import fingerprint
from pocket_batch.jobs.language import BookLanguage, check_code
from pocket_batch.jobs.progress import Reporter
from pocket_batch.jobs.voice import Speaker, choose_speaker, fetch
from pocket_batch.outputs.exports import Speaker as SpeakerFacts
from pocket_batch.settings import AudiobookPipeline


@dataclass(slots=True)
class DatasetSpeakers:
    """Voices by their names in the set; those of one engine share it.

    `language` is the BCP 47 tag that all texts are read in.
    """

    pipeline: DatasetPipeline
    language: str = ""
    by_name: dict[str, Speaker] = field(default_factory=dict)
    engines: dict[EngineSpec, Engine] = field(default_factory=dict)

    def add(self, name: str | None) -> str:
        """Choose a voice by name or file, or the default one; returns its name in the set.

        Raises:
            ModelUnavailableError: there is none, or it speaks another language.
            UsageError: it does not go with the settings, or two voices have one name.
        """
        language = self.pipeline.corpus.language or self.language
        speaker = choose_speaker(self._as_for_a_book(name), BookLanguage(language, "You asked for"))
        spec = speaker.engine.spec
        engine = self.engines.setdefault(spec, speaker.engine)
        voice = speaker.voice
        known = self.by_name.get(voice.name)
        if known is not None and known.voice != voice:
            raise UsageError(
                f"Two voices are called `{voice.name}`. Rename one file, or choose another voice."
            )
        self.language = self.language or speaker.language
        self.by_name[voice.name] = replace(speaker, engine=engine)
        return voice.name

    def _as_for_a_book(self, name: str | None) -> AudiobookPipeline:
        """Settings of an audiobook with this voice; those of Pocket TTS only where they apply."""
        pipeline = self.pipeline
        base = load_pipeline(None, {})
        plain = replace(base, voice=name)
        if name is not None and not _is_pocket(name, pipeline.model):
            return plain
        return replace(
            plain, model=pipeline.model, precision=pipeline.precision, sampling=pipeline.sampling
        )

    @property
    def voices(self) -> dict[str, Voice]:
        """All voices by name."""
        return {name: speaker.voice for name, speaker in self.by_name.items()}

    def keys(self) -> dict[str, str]:
        """What each voice and its engine are at present."""
        return {
            name: fingerprint(speaker.engine, (speaker.voice,))
            for name, speaker in self.by_name.items()
        }

    def facts(self, names: list[str]) -> tuple[SpeakerFacts, ...]:
        """What is told of some voices in the set."""
        return tuple(
            SpeakerFacts(v.name, v.licence, v.language, v.description, v.source)
            for v in (self.by_name[name].voice for name in names)
        )

    def fetch(self, reporter: Reporter, should_stop: Callable[[], bool]) -> None:
        """Put what the voices need on this machine, and make sure that it is there.

        Raises:
            ModelUnavailableError: it cannot be had.
            StoppedError: `should_stop()` turned true.
        """
        for speaker in self.by_name.values():
            fetch(speaker, reporter, should_stop)
            speaker.engine.check(speaker.voices)

    def groups(self, names: list[str]) -> list[tuple[Engine, tuple[Voice, ...]]]:
        """Each engine with those of some voices that it speaks with."""
        found: dict[EngineSpec, list[Voice]] = {}
        for name in names:
            speaker = self.by_name[name]
            found.setdefault(speaker.engine.spec, []).append(speaker.voice)
        return [(self.engines[spec], tuple(voices)) for spec, voices in found.items()]


def choose_speakers(pipeline: DatasetPipeline) -> DatasetSpeakers:
    """The voices that were asked for, or the one that suits the language; uses no network.

    Raises:
        ModelUnavailableError, UsageError: as `DatasetSpeakers.add`.
    """
    language = pipeline.corpus.language
    if language:
        check_code(language)
    speakers = DatasetSpeakers(pipeline)
    names: list[str | None] = list(pipeline.voices.voices)
    for name in names or [None]:
        speakers.add(name)
    languages = {primary(s.language): name for name, s in speakers.by_name.items()}
    if len(languages) > 1:
        told = ", ".join(f"{name} {code}" for code, name in sorted(languages.items()))
        raise UsageError(
            f"The voices speak different languages ({told}). Make a set for each language."
        )
    return speakers


def _is_pocket(name: str, model: str | None) -> bool:
    from pocket_batch.jobs.named import POCKET, named_voice

    return named_voice(name, model).engine == POCKET
