"""The settings of a run, as frozen dataclasses; `config.py` reads them from files."""

from dataclasses import dataclass, field
from typing import Literal

from pocket_batch.data import Pauses, Precision, Sampling

FileFormat = Literal["m4b", "mp3", "opus", "flac", "wav"]
Loudness = Literal["lufs", "acx"]
ExecutorName = Literal["auto", "ray", "local"]
PrecisionChoice = Literal["auto", Precision]  # auto: by what this machine is good at
Notes = Literal["drop", "inline", "chapter-end"]
Special = Literal["read", "announce", "skip"]  # text that is not prose
Ruby = Literal["base", "reading"]
Normalizer = Literal["builtin", "nemo"]
Listen = Literal["off", "sample", "all"]
FailOn = Literal["never", "certain", "any"]
SubtitleKind = Literal["srt", "vtt", "ass"]


@dataclass(frozen=True, slots=True)
class ReadSettings:
    """What of a book is spoken. What is not is listed with its reason.

    `keep_matter` keeps tables of contents, copyright pages, half titles and indexes;
    `keep_non_linear` what stands outside the reading order. `alt` reads the descriptions of
    pictures. `ruby` chooses between the written word and its reading.
    """

    notes: Notes = "drop"
    keep_matter: bool = False
    keep_non_linear: bool = False
    alt: bool = False
    tables: Special = "read"
    code: Special = "read"
    formulas: Special = "read"
    drawings: Special = "skip"
    ruby: Ruby = "base"


@dataclass(frozen=True, slots=True)
class NormalizeSettings:
    """How written text becomes spoken text. `lexicon` is a file of respellings."""

    lexicon: str | None = None
    normalizer: Normalizer = "builtin"


@dataclass(frozen=True, slots=True)
class Role:
    """Who in a book speaks with a voice of their own; `also` are other names that they go by."""

    voice: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LineRule:
    """Quoted lines in which `pattern`, a regular expression, is found are of this voice."""

    pattern: str
    voice: str


@dataclass(frozen=True, slots=True)
class Casting:
    """Who speaks the quoted lines of a book: a cast file.

    The first of `lines` that fits has the line, else the role that the text names as its speaker
    ("said Alice"), else the voice `dialogue`; without that the narrator.
    """

    dialogue: str | None = None
    cast: dict[str, Role] = field(default_factory=dict)
    lines: tuple[LineRule, ...] = ()


@dataclass(frozen=True, slots=True)
class SegmentSettings:
    """How text is cut into utterances, and the silence after them."""

    pauses: Pauses
    min_words: int = 4
    join_paragraphs: bool = True


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """What an utterance must be like; one that is not is tried again, `max_attempts` times in all.

    `listen` says how much is heard by `asr_model` (of faster-whisper by name or folder, or `auto`):
    nothing, the share `sample_fraction`, or all of it. What the other settings bound is described
    at `rows.Scores`; levels are dB of full scale. Those in MADs and `max_repetition_over` compare
    an utterance with the others of its voice, 0 for not at all. Without a stop in the text
    `max_gap_s` counts half. Of what is heard, the share `max_unlike_words` may be other words; a
    text of fewer than `short_words` is right with up to `max_edits` of any kind. `voice_model`
    compares up to `voice_sample` utterances of each voice: None for none, see `SpeakerModel`. WER
    and likeness of the voice over a book have levels that warn and that fail it.

    A book with an utterance that is surely wrong after all attempts is not whole (exit code 10);
    with `fail_on` of `any`, so is one with any suspect, with `never` none is.
    """

    listen: Listen = "off"
    sample_fraction: float = 0.1
    asr_model: str = "auto"
    max_attempts: int = 4
    fail_on: FailOn = "certain"
    min_letters_per_s: float = 3.0
    max_letters_per_s: float = 40.0
    min_rms_db: float = -50.0
    max_clipped: float = 0.001
    max_dc: float = 0.05
    max_edge_silence_s: float = 1.5
    max_gap_s: float = 1.5
    max_silence_share: float = 0.6
    max_click: float = 6.5
    max_end_db: float = -20.0
    max_level_jump_db: float = 11.0
    max_flatness: float = 0.3
    max_noise_s: float = 0.5
    min_voiced_share: float = 0.2
    max_repetition: float = 0.9
    rate_mads: float = 6.0
    level_mads: float = 4.5
    voice_mads: float = 6.0
    max_repetition_over: float = 0.19
    max_unlike_words: float = 0.2
    max_edits: int = 1
    short_words: int = 4
    warn_wer: float = 0.02
    critical_wer: float = 0.03
    voice_model: str | None = None
    voice_sample: int = 50
    warn_similarity: float = 0.85
    critical_similarity: float = 0.75


@dataclass(frozen=True, slots=True)
class MasterSettings:
    """Trim, fades, levels, loudness and peak of the finished audio.

    Each utterance is moved by at most `level_db` towards the middle one of its voice in its
    chapter, and with `match_voices` all voices to one level. `room_tone_db` is the level of the
    noise in pauses, dB of full scale; None is digital silence. For `acx` see `aimed_at_acx`.
    """

    loudness: Loudness = "lufs"
    target_lufs: float = -23.0
    true_peak_dbtp: float = -1.0
    trim_below_peak_db: float = 45.0
    keep_ms: int = 40
    fade_ms: int = 8
    lead_in_ms: int = 500
    level_db: float = 2.0
    match_voices: bool = True
    room_tone_db: float | None = None


@dataclass(frozen=True, slots=True)
class WriteSettings:
    """The kind of file and its encoding. A bit rate of None is what suits the format.

    `subtitles` are written beside each audio file, `read_along` is an EPUB with the speech in it.
    """

    format: FileFormat = "m4b"
    split_chapters: bool = False
    bitrate_kbps: int | None = None
    system_ffmpeg: bool = False
    subtitles: tuple[SubtitleKind, ...] = ()
    read_along: bool = False


@dataclass(frozen=True, slots=True)
class ExecutorSettings:
    """Where the work is done. `workers` of None means as many as fit."""

    name: ExecutorName = "auto"
    workers: int | None = None
    cores_per_worker: int = 2
    address: str = ""
    item_timeout_s: float = 120.0
    start_timeout_s: float = 120.0


@dataclass(frozen=True, slots=True)
class AudiobookPipeline:
    """A whole pipeline file. No voice and no model: what suits the language and is here."""

    pipeline: Literal["audiobook"]
    stages: tuple[str, ...]
    segment: SegmentSettings
    read: ReadSettings = field(default_factory=ReadSettings)
    normalize: NormalizeSettings = field(default_factory=NormalizeSettings)
    voice: str | None = None
    dialogue_voice: str | None = None
    cast: str | None = None
    model: str | None = None
    precision: PrecisionChoice = "auto"
    sampling: Sampling = field(default_factory=Sampling)
    seed: int = 0
    check: CheckSettings = field(default_factory=CheckSettings)
    master: MasterSettings = field(default_factory=MasterSettings)
    write: WriteSettings = field(default_factory=WriteSettings)
    executor: ExecutorSettings = field(default_factory=ExecutorSettings)
