"""What flows when a corpus becomes a data set: frozen dataclasses, as in `data.py`.

corpus -> `CorpusRow` -> `Row` (text, voice, seed) -> `UnitTask` -> `Sample` -> `Clip` in an export.
"""

from dataclasses import dataclass, field
from typing import Literal

from pocket_batch.data import FinishReason, Request

Split = Literal["train", "validation", "test"]
Value = str | int | float | bool | None  # what a column of a corpus may hold


@dataclass(frozen=True, slots=True)
class CorpusRow:
    """A text as its corpus has it. `where` is `file:line`, or `file:row` in a table, from 1.

    `id`, `voice`, `split`, `group` and `language` are empty where the corpus does not say.
    `columns` are others that were asked for.
    """

    text: str
    where: str
    id: str = ""
    voice: str = ""
    split: str = ""
    group: str = ""
    columns: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CorpusReject:
    """A row of a corpus that is not spoken: a line of `rejects.jsonl`.

    `reason` is a code such as `empty_text`, `value` what was found, as text.
    """

    where: str
    id: str
    text: str
    reason: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One utterance of a data set, planned: a line of `rows.jsonl`.

    `key` is the content key of its audio. `id` is unique in the set and of letters, digits, `_` and
    `-` only; `source_id` is what the corpus calls it. `position` is its place in the corpus, from
    0. `text` is as written, `spoken` as it is said. `group` names the texts that must not be in
    two splits with this one; `split` is empty unless the corpus or a held-out voice decides it.
    `take` counts the same text with the same voice, from 0. `seed` is that of the first attempt.
    """

    key: str
    id: str
    source_id: str
    position: int
    where: str
    text: str
    spoken: str
    voice: str
    language: str
    group: str
    split: str
    take: int
    seed: int
    columns: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of work of one voice: a line of `units.jsonl`.

    `id` follows from the keys of its rows and the settings of the set. `shard` is the beginning
    of all its rows' keys, in bits such as `0110`. Its rows are the `num_bytes` of `rows.jsonl`
    from `offset`, sorted by key. `num_letters` counts what is spoken.
    """

    id: str
    voice: str
    shard: str
    num_rows: int
    num_letters: int
    offset: int
    num_bytes: int


@dataclass(frozen=True, slots=True)
class UnitTask:
    """A unit as a worker gets it: its first attempts, sorted by key.

    `earlier` are ids of finished units that may hold some of its samples.
    """

    key: str
    voice: str
    requests: tuple[Request, ...] = field(repr=False)
    earlier: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scores:
    """What was measured on one utterance; kept with it, so that a set can be filtered again.

    Levels are dB of full scale, and -inf never occurs: silence is -120. `clipped` is the share
    of samples in runs at full scale. What ASR says is None where it did not listen.

    What follows `heard` is measured where a person will listen, and None elsewhere:
        speech_db: level of the frames that are not silence.
        silence_share: of the duration.
        begin_db, end_db: level of the first and the last 20 ms, less `speech_db`.
        click: the sharpest edge, as a multiple of those around it.
        level_jump_db: the greatest lasting change of level inside.
        flatness: median spectral flatness of speech, 1 for white noise.
        noise_s: the longest stretch of flat frames in a row.
        voiced_share: frames with a pitch, of those that are not silence.
        pitch_hz: median of the fundamental frequency, 0 without a voice.
        repetition: how alike two stretches in a row are, 1 for the same; `repetition_s` is the
            length of one of them.
        timbre: mean level of each mel band in dB, less their mean.
        num_edits: words heard wrong.
    """

    duration_s: float
    peak_db: float
    rms_db: float
    dc: float
    clipped: float
    leading_silence_s: float
    trailing_silence_s: float
    longest_gap_s: float
    letters_per_s: float
    words_per_s: float
    wer: float | None = None
    cer: float | None = None
    heard: str | None = None
    speech_db: float | None = None
    silence_share: float | None = None
    begin_db: float | None = None
    end_db: float | None = None
    click: float | None = None
    level_jump_db: float | None = None
    flatness: float | None = None
    noise_s: float | None = None
    voiced_share: float | None = None
    pitch_hz: float | None = None
    repetition: float | None = None
    repetition_s: float | None = None
    timbre: tuple[float, ...] | None = None
    num_edits: int | None = None


@dataclass(frozen=True, slots=True)
class AttemptReject:
    """Why an attempt was not kept: `reason` is a code such as `no_eos` or `rate_outlier`."""

    attempt: int
    seed: int
    reason: str
    value: float = 0.0
    threshold: float = 0.0


@dataclass(frozen=True, slots=True)
class Sample:
    """What became of a row, kept in its unit; the same row always gives the same sample.

    `status` is `kept` (there is audio), `filtered` (no attempt passed the filters) or `error` (the
    engine could not speak it; `error` says why). `audio_sha256` is that of its FLAC file.
    """

    key: str
    status: Literal["kept", "filtered", "error"]
    num_samples: int = 0
    sampling_rate_hz: int = 0
    finish_reason: FinishReason = "eos"
    seed: int = 0
    attempt: int = 0
    audio_sha256: str = ""
    scores: Scores | None = None
    rejects: tuple[AttemptReject, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True)
class UnitDone:
    """A finished unit: its `.done.json`. `num_samples` is the length of all that is kept.

    `rejects` counts attempts by reason, `failures` the rows that came to nothing by reason.
    `sha256` and `num_bytes` are those of its tar file. Of what is kept and was listened to,
    `num_words_heard` counts the words and `num_word_errors` those that were wrong.
    """

    id: str
    voice: str
    num_rows: int
    num_kept: int
    num_filtered: int
    num_errors: int
    num_samples: int
    sampling_rate_hz: int
    rejects: dict[str, int]
    failures: dict[str, int]
    sha256: str
    num_bytes: int
    compute_s: float
    host: str
    num_words_heard: int = 0
    num_word_errors: int = 0
    versions: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UnitFailure:
    """A unit that could not be finished now; what it has is kept. `reason` is a sentence.

    `is_output` tells that it could not be written, as others will not be.
    """

    key: str
    reason: str
    is_output: bool = False


@dataclass(frozen=True, slots=True)
class Clip:
    """One utterance on its way into an export.

    `audio` is a whole FLAC, WAV or Ogg Opus file, `suffix` its kind (`flac`, `wav`, `opus`).
    `position` is its place in the corpus, by which people expect to find it in a list.
    `columns` has all of `SetFacts.columns`, in that order.
    """

    id: str
    split: Split
    text: str
    normalized_text: str
    speaker: str
    language: str
    num_samples: int
    sampling_rate_hz: int
    suffix: str
    audio: bytes = field(repr=False)
    columns: dict[str, Value] = field(default_factory=dict)
    position: int = 0

    @property
    def duration_s(self) -> float:
        """Seconds, exactly num_samples / sampling_rate_hz."""
        return self.num_samples / self.sampling_rate_hz
