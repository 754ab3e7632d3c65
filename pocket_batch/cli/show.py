"""How a run is shown: a live display on a terminal, plain lines elsewhere, or JSON for machines."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from pocket_batch.executors.health import WorkerHealth
from pocket_batch.jobs.progress import Download, Level, Progress, Reporter
from pocket_batch.words import duration, size

FORMATS = ("rich", "plain", "json")
PLAIN_INTERVAL_S = 10.0
WIDE = 100  # columns


@contextmanager
def make_reporter(log_format: str | None, quiet: bool) -> Iterator[Reporter]:
    """The reporter of that format; by default `rich` on a terminal and `plain` elsewhere."""
    log_format = log_format or ("rich" if sys.stderr.isatty() else "plain")
    if log_format == "json":
        yield JsonReporter(quiet)
    elif log_format == "plain":
        yield PlainReporter(quiet)
    else:
        with RichReporter(quiet) as reporter:
            yield reporter


class JsonReporter:
    """One JSON object a line on standard output."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet

    def note(self, event: str, text: str, level: Level = "info", **fields: object) -> None:
        """Print the event with its fields."""
        if not self._quiet or level == "warning":
            self._print({"event": event, "level": level, "text": text, **fields})

    def progress(self, snapshot: Progress) -> None:
        """Print the snapshot."""
        self._print_snapshot("progress", snapshot)

    def download(self, snapshot: Download) -> None:
        """Print the snapshot."""
        self._print_snapshot("downloading", snapshot)

    def health(self, workers: tuple[WorkerHealth, ...]) -> None:
        """Nothing: `status.json` has it."""

    def _print_snapshot(self, event: str, snapshot: Progress | Download) -> None:
        if not self._quiet:
            values = {name: getattr(snapshot, name) for name in snapshot.__slots__}
            rounded = {k: round(v, 3) if isinstance(v, float) else v for k, v in values.items()}
            self._print({"event": event, **rounded})

    def _print(self, values: dict[str, object]) -> None:
        line = {"time": round(time.time(), 3), **values}
        self._quiet |= not _printed(json.dumps(line, ensure_ascii=False, default=str), sys.stdout)


class PlainReporter:
    """Plain lines on standard error, a progress line every ten seconds."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._shown = time.monotonic()

    def note(self, event: str, text: str, level: Level = "info", **fields: object) -> None:
        """Print the text; warnings say that they are."""
        if level == "warning":
            _printed(f"Warning: {text}", sys.stderr)
        elif text and not self._quiet:
            self._quiet |= not _printed(text, sys.stderr)

    def progress(self, snapshot: Progress) -> None:
        """Print a line, unless the last one is less than ten seconds old."""
        self._now_and_then(_parts(snapshot))

    def download(self, snapshot: Download) -> None:
        """Likewise."""
        self._now_and_then(_download_parts(snapshot))

    def health(self, workers: tuple[WorkerHealth, ...]) -> None:
        """Nothing: what is wrong comes as a note."""

    def _now_and_then(self, parts: list[str]) -> None:
        now = time.monotonic()
        if not self._quiet and now - self._shown >= PLAIN_INTERVAL_S:
            self._shown = now
            self._quiet |= not _printed(" · ".join(filter(None, parts)), sys.stderr)


class RichReporter:
    """A live line with a bar, and the notes above it; a context manager."""

    def __init__(self, quiet: bool) -> None:
        from rich.console import Console
        from rich.live import Live

        self._quiet = quiet
        self._console = Console(stderr=True, highlight=False)
        self._live = Live(console=self._console, transient=True, auto_refresh=False)

    def __enter__(self) -> "RichReporter":
        return self

    def __exit__(self, *_: object) -> None:
        if self._live.is_started:
            self._live.stop()

    def note(self, event: str, text: str, level: Level = "info", **fields: object) -> None:
        """Print the text above the live line."""
        if level == "warning":
            self._console.print(f"Warning: {text}", style="yellow", markup=False)
        elif text and not self._quiet:
            self._console.print(text, markup=False)

    def progress(self, snapshot: Progress) -> None:
        """Move the bar."""
        self._show(_share(snapshot), _parts(snapshot))

    def download(self, snapshot: Download) -> None:
        """Move the bar."""
        self._show(_download_share(snapshot), _download_parts(snapshot))

    def health(self, workers: tuple[WorkerHealth, ...]) -> None:
        """Nothing: what is wrong comes as a note."""

    def _show(self, share: float, parts: list[str]) -> None:
        from rich.text import Text

        if self._quiet:
            return
        if not self._live.is_started and self._console.is_terminal:
            self._live.start()
        line = _bar_line(share, parts, self._console.width - 1)
        self._live.update(Text(line, no_wrap=True, overflow="ellipsis"), refresh=True)


def _printed(line: str, stream: TextIO) -> bool:
    """Print a line; False when nobody takes it, which is no reason to end hours of work."""
    try:
        print(line, file=stream, flush=True)
    except OSError:  # the reader, such as `head`, has left, or a log's disk is full
        return False
    return True


def _bar_line(share: float, parts: list[str], width: int) -> str:
    """Phase, bar and percentage, then as many figures as fit, the most wanted first."""
    bar_width = 20 if width >= WIDE else 10
    bar = ("━" * round(share * bar_width)).ljust(bar_width, "┄")
    head, *figures = parts
    line = f"{head.split()[0]} {bar} {100 * share:3.0f} %"
    for figure in sorted(filter(None, figures), key=lambda part: "left" not in part):
        if len(line) + len(figure) + 3 > width:
            break
        line += f" · {figure}"
    return line


def _share(p: Progress) -> float:
    """What is done, 0 to 1; the length is an estimate, so the end is not told before it comes."""
    if not p.total:  # nobody knows how many there are
        return 0.0
    if p.done >= p.total:
        return 1.0
    if not p.total_audio_s:
        return p.done / p.total
    return min(0.99, p.audio_s / p.total_audio_s)


def _parts(p: Progress) -> list[str]:
    """The pieces of a progress line, the phase first."""
    if not p.total:
        return [p.phase.capitalize(), f"{p.done:,} so far"]
    percent = 100 * _share(p)
    speaking = p.phase == "speaking"
    return [
        f"{p.phase.capitalize()} {percent:3.0f} %",
        f"{duration(p.audio_s)} of audio" if p.audio_s else "",
        f"{p.x_realtime:.{int(p.x_realtime < 2)}f}x real time" if p.audio_s else "",
        f"{p.books_done}/{p.num_books} books" if p.num_books else "",
        f"{p.chapters_done}/{p.num_chapters} chapters" if speaking and p.num_chapters else "",
        f"{p.done:,}/{p.total:,} segments" if speaking else "",
        f"{p.num_workers} worker{'s' * (p.num_workers != 1)}" if p.num_workers else "",
        f"{duration(p.eta_s)} left" if p.eta_s else "",
    ]


def _download_share(d: Download) -> float:
    return d.num_bytes / d.total_bytes if d.total_bytes else 0.0


def _download_parts(d: Download) -> list[str]:
    """The pieces of a line about a download."""
    left_s = (d.total_bytes - d.num_bytes) / d.bytes_per_s if d.bytes_per_s else 0.0
    of_all = f" of {size(d.total_bytes)}" if d.total_bytes else ""
    return [
        f"Downloading {100 * _download_share(d):3.0f} %",
        d.file,
        f"{size(d.num_bytes)}{of_all}",
        f"{size(d.bytes_per_s)}/s" if d.bytes_per_s else "",
        f"{duration(left_s)} left" if left_s > 0 else "",
    ]
