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
    """Bounds of the reading rate outside which an utterance is suspect."""

    min_letters_per_s: float = 3.0
    max_letters_per_s: float = 40.0


@dataclass(frozen=True, slots=True)
class MasterSettings:
    """Trim, fades, loudness and peak of the finished audio."""

    loudness: Loudness = "lufs"
    target_lufs: float = -23.0
    true_peak_dbtp: float = -1.0
    trim_below_peak_db: float = 45.0
    keep_ms: int = 40
    fade_ms: int = 8
    lead_in_ms: int = 500


@dataclass(frozen=True, slots=True)
class WriteSettings:
    """The kind of file and its encoding. A bit rate of None is what suits the format."""

    format: FileFormat = "m4b"
    split_chapters: bool = False
    bitrate_kbps: int | None = None
    system_ffmpeg: bool = False


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
