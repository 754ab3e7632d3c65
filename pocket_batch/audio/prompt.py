"""An audio prompt: from anybody's recording of a voice to what the Mimi encoder wants to hear."""

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pocket_batch.audio.loudness import LoudnessMeter, integrated_lufs
from pocket_batch.audio.pcm import Samples
from pocket_batch.audio.recording import GOOD_RATE_HZ, power_share, read_prompt
from pocket_batch.errors import InputError

RATE_HZ = 24_000  # of Mimi. Source: arXiv 2410.00037, section 3.3
MAX_PROMPT_S = 30.0  # what the model was made for
MIN_SPEECH_S = 1.0
GOOD_S = 5.0
GOOD_SNR_DB = 20.0
MIN_SNR_DB = 3.0  # noise alone, and a steady tone, measure less
TARGET_LUFS = -23.0  # EBU R 128
MAX_PEAK = 0.98  # full scale, with room for rounding to 16 bits

# How pocket-tts 4.0.1 ends a prompt: the model was trained on prompts that end inside a pause.
FRAME_S = 0.02
FLOOR_DB = 35.0  # a frame this far below the loudest one is silence
SILENT_DB = -70.0  # a recording whose loudest frame is below this is empty
FADE_S = 0.02
PAUSE_S = 0.08

LEAD_S = 0.1  # stays before the first loud frame: a soft consonant may be in it
SEARCH_S = 5.0  # a prompt that is too long is cut at a pause, if one is this near to its limit
MIN_PAUSE_FRAMES = 5  # shorter ones are the closures of consonants
CLIPPED = 0.999  # samples at or over this are taken as clipped
MAX_CLIPPED = 1e-4
HOPELESS_CLIPPED = 0.2
SPEECH_HZ = (80.0, 4_000.0)  # most of the power of a voice is in here
MIN_SPEECH_SHARE = 0.05  # of the power, without a constant; of white noise at 96 kHz it is 0.08
MAX_SILENCE = 0.5
MAX_SNR_DB = 96.0  # what 16 bits can hold


@dataclass(frozen=True, slots=True)
class PromptReport:
    """What a recording is like. `refusal` is empty when it can be used; both are sentences.

    `speech_s` is the time of frames that are not silence; shares are 0 to 1; `lufs` is -inf for
    silence; `snr_db` is an estimate.
    """

    sampling_rate_hz: int
    seconds: float
    speech_s: float
    snr_db: float
    clipped_share: float
    silence_share: float
    lufs: float
    warnings: tuple[str, ...] = ()
    refusal: str = ""


def prepare_prompt(
    samples: Samples,
    sampling_rate_hz: int,
    *,
    max_s: float = MAX_PROMPT_S,
    trim: bool = True,
    level: bool = True,
) -> tuple[Samples, list[str]]:
    """Make a recording ready for the Mimi encoder.

    Resample, trim the silence before the first word, cut to `max_s` (inside a pause where one is
    near), bring to -23 LUFS, and end on a pause of 80 ms. Without `trim` and `level` the samples
    are those that pocket-tts makes. Preparing a prepared prompt changes next to nothing.

    Args:
        samples: shape (num_samples,), mono, full scale 1.0. Not modified.
        max_s: longest result, but for the pause at its end.

    Returns:
        The prompt (num_samples,) at 24 kHz, and sentences for the user about what was done.

    Raises:
        InputError: there is less than one second of speech in it.
    """
    notes: list[str] = []
    prompt = _resample(samples, sampling_rate_hz)
    speech_s = min(_speech_s(samples, sampling_rate_hz), _speech_s(prompt, RATE_HZ))
    if speech_s < MIN_SPEECH_S:
        raise InputError(_too_short(speech_s))
    if trim:
        prompt = prompt[_begin(prompt) :]
    if len(prompt) > max_s * RATE_HZ:
        seconds = len(prompt) / RATE_HZ
        prompt = prompt[: _cut(prompt, int(max_s * RATE_HZ), at_pause=trim)]
        notes.append(
            f"The recording has {seconds:.1f} s, and a voice prompt at most {max_s:g} s: "
            f"the first {len(prompt) / RATE_HZ:.1f} s are used."
        )
    if level:
        prompt = _level(prompt, notes)
    return _end_on_pause(prompt), notes


def examine_prompt(path: Path) -> tuple[PromptReport, Samples]:
    """Read, measure and prepare a recording: all that there is to say about it.

    Returns:
        The report, whose warnings also say what was cut off; and the prompt (num_samples,) at
        24 kHz, empty when the recording is refused.

    Raises:
        InputError: it is not audio.
    """
    samples, rate_hz = read_prompt(path)
    report = check_prompt(samples, rate_hz)
    if not report.refusal:
        try:
            prompt, notes = prepare_prompt(samples, rate_hz)
        except InputError as error:
            report = replace(report, warnings=(), refusal=str(error))
        else:
            cut = notes[: report.seconds > MAX_PROMPT_S]  # its level is no flaw of a recording
            return replace(report, warnings=(*report.warnings, *cut)), prompt
    return report, np.zeros(0, np.float32)


def check_prompt(samples: Samples, sampling_rate_hz: int) -> PromptReport:
    """Measure a recording as it is, before it is prepared.

    Args:
        samples: shape (num_samples,), mono, full scale 1.0.
    """
    powers = _frame_powers(samples, sampling_rate_hz)
    meter = LoudnessMeter(sampling_rate_hz)
    meter.add(samples)
    report = PromptReport(
        sampling_rate_hz=sampling_rate_hz,
        seconds=len(samples) / sampling_rate_hz,
        speech_s=_speech_s(samples, sampling_rate_hz),
        snr_db=_snr_db(powers),
        clipped_share=float(np.mean(np.abs(samples) >= CLIPPED)) if len(samples) else 0.0,
        silence_share=1.0 - float(np.mean(_is_loud(powers))) if len(powers) else 1.0,
        lufs=integrated_lufs(meter.result()),
    )
    first = samples[: int(MAX_PROMPT_S) * sampling_rate_hz]
    return _judged(report, power_share(first, sampling_rate_hz, SPEECH_HZ))


def _judged(report: PromptReport, speech_share: float) -> PromptReport:
    """The report with what is wrong with the recording, in sentences."""
    is_flawed = {
        f"It has only {report.speech_s:.1f} s of speech: a voice is learned better from "
        f"{GOOD_S:g} s or more, and best from 10 to 30 s.": report.speech_s < GOOD_S,
        f"The noise is only about {report.snr_db:.1f} dB below the voice, less than "
        f"{GOOD_SNR_DB:g} dB: the voice will sound noisy too. Record in a quieter room, nearer to "
        "the microphone.": report.snr_db < GOOD_SNR_DB,
        f"{100 * report.clipped_share:.2g} % of its samples are clipped: record at a lower "
        "level.": report.clipped_share > MAX_CLIPPED,
        f"{100 * report.silence_share:.0f} % of it is silence: cut the pauses "
        "out.": report.silence_share > MAX_SILENCE,
        f"Its sampling rate is {report.sampling_rate_hz:,} Hz: the voice will sound dull. Record "
        f"at {GOOD_RATE_HZ:,} Hz or more.": report.sampling_rate_hz < GOOD_RATE_HZ,
    }
    refusal = _refusal(report, speech_share)
    warnings = tuple(sentence for sentence, is_so in is_flawed.items() if is_so)
    return replace(report, warnings=() if refusal else warnings, refusal=refusal)


def _refusal(report: PromptReport, speech_share: float) -> str:
    """Why a recording is not good enough for a voice, empty when it is."""
    if report.speech_s < MIN_SPEECH_S:
        return _too_short(report.speech_s)
    if speech_share < MIN_SPEECH_SHARE:
        return (
            "The recording is not good enough: there is next to nothing in it between "
            f"{SPEECH_HZ[0]:g} and {SPEECH_HZ[1]:,.0f} Hz, where speech is. Record it again."
        )
    if report.snr_db <= MIN_SNR_DB:
        return (
            "The recording is not good enough: no voice stands out of its noise "
            f"({report.snr_db:.1f} dB). Record in a quieter room, nearer to the microphone."
        )
    if report.clipped_share <= HOPELESS_CLIPPED:
        return ""
    return (
        f"The recording is not good enough: {100 * report.clipped_share:.2g} % of its samples "
        "are clipped. Record at a lower level."
    )


def _too_short(speech_s: float) -> str:
    return (
        f"The recording has {speech_s:.1f} s of speech, and at least {MIN_SPEECH_S:g} s is "
        "needed. Record some sentences, 10 to 30 s of them."
    )


def _speech_s(samples: Samples, sampling_rate_hz: int) -> float:
    return FRAME_S * int(_is_loud(_frame_powers(samples, sampling_rate_hz)).sum())


def _frame_powers(samples: Samples, sampling_rate_hz: int) -> NDArray[np.float32]:
    """Mean square of each whole frame of 20 ms, shape (F,)."""
    size = int(FRAME_S * sampling_rate_hz)
    framed = samples[: len(samples) // size * size].reshape(-1, size)  # (F, S)
    return np.asarray(np.square(framed).mean(axis=1), np.float32)


def _is_loud(powers: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which frames are not silence: within 35 dB of the loudest, when that is audible at all."""
    loudest = float(powers.max(initial=0.0))
    if loudest < 10 ** (SILENT_DB / 10):
        return np.zeros(len(powers), np.bool_)
    # in decibels, as the reference compares them; the constant keeps digital silence finite
    levels = 20 * np.log10(np.sqrt(powers) + np.float32(1e-12))
    return np.asarray(levels > levels.max() - FLOOR_DB, np.bool_)


def _snr_db(powers: NDArray[np.float32]) -> float:
    """Estimate how far the noise is below the voice.

    The quietest twentieth of the frames is noise alone. What others have more than that is voice;
    its level is that of the frames in which it is heard. Digital silence, which some programs put
    between words, is no measure of noise.
    """
    heard = np.sort(powers[powers > 10 ** (-MAX_SNR_DB / 10)])
    if len(heard) < 20:
        return 0.0
    noise = float(heard[: max(3, len(heard) // 20)].mean())
    voice = np.maximum(heard - noise, 0.0)
    voice = voice[voice > voice.mean() / 10]
    if not len(voice):
        return 0.0
    return min(MAX_SNR_DB, 10 * math.log10(float(voice.mean()) / noise))


def _resample(samples: Samples, sampling_rate_hz: int) -> Samples:
    """To 24 kHz, with the polyphase filter of scipy as pocket-tts does."""
    if sampling_rate_hz == RATE_HZ:
        return samples
    from scipy.signal import resample_poly  # takes almost a second

    gcd = math.gcd(sampling_rate_hz, RATE_HZ)
    resampled = resample_poly(samples, RATE_HZ // gcd, sampling_rate_hz // gcd)
    return np.asarray(resampled, np.float32)


def _begin(prompt: Samples) -> int:
    """Where the prompt starts: a little before its first loud frame."""
    first = int(np.argmax(_is_loud(_frame_powers(prompt, RATE_HZ))))
    return max(0, round((first * FRAME_S - LEAD_S) * RATE_HZ))


def _cut(prompt: Samples, num_samples: int, at_pause: bool) -> int:
    """Where to cut a prompt that is too long: in the last pause before the limit, or at it."""
    is_loud = _is_loud(_frame_powers(prompt[:num_samples], RATE_HZ))
    for end in range(len(is_loud), len(is_loud) - round(SEARCH_S / FRAME_S), -1):
        pause = is_loud[max(0, end - MIN_PAUSE_FRAMES) : end]
        if at_pause and not pause.any():
            return end * int(FRAME_S * RATE_HZ)
    return num_samples


def _level(prompt: Samples, notes: list[str]) -> Samples:
    """Bring to -23 LUFS, or as near to it as full scale lets us."""
    peak = float(np.abs(prompt).max())
    meter = LoudnessMeter(RATE_HZ)
    meter.add(prompt / np.float32(peak))  # so that the absolute gate leaves a quiet voice in
    measured_lufs = integrated_lufs(meter.result()) + 20 * math.log10(peak)
    if measured_lufs == -math.inf:  # no sound that can be heard, such as a constant
        raise InputError(_too_short(0.0))
    gain = 10 ** ((TARGET_LUFS - measured_lufs) / 20)
    if gain * peak > MAX_PEAK:
        gain = MAX_PEAK / peak
        notes.append(
            f"Its level stays at {measured_lufs + 20 * math.log10(gain):.1f} LUFS instead of "
            f"{TARGET_LUFS:g}: its peaks are already at full scale."
        )
    return prompt * np.float32(gain)


def _end_on_pause(prompt: Samples) -> Samples:
    """Cut the silence at the end, fade out what remains, and add exactly 80 ms of silence.

    Source: pocket-tts 4.0.1, data/audio_utils.py: a prompt that stops in a word makes the model
    go on with that word, and one with a long silence makes it start late.
    """
    loud = np.flatnonzero(_is_loud(_frame_powers(prompt, RATE_HZ)))
    end = (int(loud[-1]) + 1) * int(FRAME_S * RATE_HZ)
    num_fade = min(int(FADE_S * RATE_HZ), end)
    ended = np.zeros(end + int(PAUSE_S * RATE_HZ), np.float32)  # (S,)
    ended[:end] = prompt[:end]
    ended[end - num_fade : end] *= np.linspace(1, 0, num_fade, dtype=np.float32)
    return ended
