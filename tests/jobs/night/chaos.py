"""Rounds of chaos for `pocket-batch run`: shoot at it, go on with it, compare with a calm run.

    python tests/jobs/night/chaos.py --rounds 50

prints each round with its seed as it ends, and a table of all. A round is repeated by its seed
alone: `--seed 17 --rounds 1`.
"""

import argparse
import contextlib
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chaos_cluster import FakeCluster
from chaos_faults import (
    Fault,
    Round,
    clock_of,
    fill_disk,
    freeze_worker,
    jump_clock,
    kill_daemon,
    kill_driver,
    kill_node,
    kill_worker,
    leave_lock,
    second_run,
    starve_worker,
    tear,
    terminate,
)
from chaos_place import Calm, Place, Verdict, judge, make_calm, small_disk

DISK_BYTES = 200_000_000
NOWHERE = "192.0.2.1:6379"  # of a network that is for documents alone
MAX_RUNS = 12


@dataclass(frozen=True)
class Kind:
    """A kind of round: the faults that it is about, and whatever else comes in between."""

    name: str
    faults: tuple[Fault, ...]
    others: tuple[Fault, ...] = (kill_worker, kill_driver, terminate)
    num: tuple[int, int] = (2, 4)
    last_s: float = 7.0


KINDS = (
    Kind("kills", (kill_worker, kill_driver, terminate)),
    Kind("torn files", (tear,)),
    Kind("daemons", (kill_daemon,), others=(kill_worker,), num=(1, 2)),
    Kind("cluster", (kill_node, kill_worker)),
    Kind("signals", (terminate,)),
    Kind("two runs", (second_run, leave_lock)),
    Kind("words", (), others=(kill_worker, kill_driver, terminate), num=(0, 1)),
    Kind("memory", (starve_worker, freeze_worker)),
    Kind("full disk", (fill_disk,), num=(1, 3)),
    Kind("clock", (jump_clock,)),
)
WORDS = {
    "crash:": "crashed its worker 3 times",
    "hang:": "did not end within 3 s 3 times",
    "oom:": "MemoryError",
}


@dataclass(frozen=True)
class Report:
    """What came of a round."""

    seed: int
    kind: str
    faults: Counter[str]
    verdict: Verdict
    codes: list[int]
    elapsed_s: float

    def row(self) -> str:
        """One line for people."""
        done = ", ".join(f"{name} {n}" for name, n in self.faults.items() if n) or "nothing hit"
        codes = " ".join(map(str, self.codes))
        bad = "; ".join(self.verdict.wrong)
        end = "as calm" if self.verdict.is_well else f"LOST {self.verdict.lost} "
        if not self.verdict.is_well:
            end += f"TWICE {self.verdict.doubled} {bad}"
        seed = f"seed {self.seed:>4}"
        return f"{seed}  {self.kind:<11}{self.elapsed_s:5.0f} s  {done} [{codes}]  {end}"


class Chaos:
    """All rounds: a calm run to compare with, and a cluster once one is needed."""

    def __init__(self, folder: Path, stack: contextlib.ExitStack, num_paragraphs: int) -> None:
        self._folder = folder
        self._num_paragraphs = num_paragraphs
        self._stack = stack
        self._cluster: FakeCluster | None = None
        self.calm: Calm = make_calm(folder / "calm", num_paragraphs)
        home = self._read_only_home()
        # Neither may make any difference: nothing is written to HOME, and a private instance is
        # private whatever cluster the shell was told of.
        self._hostile = {"HOME": str(home), "RAY_ADDRESS": NOWHERE}

    def _read_only_home(self) -> Path:
        """A folder that nobody can write to: a full disk that is read, or one of no rights."""
        home = self._folder / "home"
        try:
            self._stack.enter_context(small_disk(home, 4096))
            import subprocess

            subprocess.run(["mount", "-o", "remount,ro", str(home)], check=True)
        except PermissionError:
            home.chmod(0o555)
        return home

    def round(self, seed: int, kind: Kind | None = None) -> Report:
        """One round; its kind is by the seed as well."""
        rng = random.Random(seed)
        kind = kind or KINDS[seed % len(KINDS)]
        started = time.monotonic()
        with self._round(seed, kind, rng) as here:
            self._disturb(here, kind)
            self._finish(here)
            self._judge(here)
        elapsed_s = time.monotonic() - started
        return Report(seed, kind.name, here.faults, here.verdict, here.place.codes, elapsed_s)

    @contextlib.contextmanager
    def _round(self, seed: int, kind: Kind, rng: random.Random) -> Iterator[Round]:
        """The place of a round with all that is odd about it, and its first run."""
        folder = self._folder / f"round-{seed}"
        environment = dict(self._hostile) if rng.random() < 0.5 else {}
        options: tuple[str, ...] = ()
        cluster, word = None, rng.choice(sorted(WORDS)) if kind.name == "words" else ""
        with contextlib.ExitStack() as stack:
            if kind.name == "full disk":
                stack.enter_context(small_disk(folder, DISK_BYTES))
            if kind.name == "cluster":
                cluster = self._started_cluster()
                environment = {**environment, **cluster.environment}
                options = ("--address", cluster.address, "--workers", "3")
            if kind.name == "clock":
                folder.mkdir()
                environment |= clock_of(folder)
            place = Place(
                folder, environment, options, bad_word=word, num_paragraphs=self._num_paragraphs
            )
            here = Round(place, rng, cluster)
            if environment.get("HOME"):
                here.faults["HOME read-only, RAY_ADDRESS dead"] += 1
            if word:
                here.faults[f"text {word}"] += 1
                here.allowed = (10,)
            if kind.name == "daemons":
                here.allowed = (0, 75)  # Ray ended while it started: it cannot in this process
            stack.callback(place.sweep)
            yield here
        if here.verdict.is_well:
            shutil.rmtree(folder)

    def _started_cluster(self) -> FakeCluster:
        if self._cluster is None:
            self._cluster = self._stack.enter_context(FakeCluster())
        return self._cluster

    def _disturb(self, here: Round, kind: Kind) -> None:
        rng = here.rng
        faults = [rng.choice(kind.faults)] if kind.faults else []
        for _ in range(rng.randint(*kind.num) - len(faults)):
            faults.append(rng.choice((*kind.faults, *kind.others)))
        for fault in faults:
            time.sleep(rng.uniform(0.3, kind.last_s))
            if here.is_over() and here.run.returncode in here.allowed:
                break
            fault(here)

    def _finish(self, here: Round) -> None:
        """Let it end by itself, and go on if it lost what it needs."""
        place, final = here.place, 10 if here.place.bad_word else 0
        while (code := place.ended(here.run)) != final and len(place.codes) < MAX_RUNS:
            if code not in here.allowed:
                here.wrong(f"a run ended with {code}")
                return
            here.again()
        if code == 0:
            before = {path: path.stat().st_mtime_ns for path in place.output.glob("*.flac")}
            if (code := place.ended(place.start())) != 0:
                here.wrong(f"a run with nothing to do ended with {code}")
            if before != {path: path.stat().st_mtime_ns for path in before}:
                here.wrong("a run with nothing to do wrote books again")

    def _judge(self, here: Round) -> None:
        found = judge(here.place, self.calm)
        here.verdict.lost, here.verdict.doubled = found.lost, found.doubled
        here.verdict.wrong += found.wrong
        if here.place.bad_word:
            path = here.place.output / "bad.work" / "failures.jsonl"
            failures = path.read_text() if path.is_file() else ""
            if failures.count("\n") != 1 or WORDS[here.place.bad_word] not in failures:
                here.wrong(f"failures are {failures[:300]!r}")


@contextlib.contextmanager
def chaos(num_paragraphs: int = 5) -> Iterator[Chaos]:
    """All that rounds share, in a folder of its own; what a bad round left stays there.

    Chapters of so many paragraphs: the fewer, the shorter a round.
    """
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    with contextlib.ExitStack() as stack:
        yield Chaos(folder, stack, num_paragraphs)
    shutil.rmtree(folder / "calm")
    with contextlib.suppress(OSError):
        (folder / "home").rmdir()
        folder.rmdir()


def table(reports: list[Report]) -> str:
    """Rounds, faults, losses and doubles by kind of round, and all faults that hit."""
    rows = [f"{'rounds':<12}{'n':>4}{'faults':>8}{'runs':>6}{'lost':>6}{'twice':>7}{'wrong':>7}"]
    for kind in [*(kind.name for kind in KINDS), ""]:
        mine = [report for report in reports if kind in ("", report.kind)]
        if not mine:
            continue
        numbers = (
            len(mine),
            sum(sum(report.faults.values()) for report in mine),
            sum(len(report.codes) for report in mine),
            sum(report.verdict.lost for report in mine),
            sum(report.verdict.doubled for report in mine),
            sum(len(report.verdict.wrong) for report in mine),
        )
        name = kind or "all"
        rows.append(
            f"{name:<12}"
            + "".join(f"{n:>{w}}" for n, w in zip(numbers, (4, 8, 6, 6, 7, 7), strict=True))
        )
    faults = sum((report.faults for report in reports), Counter())
    rows += ["", *(f"{n:>5}  {name}" for name, n in faults.most_common())]
    return "\n".join(rows)


def main() -> int:
    """Run rounds by hand."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0, help="of the first round")
    parser.add_argument("--paragraphs", type=int, default=5, help="in a chapter (default: 5)")
    parser.add_argument("--kind", help="only rounds of this kind")
    args = parser.parse_args()
    kind = next((kind for kind in KINDS if kind.name == args.kind), None)
    reports = []
    with chaos(args.paragraphs) as all_rounds:
        for seed in range(args.seed, args.seed + args.rounds):
            reports.append(all_rounds.round(seed, kind))
            print(reports[-1].row(), flush=True)
    print(f"\n{table(reports)}")
    return 0 if all(report.verdict.is_well for report in reports) else 1


if __name__ == "__main__":
    sys.exit(main())
