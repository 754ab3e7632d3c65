"""The settings of data sets, as frozen dataclasses; `config.py` reads them from files."""

from dataclasses import dataclass, field
from typing import Literal

from pocket_batch.data import Sampling
from pocket_batch.settings import ExecutorSettings, NormalizeSettings, PrecisionChoice, ReadSettings

AudioKind = Literal["flac", "wav", "opus"]
Dedupe = Literal["normalized", "exact", "keep"]  # what of equal texts is left out


@dataclass(frozen=True, slots=True)
class CorpusSettings:
    """Which columns of a corpus mean what, and which of its rows are spoken.

    A column is named as in the file; `segments[].text` takes one row from each item of a list.
    `text_column` and `id_column` of None are found by their usual names. Lengths are letters, and
    `max_letters` 0 is what the engine takes at once; longer rows are cut at sentences if
    `split_long`, else left out. `max_foreign` is the greatest share of letters that are not of the
    language's script, `max_repetition` that of one word among many.
    """

    text_column: str | None = None
    id_column: str | None = None
    voice_column: str | None = None
    split_column: str | None = None
    group_by: str | None = None
    keep_columns: tuple[str, ...] = ()
    language: str | None = None
    recase: bool = False
    min_letters: int = 1
    max_letters: int = 0
    split_long: bool = True
    max_foreign: float = 0.5
    max_repetition: float = 0.6
    dedupe: Dedupe = "normalized"


@dataclass(frozen=True, slots=True)
class VoicesSettings:
    """Who speaks which row, decided by a hash of seed and text.

    `voices` are names with weights. Each text is spoken by `per_text` of them, 0 for all.
    `test` are voices that speak the test texts and no others.
    """

    voices: dict[str, float] = field(default_factory=dict)
    per_text: int = 1
    test: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FilterSettings:
    """What an utterance must be like; one that is not is tried again with another seed.

    `rate_mads` is how many median absolute deviations the reading rate may be from the median of
    its voice, 0 for any. Silences are seconds, `min_rms_db` and `max_dc` of full scale. With `asr`
    (a model of faster-whisper by name or folder, or `auto`) the share `asr_fraction` is listened
    to; `short_words` is the number of words below which `max_edits` counts instead of `max_wer`.
    """

    max_attempts: int = 3
    min_letters_per_s: float = 3.0
    max_letters_per_s: float = 40.0
    rate_mads: float = 8.0
    min_rms_db: float = -50.0
    max_clipped: float = 0.001
    max_dc: float = 0.05
    max_edge_silence_s: float = 2.0
    max_gap_s: float = 2.0
    asr: str | None = None
    asr_fraction: float = 1.0
    max_wer: float = 0.3
    max_edits: int = 2
    short_words: int = 4


@dataclass(frozen=True, slots=True)
class SplitSettings:
    """Shares of validation and test, by text group; the rest is train."""

    validation: float = 0.05
    test: float = 0.05
    seed: int = 0


@dataclass(frozen=True, slots=True)
class LicenceSettings:
    """What the set may be used for. `text` is the licence of the corpus, None when not known.

    `wanted` is the licence that the set must allow. Voices of unknown licence, or not for
    commercial use, are refused unless allowed.
    """

    text: str | None = None
    wanted: str | None = None
    allow_noncommercial: bool = False
    allow_unknown: bool = False


@dataclass(frozen=True, slots=True)
class DatasetPipeline:
    """A whole pipeline file for a data set."""

    pipeline: Literal["dataset"]
    corpus: CorpusSettings = field(default_factory=CorpusSettings)
    voices: VoicesSettings = field(default_factory=VoicesSettings)
    read: ReadSettings = field(default_factory=ReadSettings)
    normalize: NormalizeSettings = field(default_factory=NormalizeSettings)
    model: str | None = None
    precision: PrecisionChoice = "auto"
    sampling: Sampling = field(default_factory=Sampling)
    seed: int = 0
    filters: FilterSettings = field(default_factory=FilterSettings)
    splits: SplitSettings = field(default_factory=SplitSettings)
    licence: LicenceSettings = field(default_factory=LicenceSettings)
    unit_size: int = 512
    executor: ExecutorSettings = field(default_factory=ExecutorSettings)


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """How a finished set is written. None keeps what the set has.

    `loudness_lufs` is the integrated loudness of each clip. `shard_bytes` bounds tar and parquet
    files. `splits` is used unless rows have theirs. `metadata` is the kind of file beside the audio
    of an AudioFolder.
    """

    audio: AudioKind = "flac"
    sampling_rate_hz: int | None = None
    loudness_lufs: float | None = None
    shard_bytes: int = 500_000_000
    splits: SplitSettings = field(default_factory=SplitSettings)
    metadata: Literal["parquet", "csv", "jsonl"] = "parquet"
    by_speaker: bool = False


@dataclass(frozen=True, slots=True)
class AugmentSettings:
    """What is done to copies of clips; ranges are uniform, None is not done.

    Each kind of change happens with `probability`. `noise` is a folder of recordings, without one
    it is white, pink or brown; `rooms` is a folder of impulse responses, without one rooms of a
    reverberation time in `room_s` are simulated.
    """

    copies: int = 1
    seed: int = 0
    probability: float = 0.5
    splits: tuple[str, ...] = ("train",)
    speed: tuple[float, float] | None = None
    room_s: tuple[float, float] | None = None
    rooms: str | None = None
    snr_db: tuple[float, float] | None = None
    noise: str | None = None
    codecs: tuple[str, ...] = ()
    gain_db: tuple[float, float] | None = None
