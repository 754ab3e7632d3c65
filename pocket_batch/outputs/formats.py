"""The kinds of audio files, and how each is encoded."""

from dataclasses import dataclass
from fractions import Fraction

from pocket_batch.errors import OutputError, UsageError

MAX_WAV_BYTES = 4_294_000_000  # the size in a RIFF header has 32 bits


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """A kind of audio file.

    `codec` is ffmpeg's name of what is found in the file, `encoder` the options that make it.
    `sampling_rates_hz` lists what the codec can do, empty for any. A finished file may differ from
    the samples by `tolerance_s`, since some containers count in coarse units.
    """

    suffix: str
    codec: str
    encoder: tuple[str, ...]
    bit_rate_kbps: int | None
    sampling_rates_hz: tuple[int, ...] = ()
    tolerance_s: Fraction = Fraction(1, 10_000)


# LAME multiplies samples below the first bit rate (kbit/s) by the second; measured, CBR, mono
LAME_SCALES = ((192, 0.95), (224, 0.97), (256, 0.98))

_AAC_RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000)
_OPUS = ("-c:a", "libopus", "-compression_level", "5")  # costs half the time of 10

OUTPUTS = {
    "m4b": AudioFormat(".m4b", "aac", (), 64, _AAC_RATES),
    "mp3": AudioFormat(".mp3", "mp3", ("-c:a", "libmp3lame"), 64, _AAC_RATES, Fraction(1, 10)),
    "opus": AudioFormat(".opus", "opus", _OPUS, 32, (8000, 12000, 16000, 24000, 48000)),
    "flac": AudioFormat(".flac", "flac", ("-c:a", "flac", "-sample_fmt", "s16"), None),
    "wav": AudioFormat(".wav", "pcm_s16le", ("-c:a", "pcm_s16le"), None),
}


def output_format(name: str) -> AudioFormat:
    """The format of a name in `OUTPUTS`.

    Raises:
        UsageError: there is none.
    """
    if name not in OUTPUTS:
        raise UsageError(f"{name} is not an audio format. Choose one of {', '.join(OUTPUTS)}.")
    return OUTPUTS[name]


def encoder_options(kind: AudioFormat, bit_rate_kbps: int) -> list[str]:
    """ffmpeg's options for codec and bit rate; 0 when the format has none.

    LAME makes what it encodes quieter at low bit rates, which is undone here beforehand.
    """
    if not bit_rate_kbps:
        return list(kind.encoder)
    options = [*kind.encoder, "-b:a", f"{bit_rate_kbps}k"]
    if kind.codec == "mp3":
        scale = next((scale for limit, scale in LAME_SCALES if bit_rate_kbps < limit), 1.0)
        options += ["-af", f"volume=volume={1 / scale:.6f}:precision=float"]
    return options


def output_rate(kind: AudioFormat, wanted_hz: int) -> int:
    """The sampling rate to encode at: the wanted one, or the next that the codec can do."""
    rates = kind.sampling_rates_hz
    if not rates or wanted_hz in rates:
        return wanted_hz
    return min((rate for rate in rates if rate > wanted_hz), default=rates[-1])


def check_size(kind: AudioFormat, num_samples: int, target: str) -> None:
    """Refuse a WAV file that is too long for its format.

    Raises:
        OutputError: it would be.
    """
    if kind.suffix == ".wav" and num_samples * 2 > MAX_WAV_BYTES:
        raise OutputError(
            f"{target} would be larger than the 4 GiB a WAV file can hold. Nothing was written. "
            "Write FLAC, which is as exact, or split the book into chapters."
        )
