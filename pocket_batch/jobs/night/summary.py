"""What became of each input of a run: `summary.json` for machines, `summary.txt` for people."""

import json
import shlex
import socket
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from pocket_batch.manifest import write_atomic
from pocket_batch.words import duration, plural, size

LineStatus = Literal["waiting", "done", "already_done", "partial", "failed", "stopped"]
SUMMARY = "summary.json"
SUMMARY_TEXT = "summary.txt"
_WORDS: dict[LineStatus | Literal["not_good"], str] = {
    "waiting": "not started",
    "done": "done",
    "already_done": "was done",
    "partial": "NOT WHOLE",
    "not_good": "NOT GOOD",
    "failed": "FAILED",
    "stopped": "goes on",
}


_COUNTED: dict[LineStatus | Literal["not_good"], str] = {
    "done": "done",
    "already_done": "done before",
    "partial": "not whole",
    "not_good": "not good",
    "failed": "failed",
    "stopped": "to go on",
    "waiting": "not started",
}


@dataclass(slots=True)
class Line:
    """One input. `problem` says what is wrong; `exit_code` is what it would be alone.

    `audio_s` is the length of the result, 0 while there is none; `work` is its work folder, and
    `extras` are the files beside it. `quality` is ok, warning or critical; `wer` is the share of
    words that were heard wrong, `similarity` that of the voice to itself, None where nobody
    listened or compared. `is_badly_spoken` is set when a result is partial, but lacks nothing.
    """

    job: str
    input: str
    status: LineStatus = "waiting"
    output: str = ""
    title: str = ""
    problem: str = ""
    exit_code: int = 0
    audio_s: float = 0.0
    num_segments: int = 0
    num_spoken: int = 0
    num_failures: int = 0
    num_suspects: int = 0
    num_bytes: int = 0
    elapsed_s: float = 0.0
    work: str = ""
    extras: list[str] = field(default_factory=list)
    quality: str = ""
    wer: float | None = None
    similarity: float | None = None
    is_badly_spoken: bool = False


@dataclass(slots=True)
class Summary:
    """One run. `speech_s` is what it spoke itself, `stop` why it ended before all was done."""

    jobs: list[str]
    lines: list[Line] = field(default_factory=list)
    started_at: float = field(default_factory=time.time)
    elapsed_s: float = 0.0
    speech_s: float = 0.0
    num_workers: int = 0
    num_crashes: int = 0
    stop: str = ""
    stop_code: int = 0
    warnings: list[str] = field(default_factory=list)

    @property
    def counts(self) -> Counter[str]:
        """How many lines of each status there are."""
        return Counter(line.status for line in self.lines)

    @property
    def exit_code(self) -> int:
        """Of the whole run: what stopped it, else 10 if something is missing, else 0."""
        if self.stop_code:
            return self.stop_code
        counts = self.counts
        if counts["waiting"] or counts["stopped"]:
            return 75
        return 10 if counts["partial"] or counts["failed"] else 0

    def headline(self) -> str:
        """The run in a sentence."""
        if not self.lines:
            return "Nothing to do: no input was found."
        counts = Counter(map(_kind, self.lines))
        words = [f"{n} {word}" for kind, word in _COUNTED.items() if (n := counts[kind])]
        text = f"{plural(len(self.lines), 'input')}: {', '.join(words)}."
        if not self.speech_s:
            return text
        speed = self.speech_s / self.elapsed_s
        spoke = f"Spoke {duration(self.speech_s)} in {duration(self.elapsed_s)}"
        return f"{text} {spoke}, {speed:.{int(speed < 10)}f}x real time."

    def write(self, folder: Path) -> None:
        """Write both files.

        Raises:
            OutputError: they cannot be written.
        """
        text = json.dumps(self.as_dict(), ensure_ascii=False, indent=1) + "\n"
        write_atomic(folder / SUMMARY, text.encode("utf-8", "backslashreplace"))
        write_atomic(folder / SUMMARY_TEXT, self.text().encode("utf-8", "backslashreplace"))

    def as_dict(self) -> dict[str, Any]:
        """For machines. Times are seconds."""
        return {
            "jobs": self.jobs,
            "host": socket.gethostname(),
            "exit_code": self.exit_code,
            "headline": self.headline(),
            "stop": self.stop,
            "started_at": time.strftime("%Y-%m-%dT%H:%M:%S%z", time.localtime(self.started_at)),
            "elapsed_s": round(self.elapsed_s, 2),
            "speech_s": round(self.speech_s, 2),
            "num_workers": self.num_workers,
            "num_crashes": self.num_crashes,
            "counts": dict(self.counts),
            "inputs": [asdict(line) for line in self.lines],
            "warnings": self.warnings,
        }

    def text(self) -> str:
        """For people: a line an input, then what is to be known of the whole."""
        began = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.started_at))
        rows = [f"{', '.join(self.jobs)}, {began}", ""]
        width = max((len(Path(line.input).name) for line in self.lines), default=0)
        rows += [_row(line, min(width, 48)) for line in self.lines]
        rows += ["", self.headline(), *([self.stop] if self.stop else []), *self._to_hear()]
        rows += ["", *(f"Warning: {text}" for text in self.warnings)] if self.warnings else []
        return "\n".join(rows) + "\n"

    def _to_hear(self) -> list[str]:
        """How to hear what may be wrong: of the book that has the most of it."""
        found = [line for line in self.lines if line.num_suspects and line.work]
        if not found:
            return []
        work = shlex.quote(max(found, key=lambda line: line.num_suspects).work)
        return [f"To hear what there is to look at: pocket-batch listen {work}"]


def _kind(line: Line) -> LineStatus | Literal["not_good"]:
    """Its status; what is whole and sounds wrong is told apart."""
    return "not_good" if line.status == "partial" and line.is_badly_spoken else line.status


def _row(line: Line, width: int) -> str:
    name = Path(line.input).name
    parts = [duration(line.audio_s) if line.audio_s else ""]
    parts += [size(line.num_bytes) if line.num_bytes else ""]
    if line.status in ("stopped", "waiting") and line.num_segments:
        parts.append(f"{100 * line.num_spoken // line.num_segments} % spoken")
    parts += [plural(line.num_failures, "failure") if line.num_failures else ""]
    parts += [f"{plural(line.num_suspects, 'segment')} to look at" if line.num_suspects else ""]
    is_told = not line.wer or line.is_badly_spoken  # that is its problem, below
    parts += ["" if is_told else f"{100 * (line.wer or 0):.1f} % heard wrong"]
    parts += [line.output if line.status in ("done", "already_done", "partial") else ""]
    parts += [line.problem if line.status in ("failed", "partial") else ""]
    row = f"{_WORDS[_kind(line)]:<12}{name:<{width}}  {' · '.join(filter(None, parts))}"
    return " ".join(row.splitlines()).rstrip()  # names may hold the end of a line
