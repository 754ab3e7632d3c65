"""Whether the voices of a run stay who they are, by a network that tells speakers apart."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pocket_batch.audio.flac import decode_flac
from pocket_batch.audio.pcm import to_int16
from pocket_batch.audio.prompt import RATE_HZ, prepare_prompt
from pocket_batch.audio.recording import read_prompt
from pocket_batch.data import Utterance, Voice
from pocket_batch.engine.origin import recording_of
from pocket_batch.errors import AudioError, InputError, UsageError
from pocket_batch.manifest import content_key
from pocket_batch.quality.similarity import (
    Embedding,
    SpeakerModel,
    similarity,
    speech_s,
)
from pocket_batch.settings import CheckSettings
from pocket_batch.stages.repair import CheckSpec
from pocket_batch.work_folder import WorkFolder

MIN_SPEECH_S = 2.0  # less says little about who speaks
MIN_OTHERS = 3  # of a voice, before one is said to be unlike them
MAX_LOWEST = 5


@dataclass(frozen=True, slots=True)
class VoiceLikeness:
    """How like itself a voice is, 1 being the same; `mean` and `median` of `num_compared`.

    It is compared with the recording it was cloned from, or with the middle of its other
    utterances in this run. `lowest` are the least of these by key, the lowest first. `unlike` are
    the keys of utterances that are below the critical level to the others of their voice, likewise.
    """

    compared_with: Literal["recording", "itself"]
    num_compared: int
    mean: float
    median: float
    lowest: dict[str, float]
    unlike: tuple[str, ...] = ()


def load_voice_model(spec: CheckSpec | None) -> SpeakerModel | None:
    """The model that compares voices, if the settings name one; call it before anything is spoken.

    Raises:
        ModelUnavailableError: it is not on this machine, or no such model.
        UsageError: the levels are in the wrong order.
    """
    name = spec.settings.voice_model if spec else None
    if spec is None or name is None:
        return None
    settings = spec.settings
    if settings.critical_similarity > settings.warn_similarity:
        raise UsageError(
            f"check.critical_similarity is {settings.critical_similarity:g}, above "
            f"check.warn_similarity, {settings.warn_similarity:g}. A warning comes before."
        )
    return SpeakerModel(name)


def measure_similarity(
    work: WorkFolder,
    utterances: Mapping[str, Utterance],
    voices: Mapping[str, Voice],
    settings: CheckSettings,
    model: SpeakerModel | None = None,
) -> dict[str, VoiceLikeness]:
    """Compare the utterances of each voice, the same ones in every run.

    Args:
        work: where their audio is; what is damaged there is passed over.
        utterances: all of a run, by key.
        voices: who speaks each key.
        settings: with a `voice_model`; without one there is nothing to tell.
        model: that model, if it is loaded already.

    Returns:
        By the names of voices. A voice with fewer than two utterances of two seconds of speech
        is left out, unless there is a recording of it.

    Raises:
        ModelUnavailableError: the model is not on this machine.
    """
    if settings.voice_model is None:
        return {}
    model = model or SpeakerModel(settings.voice_model)
    found: dict[str, VoiceLikeness] = {}
    for name, voice, keys in _by_voice(utterances, voices):
        points = _points(work, [utterances[key] for key in keys], settings.voice_sample, model)
        likeness = _likeness(points, _recorded(voice, model), settings.critical_similarity)
        if likeness is not None:
            found[name] = likeness
    return found


def lowest_similarity(found: Mapping[str, VoiceLikeness]) -> float | None:
    """The figure of a run: the median of the voice that is least like itself."""
    return min((likeness.median for likeness in found.values()), default=None)


def similarity_level(
    value: float | None, settings: CheckSettings
) -> Literal["ok", "warning", "critical"]:
    """What a similarity means by the levels of the settings; None is nothing wrong."""
    if value is None or value >= settings.warn_similarity:
        return "ok"
    return "critical" if value < settings.critical_similarity else "warning"


def similarity_problem(found: Mapping[str, VoiceLikeness], settings: CheckSettings) -> str:
    """A sentence about the voice that is critical, empty if none is."""
    value = lowest_similarity(found)
    if similarity_level(value, settings) != "critical":
        return ""
    name = min(found, key=lambda name: found[name].median)
    other = "its recording" if found[name].compared_with == "recording" else "the rest of its lines"
    return (
        f"Voice {name} is {found[name].median:.2f} like {other}, less than "
        f"{settings.critical_similarity:g}; it may be another speaker."
    )


def unlike_keys(found: Mapping[str, VoiceLikeness]) -> frozenset[str]:
    """The utterances of a run that are suspect, with the code `voice_unlike`."""
    return frozenset(key for likeness in found.values() for key in likeness.unlike)


def _by_voice(
    utterances: Iterable[str], voices: Mapping[str, Voice]
) -> Iterator[tuple[str, Voice, list[str]]]:
    """Voices with a name of their own and their keys: two recordings may have one name."""
    groups: list[tuple[Voice, list[str]]] = []
    for key in utterances:
        voice = voices[key]
        at = next((keys for other, keys in groups if other == voice), None)
        if at is None:
            groups.append((voice, [key]))
        else:
            at.append(key)
    seen: dict[str, int] = {}
    for voice, keys in groups:
        seen[voice.name] = number = seen.get(voice.name, 0) + 1
        yield voice.name if number == 1 else f"{voice.name} ({number})", voice, keys


def _points(
    work: WorkFolder, utterances: Sequence[Utterance], num_wanted: int, model: SpeakerModel
) -> dict[str, Embedding]:
    """The embeddings of some utterances that are long enough, by key.

    A hash of their places in the book chooses, so that a line spoken again is compared again.
    """
    points: dict[str, Embedding] = {}
    for utterance in sorted(
        utterances, key=lambda u: (content_key(similarity=u.segment_id), u.key)
    ):
        rate_hz = utterance.sampling_rate_hz
        if len(points) >= num_wanted:
            break
        if utterance.num_samples < MIN_SPEECH_S * rate_hz:
            continue
        with suppress(AudioError):  # who masters the chapter says so, and has it spoken anew
            pcm = decode_flac(work.audio(utterance.key))
            if speech_s(pcm, rate_hz) >= MIN_SPEECH_S:
                points[utterance.key] = model.embed(pcm, rate_hz)
    return points


def _recorded(voice: Voice, model: SpeakerModel) -> Embedding | None:
    """The embedding of the recording that a voice was cloned from, as far as the engine hears it.

    A recording that cannot be read any more is as good as none: the voice has spoken.
    """
    path = recording_of(voice)
    if path is None:
        return None
    try:
        prompt, _ = prepare_prompt(*read_prompt(path))
    except InputError:
        return None
    return model.embed(to_int16(prompt), RATE_HZ)


def _likeness(
    points: Mapping[str, Embedding], recorded: Embedding | None, critical: float
) -> VoiceLikeness | None:
    """Of one voice; None where there is nothing to compare with."""
    own = _to_the_others(points)
    found = (
        {key: similarity(p, recorded) for key, p in points.items()} if recorded is not None else own
    )
    if not found:
        return None
    values = list(found.values())
    lowest = sorted(found, key=lambda key: found[key])[:MAX_LOWEST]
    unlike = sorted((key for key in own if own[key] < critical), key=lambda key: own[key])
    return VoiceLikeness(
        compared_with="itself" if recorded is None else "recording",
        num_compared=len(found),
        mean=round(float(np.mean(values)), 3),
        median=round(float(np.median(values)), 3),
        lowest={key: round(found[key], 3) for key in lowest},
        unlike=tuple(unlike) if len(own) > MIN_OTHERS else (),
    )


def _to_the_others(points: Mapping[str, Embedding]) -> dict[str, float]:
    """How like the middle of all others each is; empty for a single one."""
    if len(points) < 2:
        return {}
    total = np.sum(list(points.values()), axis=0)  # (D,)
    return {key: similarity(point, total - point) for key, point in points.items()}
