"""What flows between stages: frozen dataclasses without behaviour, tensors or handles."""

from dataclasses import dataclass, field
from typing import Literal

BlockKind = Literal["heading", "paragraph", "scene_break"]
FinishReason = Literal["eos", "length"]
Precision = Literal["fp32", "bf16", "mixed"]


@dataclass(frozen=True, slots=True)
class Block:
    """One run of text that is read without a structural pause inside.

    `text` is plain Unicode, white space folded to single spaces; empty for a scene break.
    `where` names the place in the source, such as `OEBPS/ch3.xhtml:12` (file and line).
    `language` is a BCP 47 tag where it differs from the book's, `voice` the name of a voice where
    another than the narrator speaks. `pause_after_ms` is the silence the source asks for, instead
    of what suits the kind. `continues` tells that the paragraph goes on in the next block.
    """

    kind: BlockKind
    text: str
    where: str = ""
    language: str = ""
    voice: str = ""
    pause_after_ms: int | None = None
    continues: bool = False


@dataclass(frozen=True, slots=True)
class Chapter:
    """A titled part of a book. `number` counts from 1 in reading order, as `inspect` shows it.

    `level` is the depth in the table of contents, 1 for a top entry.
    """

    number: int
    title: str
    blocks: tuple[Block, ...]
    level: int = 1


@dataclass(frozen=True, slots=True)
class Cover:
    """The cover picture as found in the source, `media_type` as declared there (`image/jpeg`)."""

    data: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """Text of the source that is not spoken, with its place and the reason."""

    where: str
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Respelling:
    """How something written is to be said: an entry of a lexicon.

    `written` is a word or phrase that is matched as a whole, or a regular expression; `spoken` is
    what is read instead. `language` is a primary BCP 47 tag, empty for any. `match_case` of None
    is: if `written` has a capital. `ipa` is a pronunciation in the International Phonetic
    Alphabet, for engines that take it; others read `spoken`.
    """

    written: str
    spoken: str = ""
    language: str = ""
    is_regex: bool = False
    match_case: bool | None = None
    ipa: str = ""


@dataclass(frozen=True, slots=True)
class Book:
    """A book as the reader found it: metadata, chapters, and what was left out.

    `id` is the SHA-256 of the source file. `language` is a BCP 47 tag or empty when undeclared.
    `date` is as declared (usually `YYYY` or `YYYY-MM-DD`). `warnings` are sentences for the user
    about flaws that were repaired or ignored; `has_gaps` is set when text that the book promises
    (a spine document) could not be read. `lexicon` is what the book itself says about how its words
    are pronounced.
    """

    id: str
    title: str
    chapters: tuple[Chapter, ...]
    authors: tuple[str, ...] = ()
    language: str = ""
    date: str = ""
    publisher: str = ""
    series: str = ""
    series_part: str = ""
    description: str = ""
    subjects: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    cover: Cover | None = None
    dropped: tuple[Dropped, ...] = ()
    warnings: tuple[str, ...] = ()
    has_gaps: bool = False
    lexicon: tuple[Respelling, ...] = ()


@dataclass(frozen=True, slots=True)
class Choices:
    """What the user says about a book: which chapters to read, and what it is wrong about.

    Empty means all chapters, or what the book says. `language` is a BCP 47 tag.
    """

    chapters: frozenset[int] = frozenset()
    language: str = ""
    title: str = ""
    authors: tuple[str, ...] = ()
    cover: Cover | None = None


@dataclass(frozen=True, slots=True)
class Voice:
    """A voice by name, as its file in `voices/` states it; no audio and no weights."""

    name: str
    engine: str
    language: str
    licence: str
    description: str = ""
    source: str = ""
    parameters: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How latents are drawn and when speech ends; None is what the model's own file says.

    `temperature` scales the variance of the noise, none of which is beyond +-`noise_clamp`,
    `decode_steps` are steps of the flow head, `eos_threshold` is the logit that ends speech, and
    `frames_after_eos` how many frames of 80 ms follow it.
    """

    temperature: float | None = None
    decode_steps: int | None = None
    noise_clamp: float | None = None
    eos_threshold: float | None = None
    frames_after_eos: int | None = None


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """Which engine, with which model and settings: all a worker needs to make the same one.

    `model` is a name from `pocket-batch models`, or a folder; empty for an engine with one model.
    """

    name: str
    model: str = ""
    precision: Precision = "fp32"
    sampling: Sampling = field(default_factory=Sampling)


@dataclass(frozen=True, slots=True)
class Pauses:
    """Silence inserted after each kind of text, milliseconds."""

    sentence_ms: int
    paragraph_ms: int
    scene_break_ms: int
    heading_ms: int
    chapter_ms: int


@dataclass(frozen=True, slots=True)
class Segment:
    """What the engine speaks in one go: whole sentences within its limit, or one heading.

    `chapter` is the number of its chapter; `pause_after_ms` is the silence that follows it.
    """

    id: str
    chapter: int
    text: str
    voice: str
    pause_after_ms: int


@dataclass(frozen=True, slots=True)
class Request:
    """One text for the engine. `key` is the content key of the utterance that comes of it.

    `seed` is made from (job seed, text, voice, attempt), so the result depends on nothing else.
    `calm` scales the temperature of engines that have one, less than 1 for another attempt.
    `spoken` is the FLAC file of an earlier run, which is to be checked before anything is spoken;
    `tried` is the number of attempts that are not to be made again.
    """

    key: str
    segment_id: str
    text: str
    voice: Voice
    seed: int
    attempt: int = 0
    calm: float = 1.0
    tried: int = 0
    spoken: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class ScriptLine:
    """One utterance in its place: the same `key` may be spoken in several places of a book."""

    key: str
    segment_id: str
    pause_after_ms: int


@dataclass(frozen=True, slots=True)
class ScriptChapter:
    """The utterances of one chapter in reading order."""

    number: int
    title: str
    lines: tuple[ScriptLine, ...]


@dataclass(frozen=True, slots=True)
class Utterance:
    """The record of one spoken text; its audio is a FLAC file named by `key`.

    `key` is the content key. `num_bytes` is the size of the FLAC file, `compute_s` the time the
    engine took. `level_db` is the RMS level of its speech, dB of full scale, where it was measured.
    """

    key: str
    segment_id: str
    num_samples: int
    sampling_rate_hz: int
    finish_reason: FinishReason
    seed: int
    attempt: int
    num_bytes: int
    compute_s: float
    level_db: float | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """An item that could not be done, after all its attempts; `reason` is a sentence."""

    key: str
    segment_id: str
    text: str
    reason: str
    attempts: int


@dataclass(frozen=True, slots=True)
class Suspect:
    """An utterance that was spoken but may be wrong; `reason` is a sentence or more.

    `codes` name the same for machines, empty where nothing was measured.
    """

    key: str
    segment_id: str
    text: str
    reason: str
    codes: tuple[str, ...] = ()
