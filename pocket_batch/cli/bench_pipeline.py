"""Measure everything but the engine: a made-up book, spoken as tones, from EPUB to M4B.

Prints CPU seconds per hour of audio (all processes added up, by kind), peak memory of the driver,
wall time, and the time of a second run that finds nothing to do. `bench` measures the engine.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from pocket_batch.errors import PocketBatchError

MARK = "POCKET_BATCH_BENCH"
SAMPLE_INTERVAL_S = 0.1
WORDS_PER_CHAPTER = 3_000
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--words", type=int, default=100_000, help="length (default: 100000)")
    parser.add_argument("--executor", choices=("ray", "local", "auto"), default="ray")
    parser.add_argument("--format", default="m4b", help="default: m4b")
    parser.add_argument(
        "--voice", default="tone", help="default: tone, the engine that costs least"
    )


def run(args: argparse.Namespace) -> int:
    """Make the book, run it twice, print the figures."""
    with tempfile.TemporaryDirectory(prefix="pocket-batch-bench-") as folder:
        book = Path(folder) / "bench.epub"
        write_book(book, args.words)
        options = ["--voice", args.voice, "--executor", args.executor, "--format", args.format]
        command = [
            sys.executable,
            "-m",
            "pocket_batch",
            str(book),
            *options,
            "--log-format",
            "json",
        ]
        first = measure(command)
        again = measure(command)
        hours = _audio_hours(first.output)
        print(f"{args.words:,} words, {hours:.2f} hours of audio, {args.executor}, {args.voice}")
        print(
            f"wall time       {first.wall_s:8.1f} s  ({hours * 3600 / first.wall_s:.0f}x real time)"
        )
        print(
            f"CPU, all        {first.cpu_s:8.1f} s  {first.cpu_s / hours:6.1f} s per hour of audio"
        )
        for kind, seconds in sorted(first.by_kind.items(), key=lambda item: -item[1]):
            print(f"  {kind:<14}{seconds:8.1f} s  {seconds / hours:6.1f} s per hour of audio")
        print(f"cores busy      {first.cpu_s / first.wall_s:8.2f}")
        print(f"driver peak RSS {first.peak_rss_bytes / 1e6:8.0f} MB")
        print(f"second run      {again.wall_s:8.2f} s  (nothing to do)")
    return 0


@dataclass(slots=True)
class Usage:
    """What a command used, with all its descendants. `by_kind` is CPU seconds."""

    wall_s: float = 0.0
    peak_rss_bytes: int = 0
    by_kind: dict[str, float] = field(default_factory=dict)
    output: str = ""

    @property
    def cpu_s(self) -> float:
        """CPU seconds of all processes."""
        return sum(self.by_kind.values())


def measure(command: list[str]) -> Usage:
    """Run a command and watch all processes that inherit its environment.

    Raises:
        PocketBatchError: the command failed.
    """
    mark = f"{MARK}={uuid.uuid4().hex}"
    environment = os.environ | dict([mark.split("=")])
    cpu: dict[int, tuple[str, float]] = {}
    usage = Usage()
    started = time.monotonic()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        process = subprocess.Popen(command, env=environment, stdout=output)
        while process.poll() is None:
            for pid in _marked(mark.encode()):
                cpu[pid] = _cpu_s(pid) or cpu.get(pid, ("gone", 0.0))
            usage.peak_rss_bytes = max(usage.peak_rss_bytes, _peak_rss(process.pid))
            time.sleep(SAMPLE_INTERVAL_S)
        usage.wall_s = time.monotonic() - started
        output.seek(0)
        usage.output = output.read()
    if process.returncode:
        raise PocketBatchError(f"{' '.join(command)} ended with {process.returncode}.")
    for pid, (name, seconds) in cpu.items():
        kind = "driver" if pid == process.pid else name
        usage.by_kind[kind] = usage.by_kind.get(kind, 0.0) + seconds
    return usage


def write_book(path: Path, num_words: int) -> None:
    """An EPUB of made-up sentences, chapters of 3,000 words, always the same for one length."""
    from ebooklib import epub

    rng = random.Random(1)
    vowels, consonants = "aeiou", "bdfgklmnprstvz"
    words = []
    for num_syllables in [1, 2, 3, 4] * 250:
        syllables = (rng.choice(consonants) + rng.choice(vowels) for _ in range(num_syllables))
        words.append("".join(syllables))
    book = epub.EpubBook()
    book.set_identifier(f"bench-{num_words}")
    book.set_title("Bench")
    book.set_language("en")
    for number in range(1, max(1, num_words // WORDS_PER_CHAPTER) + 1):
        page = epub.EpubHtml(title=f"Chapter {number}", file_name=f"{number}.xhtml", lang="en")
        paragraphs = "\n".join(_paragraph(rng, words) for _ in range(WORDS_PER_CHAPTER // 75))
        page.content = f"<h1>Chapter {number}</h1>\n{paragraphs}"
        book.add_item(page)
        book.toc.append(page)
        book.spine.append(page)
    book.add_item(epub.EpubNcx())
    book.add_item(epub.EpubNav())
    epub.write_epub(str(path), book)


def _paragraph(rng: random.Random, words: list[str]) -> str:
    sentences = (" ".join(rng.choices(words, k=15)).capitalize() + "." for _ in range(5))
    return f"<p>{' '.join(sentences)}</p>"


def _marked(mark: bytes) -> list[int]:
    """Pids of all processes that carry the mark in their environment."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and mark in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue  # ended, or not ours
    return found


def _cpu_s(pid: int) -> tuple[str, float] | None:
    """Name and CPU seconds (user and system, without children) of a process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    name, _, rest = stat.partition("(")[2].rpartition(")")
    numbers = rest.split()
    return name.split(":")[0], (int(numbers[11]) + int(numbers[12])) / _TICKS_PER_S


def _peak_rss(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    lines = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    return int(lines.get("VmHWM", "0 kB").split()[0]) * 1024


def _audio_hours(output: str) -> float:
    import json

    events = [json.loads(line) for line in output.splitlines()]
    return float(next(e["audio_s"] for e in events if e["event"] == "done")) / 3600
