"""How many planted faults are found, and how many clean clips are called faulty.

python tests/quality/detection.py [--voice heart] [--each 50] [--texts FILE] [--ears] [--half odd]
prints a table. Without `--ears` only the kinds that need no ASR model are planted. `--half` takes
every second text: thresholds are chosen on one half and measured on the other.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from plant import KINDS, NEED_EARS, VOICES, Clip, Planter, speak

from pocket_batch.quality.alignment import align
from pocket_batch.quality.asr import Transcriber
from pocket_batch.quality.checks import find_problems, measure
from pocket_batch.quality.learned import learned_problems
from pocket_batch.rows import Scores
from pocket_batch.settings import CheckSettings
from pocket_batch.stages.listen import Listener

SENTENCES = Path(__file__).with_name("sentences.txt")
SETTINGS = CheckSettings()
CLEAN = "clean"
PAUSE_S = 0.3


@dataclass(slots=True)
class Found:
    """Of the clips of one kind: how many were found by cheap checks, and how many with ears."""

    kind: str
    num_clips: int = 0
    num_cheap: int = 0
    num_heard: int | None = None
    codes: Counter[str] = field(default_factory=Counter)


class Detector:
    """Judges clips of one voice as a run does that said `clean` as well."""

    def __init__(self, clean: Sequence[Clip]) -> None:
        self._clean = {f"clean {i}": (c.text, measured(c)) for i, c in enumerate(clean)}
        self._ears = Listener("auto", 1.0, "en")

    def cheap(self, clip: Clip) -> set[str]:
        """What is found without ears: by itself, and beside the clean clips."""
        scores = measured(clip)
        items = {**self._clean, "this": (clip.text, scores)}
        learned = learned_problems(items, SETTINGS).get("this", ())
        return {*find_problems(scores, "eos", clip.text, SETTINGS), *learned}

    def heard(self, clip: Clip) -> set[str]:
        """What is found by what is heard."""
        scores, _ = self._ears.listen(clip.pcm, clip.rate_hz, clip.text, measured(clip))
        return {*find_problems(scores, "eos", clip.text, SETTINGS, "en")}


def measured(clip: Clip) -> Scores:
    """What is measured on a clip."""
    return measure(clip.pcm, clip.rate_hz, clip.text)


def detect(kind: str, clips: Sequence[Clip], detector: Detector, has_ears: bool) -> Found:
    """Judge clips of one kind."""
    found = Found(kind, len(clips), num_heard=0 if has_ears else None)
    for clip in clips:
        cheap = detector.cheap(clip)
        heard = cheap | detector.heard(clip) if has_ears else cheap
        found.num_cheap += bool(cheap)
        found.codes.update(heard)
        if found.num_heard is not None:
            found.num_heard += bool(heard)
    return found


def run(
    voice: str,
    texts: Sequence[str],
    num_each: int,
    listener: Transcriber | None,
    kinds: Collection[str] = KINDS,
) -> Iterator[Found]:
    """Speak the texts, then judge them clean, and `num_each` of them with a fault of each kind."""
    clean = speak(texts, voice)
    planter = Planter(voice, listener)
    detector = Detector(clean)
    yield detect(CLEAN, clean[: 2 * num_each], detector, listener is not None)
    for number, kind in enumerate(KINDS):
        if kind not in kinds or (listener is None and kind in NEED_EARS):
            continue
        first = (number * num_each) % max(1, len(clean) - num_each + 1)
        clips = [planter.plant(kind, clip) for clip in clean[first : first + num_each]]
        yield detect(kind, clips, detector, listener is not None)


def errors_of_times(voice: str, texts: Sequence[str], listener: Transcriber) -> list[float]:
    """How far, in seconds, sentences are heard from where they were put, at both their ends."""
    clips = [trimmed(clip) for clip in speak(texts, voice)]
    rate_hz = clips[0].rate_hz
    pause = np.zeros(round(PAUSE_S * rate_hz), np.int16)
    pcm = np.concatenate([part for clip in clips for part in (pause, clip.pcm)])
    words = align(" ".join(texts), listener.words(pcm, rate_hz, "en"), "en").word_times
    errors: list[float] = []
    now, first = 0.0, 0
    for clip in clips:
        now += PAUSE_S
        last = first + len(clip.text.split()) - 1
        end = now + len(clip.pcm) / rate_hz
        errors += [abs(words[first].begin_s - now), abs(words[last].end_s - end)]
        now, first = end, last + 1
    return errors


def trimmed(clip: Clip) -> Clip:
    """Without the silence around the speech."""
    scores = measured(clip)
    begin = round(scores.leading_silence_s * clip.rate_hz)
    end = len(clip.pcm) - round(scores.trailing_silence_s * clip.rate_hz)
    return replace(clip, pcm=clip.pcm[begin:end])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--voice", choices=VOICES, default="heart")
    parser.add_argument("--each", type=int, default=50)
    parser.add_argument("--texts", type=Path, default=SENTENCES)
    parser.add_argument("--half", choices=["even", "odd", "both"], default="both")
    parser.add_argument("--ears", action="store_true")
    parser.add_argument("--max", type=int, default=150, help="texts that are spoken")
    args = parser.parse_args()
    lines = args.texts.read_text(encoding="utf-8").split("\n")
    texts = [line.strip() for line in lines if line.strip()]
    texts = texts[{"even": 0, "odd": 1, "both": 0}[args.half] :: 1 if args.half == "both" else 2]
    listener = Transcriber("auto", 2) if args.ears else None
    for found in run(args.voice, texts[: args.max], args.each, listener):
        shares = [found.num_cheap, found.num_heard]
        cells = ["" if n is None else f"{n}/{found.num_clips}" for n in shares]
        codes = ", ".join(f"{code} {n}" for code, n in found.codes.most_common())
        print(f"{found.kind:14}{cells[0]:>8}{cells[1]:>8}  {codes}", flush=True)


if __name__ == "__main__":
    main()
