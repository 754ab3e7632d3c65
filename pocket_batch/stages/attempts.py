"""The attempts at a text that fails its check: with other noise, calmer, in two parts."""

import re
from dataclasses import replace

import numpy as np

from pocket_batch.audio.flac import decode_flac, encode_flac, rate_of_flac
from pocket_batch.audio.mastering import speech_bounds
from pocket_batch.audio.pcm import Pcm
from pocket_batch.data import Request, Utterance
from pocket_batch.errors import AudioError
from pocket_batch.manifest import request_seed
from pocket_batch.settings import MasterSettings
from pocket_batch.stages.synthesize import Spoken
from pocket_batch.text.cuts import cut_in_two

CALM = 0.5  # of the temperature, in the attempts that are to be safe
IN_PARTS = 3  # the number of the attempt in two parts
JOIN_PAUSE_MS = 120  # between the parts of a text that is spoken in two
PART = "\n"  # in the keys of parts; in no other key
_IPA = re.compile(r"(?<=\])\(/[^()]*/\)")  # `[Siobhan](/ʃɪˈvɔːn/)` -> `[Siobhan]`


def numbers_of(text: str, language: str, varies: bool, most: int) -> tuple[int, ...]:
    """The attempts that there are at a text, in order: 0 is the first, 1 with other noise, ...

    Args:
        text: what is spoken.
        language: its own, a BCP 47 tag.
        varies: whether other noise makes the engine speak otherwise.
        most: how many there may be at all.
    """
    if varies:
        return tuple(range(most))
    numbers = (0, IN_PARTS) if len(cut_in_two(text, language)) == 2 else (0,)
    return numbers[:most]


def attempt(request: Request, number: int, language: str) -> tuple[Request, ...]:
    """What is to be spoken for one attempt: the text, or its two parts."""
    if number == 0:
        return (replace(request, attempt=0),)
    halves = cut_in_two(request.text, language) if number == IN_PARTS else ()
    if len(halves) < 2:
        return (_again(request, request.text, request.key, number),)
    return tuple(
        _again(request, text, f"{request.key}{PART}{index}", number)
        for index, text in enumerate(halves)
    )


def _again(request: Request, text: str, key: str, number: int) -> Request:
    seed = request_seed(request.seed, text, request.voice.name, number)
    calm = CALM if number >= 2 else 1.0
    return replace(request, key=key, text=text, seed=seed, attempt=number, calm=calm)


def as_spoken(request: Request) -> Spoken | None:
    """What an earlier run spoke, as if it had been spoken now; None when it is damaged."""
    try:
        num_samples = len(decode_flac(request.spoken))
    except AudioError:
        return None
    utterance = Utterance(
        key=request.key,
        segment_id=request.segment_id,
        num_samples=num_samples,
        sampling_rate_hz=rate_of_flac(request.spoken),
        finish_reason="eos",
        seed=request.seed,
        attempt=request.attempt,
        num_bytes=len(request.spoken),
        compute_s=0.0,
    )
    return Spoken(utterance, request.spoken)


def join(request: Request, parts: list[Spoken]) -> Spoken:
    """Two parts as one utterance, with a breath between them."""
    rate_hz = parts[0].utterance.sampling_rate_hz
    first, second = (_trimmed(decode_flac(part.flac), rate_hz) for part in parts)
    pause = np.zeros(rate_hz * JOIN_PAUSE_MS // 1000, np.int16)
    pcm = np.concatenate([first, pause, second])  # (S,)
    flac = encode_flac(pcm.astype(np.float32) / np.float32(32_768), rate_hz)
    reasons = {part.utterance.finish_reason for part in parts}
    utterance = replace(
        parts[-1].utterance,
        key=request.key,
        num_samples=len(pcm),
        finish_reason="length" if "length" in reasons else "eos",
        num_bytes=len(flac),
        compute_s=sum(part.utterance.compute_s for part in parts),
    )
    return Spoken(utterance, flac)


def _trimmed(pcm: Pcm, rate_hz: int) -> Pcm:
    begin, end = speech_bounds(pcm, rate_hz, MasterSettings())
    return pcm[begin:end] if begin < end else pcm


def plain(text: str) -> str:
    """A text without the pronunciations in it."""
    return _IPA.sub("", text)
