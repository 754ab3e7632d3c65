"""How a run is shown: a live display on a terminal, plain lines elsewhere, or JSON for machines."""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pocket_batch.jobs.progress import Level, Progress, Reporter
from pocket_batch.jobs.words import duration

FORMATS = ("rich", "plain", "json")
PLAIN_INTERVAL_S = 10.0


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
        if not self._quiet:
            values = {name: getattr(snapshot, name) for name in Progress.__slots__}
            rounded = {k: round(v, 3) if isinstance(v, float) else v for k, v in values.items()}
            self._print({"event": "progress", **rounded})

    def _print(self, values: dict[str, object]) -> None:
        line = {"time": round(time.time(), 3), **values}
        print(json.dumps(line, ensure_ascii=False, default=str), flush=True)


class PlainReporter:
    """Plain lines on standard error, a progress line every ten seconds."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._shown = time.monotonic()

    def note(self, event: str, text: str, level: Level = "info", **fields: object) -> None:
        """Print the text; warnings say that they are."""
        if level == "warning":
            print(f"Warning: {text}", file=sys.stderr, flush=True)
        elif not self._quiet:
            print(text, file=sys.stderr, flush=True)

    def progress(self, snapshot: Progress) -> None:
        """Print a line, unless the last one is less than ten seconds old."""
        now = time.monotonic()
        if not self._quiet and now - self._shown >= PLAIN_INTERVAL_S:
            self._shown = now
            line = " · ".join(part for part in _parts(snapshot) if part)
            print(line, file=sys.stderr, flush=True)


class RichReporter:
    """A live line with a bar, and the notes above it; a context manager."""

    def __init__(self, quiet: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        self._quiet = quiet
        self._console = Console(stderr=True, highlight=False)
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[rest]}"),
            console=self._console,
            transient=True,
        )
        self._tasks: dict[str, object] = {}

    def __enter__(self) -> "RichReporter":
        return self

    def __exit__(self, *_: object) -> None:
        if self._tasks:
            self._bar.stop()

    def note(self, event: str, text: str, level: Level = "info", **fields: object) -> None:
        """Print the text above the live line."""
        if level == "warning":
            self._console.print(f"Warning: {text}", style="yellow", markup=False)
        elif not self._quiet:
            self._console.print(text, markup=False)

    def progress(self, snapshot: Progress) -> None:
        """Move the bar."""
        if self._quiet or not snapshot.total_audio_s:
            return
        if snapshot.phase not in self._tasks:
            for task in self._tasks.values():
                self._bar.remove_task(task)  # type: ignore[arg-type]
            self._tasks = {snapshot.phase: self._bar.add_task(snapshot.phase, rest="")}
            self._bar.start()
        self._bar.update(
            self._tasks[snapshot.phase],  # type: ignore[arg-type]
            description=_parts(snapshot)[0],
            completed=snapshot.audio_s,
            total=snapshot.total_audio_s,
            rest=" · ".join(part for part in _parts(snapshot)[1:] if part),
        )


def _parts(p: Progress) -> list[str]:
    """The pieces of a progress line, the phase first."""
    percent = 100 * p.audio_s / p.total_audio_s if p.total_audio_s else 100.0
    speaking = p.phase == "speaking"
    return [
        f"{p.phase.capitalize()} {percent:3.0f} %",
        f"{p.done:,}/{p.total:,} segments" if speaking else "",
        f"{p.chapters_done}/{p.num_chapters} chapters" if speaking else "",
        f"{duration(p.audio_s)} of audio",
        f"{p.x_realtime:.0f}x real time",
        f"{p.num_workers} worker{'s' * (p.num_workers != 1)}" if p.num_workers else "",
        f"{duration(p.eta_s)} left" if p.eta_s else "",
    ]
