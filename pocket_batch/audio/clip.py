"""One utterance in another encoding, sampling rate or loudness; the same bytes every time."""

import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pocket_batch.audio.limiter import Limiter
from pocket_batch.audio.loudness import LoudnessMeter, integrated_lufs, rms_db
from pocket_batch.audio.ogg import with_serial
from pocket_batch.audio.pcm import Samples, to_int16
from pocket_batch.dataset_settings import AudioKind
from pocket_batch.errors import AudioError

OPUS_RATES_HZ = (8_000, 12_000, 16_000, 24_000, 48_000)  # RFC 6716, section 2
CEILING_DBTP = -1.0
SERIAL = 0x504F434B  # of all our Ogg streams: any number does


@dataclass(frozen=True, slots=True)
class Encoding:
    """How clips are wanted; a rate or loudness of None leaves them as they are."""

    kind: AudioKind = "flac"
    sampling_rate_hz: int | None = None
    loudness_lufs: float | None = None


@dataclass(frozen=True, slots=True)
class Encoded:
    """A whole audio file, and what it decodes to."""

    audio: bytes
    num_samples: int
    sampling_rate_hz: int


def decode(audio: bytes) -> tuple[NDArray[np.int16], int]:
    """Samples (num_samples,) of a mono file of any kind that libsndfile reads, and their rate.

    Raises:
        AudioError: it is damaged, or not mono.
    """
    import soundfile

    try:
        pcm, rate_hz = soundfile.read(io.BytesIO(audio), dtype="int16", always_2d=True)  # (S, C)
    except (soundfile.LibsndfileError, OSError, RuntimeError) as error:
        raise AudioError(f"Audio cannot be decoded: {error}.") from error
    if pcm.shape[1] != 1:
        raise AudioError(f"The audio has {pcm.shape[1]} channels, and mono was wanted.")
    return np.ascontiguousarray(pcm[:, 0], np.int16), int(rate_hz)


def convert(flac: bytes, num_samples: int, rate_hz: int, wanted: Encoding) -> Encoded:
    """A FLAC file as it is wanted; what needs no change is passed on byte for byte.

    Raises:
        AudioError: it is damaged.
    """
    target_hz = wanted.sampling_rate_hz or rate_hz
    is_same = target_hz == rate_hz and wanted.loudness_lufs is None
    if is_same and wanted.kind == "flac":
        return Encoded(flac, num_samples, rate_hz)
    pcm, rate_hz = decode(flac)
    if not is_same:
        pcm = _changed(pcm, rate_hz, target_hz, wanted.loudness_lufs)
    return Encoded(encode(pcm, target_hz, wanted.kind), len(pcm), target_hz)


def _changed(
    pcm: NDArray[np.int16], rate_hz: int, target_hz: int, lufs: float | None
) -> NDArray[np.int16]:
    samples = pcm.astype(np.float32) * np.float32(1 / 32_768)  # (S,)
    if target_hz != rate_hz:
        import soxr

        samples = soxr.resample(samples, rate_hz, target_hz, quality="VHQ")
    if lufs is not None:
        samples = to_loudness(samples, target_hz, lufs)
    return to_int16(samples)


def to_loudness(samples: Samples, rate_hz: int, lufs: float) -> Samples:
    """Scale a clip to a loudness, its peaks limited; silence stays what it is.

    A clip of less than 0.4 s has no loudness by the standard: its RMS level stands for it.
    """
    meter = LoudnessMeter(rate_hz)
    meter.add(samples)
    measured = integrated_lufs(meter.result())
    if not np.isfinite(measured):
        measured = rms_db(float(np.mean(np.square(samples, dtype=np.float64))))
    if not np.isfinite(measured):
        return samples
    louder = samples * np.float32(10 ** ((lufs - measured) / 20))
    limiter = Limiter(rate_hz, CEILING_DBTP)
    return np.concatenate((limiter.process(louder), limiter.flush()))


def encode(pcm: NDArray[np.int16], rate_hz: int, kind: AudioKind) -> bytes:
    """Encode int16 (num_samples,) as a whole FLAC, WAV or Ogg Opus file.

    Raises:
        AudioError: Opus does not have that rate.
    """
    import soundfile

    if kind == "opus" and rate_hz not in OPUS_RATES_HZ:
        rates = ", ".join(f"{rate}" for rate in OPUS_RATES_HZ)
        raise AudioError(f"Opus has the rates {rates} Hz, not {rate_hz}. Give --sampling-rate.")
    buffer = io.BytesIO()
    forms = {"flac": ("FLAC", "PCM_16"), "wav": ("WAV", "PCM_16"), "opus": ("OGG", "OPUS")}
    file_format, subtype = forms[kind]
    soundfile.write(buffer, pcm, rate_hz, format=file_format, subtype=subtype)
    data = buffer.getvalue()
    return with_serial(data, SERIAL) if kind == "opus" else data
