"""What a run writes down of audio that is finished: when it is heard, and how good it is."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TimedLine:
    """Where a line of the script is heard: samples from the beginning of its chapter.

    `begin` and `end` are those of its speech, the pause after it left out. They are equal where
    nothing could be spoken.
    """

    chapter: int
    segment_id: str
    key: str
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Checked:
    """What is known of the quality of an utterance: a line of `scores.jsonl`.

    `attempt` is the one that was kept of `num_attempts`; `problems` are the codes of what is wrong
    with it, empty for a good one. `is_split` tells that its text was spoken in two parts. `scores`
    are those of `rows.Scores`, by name. `words` are those of the text with the times at which each
    begins and ends, seconds from the beginning of its audio, where `asr_model` listened.
    """

    key: str
    attempt: int
    num_attempts: int
    problems: tuple[str, ...]
    is_split: bool
    scores: dict[str, Any]
    words: tuple[tuple[str, float, float], ...] = ()
    asr_model: str = ""


@dataclass(frozen=True, slots=True)
class MasteredChapter:
    """A joined chapter before gain: its exact length and what was measured on it.

    `lufs` is the integrated loudness and `rms_db` the RMS level, both before gain and -inf for
    silence; `true_peak` is a linear amplitude. `noise_floor_db` is the RMS level of the quietest
    500 ms before gain, -inf for digital silence; `head_s` and `tail_s` are the silence before the
    first sound and after the last, 10 s at most. All three are None in records of older versions.
    """

    number: int
    title: str
    num_samples: int
    lufs: float
    rms_db: float
    true_peak: float
    noise_floor_db: float | None = None
    head_s: float | None = None
    tail_s: float | None = None
