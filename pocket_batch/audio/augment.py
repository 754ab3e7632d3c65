"""Speech as it sounds elsewhere: faster, in a room, in noise, through a telephone, louder.

Each change is a function of its samples and its parameters alone; what is random, such as noise,
comes from a seed among them.
"""

import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pocket_batch.audio.pcm import Samples
from pocket_batch.errors import ModelUnavailableError

TELEPHONE_HZ = 8_000
CODECS = ("telephone", "opus", "mp3")
NOISES = ("white", "pink", "brown")
_SLOPES = {"white": 0.0, "pink": 0.5, "brown": 1.0}  # of amplitude over frequency
MAX_PEAK = 0.99


@dataclass(frozen=True, slots=True)
class Changes:
    """What is done to one clip, in this order; None is not done.

    `speed` changes pitch too, as a tape does. `room_s` is the reverberation time (RT60) of a
    simulated room, `impulse` the file of a measured one. `noise` is a colour or the file of a
    recording, at `snr_db` below the speech. `gain_db` comes last.
    """

    seed: int
    speed: float | None = None
    room_s: float | None = None
    impulse: str | None = None
    noise: str | None = None
    snr_db: float | None = None
    codec: str | None = None
    gain_db: float | None = None


def changed(
    samples: Samples,
    rate_hz: int,
    changes: Changes,
    impulse: Samples | None = None,
    noise: Samples | None = None,
) -> Samples:
    """Apply changes to a clip.

    Args:
        samples: shape (num_samples,), mono, full scale is 1.0. Not modified.
        rate_hz: of it.
        changes: what is done.
        impulse: the samples of `changes.impulse` at `rate_hz`.
        noise: likewise of `changes.noise`, if that is a recording.

    Returns:
        A new array; its length differs only where the speed changes it. No peak is above 0.99.

    Raises:
        ModelUnavailableError: a package for simulated rooms is not installed.
    """
    rng = np.random.Generator(np.random.PCG64(changes.seed))
    if changes.speed is not None:
        samples = at_speed(samples, rate_hz, changes.speed)
    if changes.room_s is not None:
        impulse = simulated_room(changes.room_s, rate_hz, rng)
    if impulse is not None:
        samples = in_room(samples, impulse)
    if changes.noise is not None and changes.snr_db is not None:
        if noise is None:
            noise = coloured_noise(len(samples), changes.noise, rng)
        samples = with_noise(samples, noise, changes.snr_db, rng)
    if changes.codec is not None:
        samples = through_codec(samples, rate_hz, changes.codec)
    if changes.gain_db is not None:
        samples = samples * np.float32(10 ** (changes.gain_db / 20))
    peak = float(np.abs(samples).max(initial=0.0))
    return samples * np.float32(MAX_PEAK / peak) if peak > MAX_PEAK else samples


def at_speed(samples: Samples, rate_hz: int, speed: float) -> Samples:
    """Play faster (above 1) or slower; pitch follows."""
    import soxr

    found: Samples = soxr.resample(samples, rate_hz * speed, rate_hz).astype(np.float32)
    return found


def in_room(samples: Samples, impulse: Samples) -> Samples:
    """Convolve with an impulse response; the level of the speech stays, its length as well."""
    from scipy.signal import fftconvolve

    direct = int(np.abs(impulse).argmax())  # what comes before is the way of the sound
    wet = fftconvolve(samples, impulse[direct:])[: len(samples)]
    scale = rms(samples) / max(rms(wet), 1e-9)
    return np.asarray(wet * scale, np.float32)


def simulated_room(rt60_s: float, rate_hz: int, rng: np.random.Generator) -> Samples:
    """The impulse response of a shoe box with a speaker and a listener somewhere in it.

    Raises:
        ModelUnavailableError: pyroomacoustics is not installed.

    Source: Allen, Berkley, "Image method for efficiently simulating small-room acoustics", 1979.
    """
    try:
        import pyroomacoustics
    except ImportError as error:
        raise ModelUnavailableError(
            "Simulated rooms need the package pyroomacoustics, which is not installed. "
            "Run `pip install 'pocket-batch[augment]'`, or give impulse responses as files."
        ) from error
    size = rng.uniform((3.0, 2.5, 2.3), (9.0, 7.0, 3.5))
    absorption, max_order = _walls(pyroomacoustics, rt60_s, size)
    room = pyroomacoustics.ShoeBox(
        size,
        fs=rate_hz,
        materials=pyroomacoustics.Material(absorption),
        max_order=min(max_order, 20),
    )
    room.add_source(rng.uniform(0.5, size - 0.5))
    room.add_microphone(rng.uniform(0.5, size - 0.5))
    room.compute_rir()
    return np.asarray(room.rir[0][0], np.float32)


def _walls(pyroomacoustics: object, rt60_s: float, size: NDArray[np.float64]) -> tuple[float, int]:
    """How much the walls take, and how often sound is followed; a short time needs soft walls."""
    try:
        found: tuple[float, int] = pyroomacoustics.inverse_sabine(rt60_s, size)  # type: ignore[attr-defined]
        return found
    except ValueError:  # not to be had in a room of this size
        return 0.99, 3


def coloured_noise(num_samples: int, colour: str, rng: np.random.Generator) -> Samples:
    """White, pink or brown noise of RMS 1; shape (num_samples,)."""
    spectrum = np.fft.rfft(rng.standard_normal(num_samples))
    frequencies = np.maximum(np.arange(len(spectrum)), 1.0)
    noise = np.fft.irfft(spectrum / frequencies ** _SLOPES[colour], num_samples)
    return np.asarray(noise / max(rms(noise), 1e-9), np.float32)


def with_noise(
    samples: Samples, noise: Samples, snr_db: float, rng: np.random.Generator
) -> Samples:
    """Add a stretch of noise, from a random place and repeated if it is short."""
    start = int(rng.integers(len(noise)))
    stretch = np.resize(np.roll(noise, -start), len(samples))
    scale = rms(samples) / max(rms(stretch), 1e-9) * 10 ** (-snr_db / 20)
    return np.asarray(samples + stretch * scale, np.float32)


def through_codec(samples: Samples, rate_hz: int, codec: str) -> Samples:
    """Through a telephone (8 kHz, mu-law), Opus or MP3, and back; the length stays."""
    import soundfile
    import soxr

    forms = {"telephone": ("WAV", "ULAW"), "opus": ("OGG", "OPUS"), "mp3": ("MP3", None)}
    file_format, subtype = forms[codec]
    coded_hz = {"telephone": TELEPHONE_HZ, "opus": 24_000, "mp3": 24_000}[codec]
    narrow = soxr.resample(samples, rate_hz, coded_hz)
    buffer = io.BytesIO()
    soundfile.write(buffer, narrow, coded_hz, format=file_format, subtype=subtype)
    buffer.seek(0)
    heard, _ = soundfile.read(buffer, dtype="float32")
    back: Samples = soxr.resample(heard, coded_hz, rate_hz).astype(np.float32)
    return np.pad(back[: len(samples)], (0, max(0, len(samples) - len(back))))


def rms(samples: NDArray[np.floating]) -> float:
    """Root of the mean square."""
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))) if len(samples) else 0.0
