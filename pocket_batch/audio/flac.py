"""Utterances as 16-bit FLAC: the same samples always give the same bytes."""

import io
import os
from pathlib import Path

import numpy as np

from pocket_batch.audio.pcm import Pcm, Samples, to_int16
from pocket_batch.errors import AudioError


def encode_flac(samples: Samples, sampling_rate_hz: int) -> bytes:
    """Encode mono audio (num_samples,), full scale 1.0, as 16-bit FLAC.

    What exceeds full scale is clipped. Lossless after rounding to int16.

    Raises:
        AudioError: a sample is not a number.
    """
    import soundfile

    if not np.isfinite(samples).all():
        raise AudioError("The engine returned samples that are not numbers. Nothing was saved.")
    buffer = io.BytesIO()
    soundfile.write(buffer, to_int16(samples), sampling_rate_hz, format="FLAC", subtype="PCM_16")
    return buffer.getvalue()


def decode_flac(source: bytes | Path) -> Pcm:
    """Decode a mono FLAC file, given as its bytes or its path, to int16 (num_samples,).

    Raises:
        AudioError: the file is missing, damaged or not mono.
    """
    import soundfile

    name = "the FLAC data" if isinstance(source, bytes) else str(source)
    opened = io.BytesIO(source) if isinstance(source, bytes) else os.fsencode(source)
    try:
        pcm, _ = soundfile.read(opened, dtype="int16", always_2d=True)  # (S, C)
    except (soundfile.LibsndfileError, OSError) as error:
        raise AudioError(
            f"{name} cannot be decoded: {error}. Delete it, and the next run makes it again."
        ) from error
    if pcm.shape[1] != 1:
        raise AudioError(f"{name} has {pcm.shape[1]} channels, and mono was wanted.")
    return np.ascontiguousarray(pcm[:, 0], np.int16)


def rate_of_flac(flac: bytes) -> int:
    """The sampling rate of a FLAC file: 20 bits after 18 bytes. Source: RFC 9639, section 8.2."""
    return int.from_bytes(flac[18:21], "big") >> 4
