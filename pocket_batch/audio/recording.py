"""Reading anybody's recording of a voice: any format, mixed down, and refused when it is odd."""

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pocket_batch.audio.ffmpeg import QUIET, find_ffmpeg, run
from pocket_batch.audio.pcm import Samples
from pocket_batch.errors import InputError, OutputError

MAX_READ_S = 600  # of a longer file only this much is read: a prompt needs 30 s of it
BLOCK_SAMPLES = 1 << 18
MIN_RATE_HZ = 4_000
MAX_RATE_HZ = 384_000  # of the fastest converters; more is a damaged header
GOOD_RATE_HZ = 16_000
MAX_VALUE = 100.0  # full scale is 1.0; what is far over it was never sound


def read_prompt(path: Path) -> tuple[Samples, int]:
    """Read a recording, mixed down to mono; at most its first ten minutes.

    libsndfile reads WAV, FLAC, MP3 and Ogg; ffmpeg what else there is, such as M4A.

    Returns:
        The samples (num_samples,), the mean of the channels, full scale 1.0; and their sampling
        rate in Hz.

    Raises:
        InputError: there is no such file, it is not audio, or it is empty or damaged.
    """
    if not os.path.isfile(path):  # False for a name that no file system takes
        found = "it is a folder" if os.path.isdir(path) else "there is no such file"
        raise InputError(f"{_shown(path)}: a recording of a voice was wanted, and {found}.")
    import soundfile

    try:
        samples, rate_hz = _read(os.fsencode(path), path)
    except (soundfile.LibsndfileError, OSError, ValueError):
        samples, rate_hz = _read_with_ffmpeg(path)
    if not len(samples):
        raise InputError(f"{_shown(path)} holds no samples. Record it again.")
    return samples, rate_hz


def power_share(samples: Samples, sampling_rate_hz: int, band_hz: tuple[float, float]) -> float:
    """Share, 0 to 1, of the power of samples (num_samples,) in a band; a constant is no power."""
    if not len(samples):
        return 0.0
    powers = np.square(np.abs(np.fft.rfft(samples - samples.mean())))
    hz = np.fft.rfftfreq(len(samples), 1 / sampling_rate_hz)
    inside = float(powers[(hz >= band_hz[0]) & (hz <= band_hz[1])].sum())
    return inside / max(float(powers.sum()), 1e-30)


def _read(file: Any, path: Path) -> tuple[Samples, int]:
    """Read what libsndfile can, from a path or an open file; errors of it pass."""
    import soundfile

    with soundfile.SoundFile(file) as sound:
        rate_hz = int(sound.samplerate)
        if not MIN_RATE_HZ <= rate_hz <= MAX_RATE_HZ:
            fault = "too low for speech" if rate_hz < MIN_RATE_HZ else "which no recorder has"
            raise InputError(
                f"{_shown(path)} has a sampling rate of {rate_hz:,} Hz, {fault}. Record it at "
                f"{GOOD_RATE_HZ:,} Hz or more, such as 48,000 Hz."
            )
        blocks = list(_mono_blocks(sound, MAX_READ_S * rate_hz, path))
    return np.concatenate([np.zeros(0, np.float32), *blocks]), rate_hz


def _read_with_ffmpeg(path: Path) -> tuple[Samples, int]:
    """Let ffmpeg make a WAV of it.

    Raises:
        InputError: ffmpeg cannot read it to its end either.
    """
    import soundfile

    place = f"file:{os.fsdecode(path)}"
    output = ("-map", "0:a:0", "-t", str(MAX_READ_S), "-c:a", "pcm_f32le", "-f", "wav", "pipe:1")
    try:
        wav = run([find_ffmpeg(), *QUIET, "-xerror", "-i", place, *output], path).stdout
        return _read(io.BytesIO(wav), path)
    except (soundfile.LibsndfileError, OutputError, OSError, ValueError) as error:
        raise InputError(
            f"{_shown(path)} is not audio that can be read, or it is damaged. Check that it plays "
            "to its end; if it does, export it as WAV and use that, else record or copy it again."
        ) from error


def _mono_blocks(sound: Any, max_samples: int, path: Path) -> Iterator[Samples]:
    """Blocks of an open file, (num_samples,), mixed down one by one to save memory."""
    while max_samples > 0:
        block = sound.read(min(BLOCK_SAMPLES, max_samples), "float32", always_2d=True)  # (S, C)
        if not len(block):
            return
        if not float(np.abs(block).max()) <= MAX_VALUE:  # also when it is not a number
            raise InputError(
                f"{_shown(path)} has samples that are not numbers, or more than {MAX_VALUE:g} "
                "times full scale. Export it again, with 1.0 as full scale or as 16 bits."
            )
        yield np.asarray(block.mean(axis=1), np.float32)
        max_samples -= len(block)


def _shown(path: Path) -> str:
    """A path that every terminal can show, however long or odd it is."""
    text = os.fsencode(path).decode("utf-8", "replace")
    return text if len(text) <= 200 else f"{text[:200]}..."
