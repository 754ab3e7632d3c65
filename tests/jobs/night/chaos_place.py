"""A folder with three small books, runs of `pocket-batch run` in it, and what must hold after."""

import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MARK = "POCKET_BATCH_CHAOS"
ITEM_TIMEOUT_S = 3
VOICE = (
    "{name: slow, engine: fake, language: en, licence: CC0-1.0, description: slow, source: test,"
    " parameters: {sleep_s_per_audio_s: '0.02'}}"
)


def write_books(folder: Path, num_paragraphs: int, bad_word: str = "") -> None:
    """Three books of two chapters, with so many paragraphs of five sentences in each, always the
    same; with a bad word, one book more that has it in a sentence."""
    rng = random.Random(1)
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
    words = ["".join(rng.choices(syllables, k=n)) for n in [1, 2, 3, 4] * 250]
    folder.mkdir(parents=True)
    for name in ("one", "two", "three", *(["bad"] if bad_word else [])):
        parts = [f"Title: Book {name}\nAuthor: Nobody"]
        for chapter in (1, 2):
            parts.append(f"Chapter {chapter}. Part {chapter}")
            for _ in range(num_paragraphs if name != "bad" else 1):
                lines = [" ".join(rng.choices(words, k=15)).capitalize() for _ in range(5)]
                parts.append(". ".join(lines) + ".")
        if name == "bad":
            parts.append(f"This one says {bad_word} and nothing helps.")
        (folder / f"{name}.txt").write_text("\n\n".join(parts) + "\n")


@dataclass
class Place:
    """Where one round happens. `codes` are those of its runs."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    wrapper: tuple[str, ...] = ()
    bad_word: str = ""
    voice: str = "slow"
    executor: str = "ray"
    num_paragraphs: int = 5
    codes: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.mark = f"{os.getpid()}-{self.folder.name}"
        self.folder.mkdir(parents=True, exist_ok=True)
        write_books(self.folder / "books", self.num_paragraphs, self.bad_word)
        voices = self.folder / "config" / "pocket-batch" / "voices"
        voices.mkdir(parents=True)
        (voices / "slow.yaml").write_text(VOICE)
        self.job.write_text(
            f"inputs: [books/*.txt]\nvoice: {self.voice}\noutput: out/{{stem}}.flac\n"
            f"executor: {{name: {self.executor}, workers: 2, cores_per_worker: 1,"
            f" item_timeout_s: {ITEM_TIMEOUT_S}}}\n"
        )

    @property
    def job(self) -> Path:
        """The job file."""
        return self.folder / "night.yaml"

    @property
    def output(self) -> Path:
        """The folder of all that runs make."""
        return self.folder / "out"

    @property
    def run_dir(self) -> Path:
        """The folder of status, summary and log."""
        return self.output / "night.run"

    def start(self, *more: str, log: str = "log") -> "subprocess.Popen[bytes]":
        """The command of the round; what it says is added to a file beside the job."""
        command = [*self.wrapper, sys.executable, "-m", "pocket_batch", "run", str(self.job)]
        environment = os.environ | {
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            MARK: self.mark,
            **self.environment,
        }
        with (self.folder / log).open("ab") as said:
            return subprocess.Popen(
                [*command, "--log-format", "plain", *self.options, *more],
                stdout=said,
                stderr=said,
                env=environment,
            )

    def ended(self, run: "subprocess.Popen[bytes]", timeout_s: float = 150.0) -> int:
        """The exit code of a run, which is kept; one that does not end is killed: -99."""
        try:
            code = run.wait(timeout_s)
        except subprocess.TimeoutExpired:
            run.kill()
            run.wait()
            code = -99
        self.codes.append(code)
        return code

    def said(self, log: str = "log") -> str:
        """What all runs said."""
        return (self.folder / log).read_text(errors="replace")

    def is_at_work(self) -> bool:
        """Whether a run has planned its books and holds its folder."""
        lock = self.run_dir / "lock"
        return lock.is_file() and lock.stat().st_size > 0

    def hashes(self) -> dict[str, str]:
        """SHA-256 of each finished book, by name."""
        return {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.output.glob("*.flac"))
        }

    def keys(self) -> dict[str, Counter[str]]:
        """How often each utterance is recorded, by book."""
        found = {}
        for manifest in sorted(self.output.glob("*.work/utterances.jsonl")):
            lines = manifest.read_text().splitlines()
            found[manifest.parent.stem] = Counter(json.loads(line)["key"] for line in lines)
        return found

    def names(self) -> set[str]:
        """All files below the output, but logs that were rotated."""
        files = (path for path in self.output.rglob("*") if path.is_file())
        return {str(path.relative_to(self.output)) for path in files}

    def processes(self) -> list[int]:
        """All processes that a run of this place started, and that still live."""
        mark, found = f"{MARK}={self.mark}".encode(), []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def forget(self) -> None:
        """Remove all that was made."""
        shutil.rmtree(self.output)

    def sweep(self) -> None:
        """End what is left, after it was counted."""
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


@dataclass(frozen=True)
class Calm:
    """What a run that nobody disturbs makes."""

    hashes: dict[str, str]
    keys: dict[str, set[str]]
    names: set[str]


def make_calm(folder: Path, num_paragraphs: int) -> Calm:
    """Run once in peace."""
    place = Place(folder, num_paragraphs=num_paragraphs)
    assert place.ended(place.start()) == 0, place.said()
    keys = place.keys()
    assert all(count == 1 for counts in keys.values() for count in counts.values())
    return Calm(place.hashes(), {book: set(counts) for book, counts in keys.items()}, place.names())


@dataclass
class Verdict:
    """What is wrong with a place. `lost` and `doubled` count utterances; `wrong` are sentences."""

    lost: int = 0
    doubled: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def is_well(self) -> bool:
        """Nothing is wrong."""
        return not (self.lost or self.doubled or self.wrong)


def judge(place: Place, calm: Calm) -> Verdict:
    """Compare a place with a calm one, file by file and utterance by utterance."""
    verdict = Verdict()
    hashes, keys = place.hashes(), place.keys()
    for name, wanted in calm.hashes.items():
        if hashes.get(name) != wanted:
            verdict.wrong.append(f"{name} is {'other' if name in hashes else 'not there'}")
    for book, wanted_keys in calm.keys.items():
        counts = keys.get(book, Counter())
        verdict.lost += len(wanted_keys - set(counts))
        verdict.doubled += sum(count - 1 for count in counts.values())
    names = {name for name in place.names() if not name.startswith("bad.")}
    if odd := sorted(calm.names ^ names):
        verdict.wrong.append(f"files are too many or missing: {', '.join(odd[:5])}")
    wait_until = time.monotonic() + 5.0
    while (left := place.processes()) and time.monotonic() < wait_until:
        time.sleep(0.1)
    if left:
        verdict.wrong.append(f"{len(left)} processes are left")
    return verdict


@contextlib.contextmanager
def small_disk(folder: Path, num_bytes: int) -> Iterator[Path]:
    """A disk of that size in memory, mounted at a folder; raises PermissionError without root."""
    folder.mkdir(parents=True)
    words = ["mount", "-t", "tmpfs", "-o", f"size={num_bytes}", "none", str(folder)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        raise PermissionError("only root can mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def catches(pid: int, number: int) -> bool:
    """Whether a process has a handler for a signal."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    return False
