"""Several that are told of one run."""

from pocket_batch.executors.health import WorkerHealth
from pocket_batch.jobs.progress import Download, Level, Progress, Reporter, Silent


class Several:
    """A `Reporter` that passes everything on to others."""

    def __init__(self, *reporters: Reporter) -> None:
        self._reporters = reporters

    def note(self, event: str, text: str, level: Level = "info", **fields: object) -> None:
        """Pass it on."""
        for reporter in self._reporters:
            reporter.note(event, text, level, **fields)

    def progress(self, snapshot: Progress) -> None:
        """Pass it on."""
        for reporter in self._reporters:
            reporter.progress(snapshot)

    def download(self, snapshot: Download) -> None:
        """Pass it on."""
        for reporter in self._reporters:
            reporter.download(snapshot)

    def health(self, workers: tuple[WorkerHealth, ...]) -> None:
        """Pass it on."""
        for reporter in self._reporters:
            reporter.health(workers)


class Held:
    """A `Reporter` for a thread beside the main one: keeps what it is told until it is taken."""

    def __init__(self) -> None:
        self._notes: list[tuple[str, str, Level, dict[str, object]]] = []
        self._progress: Progress | None = None

    def note(self, event: str, text: str, level: Level = "info", **fields: object) -> None:
        """Keep it."""
        self._notes.append((event, text, level, fields))

    def progress(self, snapshot: Progress) -> None:
        """Keep the newest."""
        self._progress = snapshot

    def download(self, snapshot: Download) -> None:
        """Forget it."""

    def health(self, workers: tuple[WorkerHealth, ...]) -> None:
        """Forget it."""

    def take(self) -> list[tuple[str, str, Level, dict[str, object]]]:
        """What was kept, once: event, text, level and fields of each note."""
        notes, self._notes = self._notes, []
        return notes

    def take_progress(self) -> Progress | None:
        """The newest snapshot, once."""
        snapshot, self._progress = self._progress, None
        return snapshot


class Warnings(Silent):
    """A `Reporter` that keeps the texts of warnings, but for those of `passed_over` events."""

    def __init__(self, passed_over: tuple[str, ...] = ()) -> None:
        self.texts: list[str] = []
        self._passed_over = passed_over

    def note(self, event: str, text: str, level: Level = "info", **fields: object) -> None:
        """Keep a warning."""
        if level == "warning" and event not in self._passed_over:
            self.texts.append(text)
