"""A whole measurement: all sides loaded, then speaking in turn, again and again.

The machine may be busy with other things, and slower in one minute than in the next. So what counts
is the ratio of two sides in the same alternation, and its median over all alternations.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol, get_args

from pocket_batch.data import EngineSpec, Precision
from pocket_batch.engine.auto_precision import resolved
from pocket_batch.engine.base import make_engine
from pocket_batch.engine.pocket import PocketEngine
from pocket_batch.engine.pocket_text import EXTRA_S, TOKENS_PER_S
from pocket_batch.jobs.bench.books import Reader
from pocket_batch.jobs.bench.lengths import tokens_of_letters
from pocket_batch.jobs.bench.machine import describe_machine
from pocket_batch.jobs.bench.model import Prepared
from pocket_batch.jobs.bench.process import WorkerProcess
from pocket_batch.jobs.bench.sides import Pass, check_reference
from pocket_batch.jobs.bench.texts import (
    Line,
    capped,
    lines_like,
    lines_of,
    made_up_lines,
    subset,
)

REFERENCES = {"reference fp32": False, "reference int8": True}  # name -> int8 backbone
REFERENCE_AUDIO_S = 30.0  # of an alternation: it is slow
WARM_UP_FRAMES = 60


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure.

    Attributes:
        model: a name or a folder.
        texts: a book or a folder of books; None for made-up texts.
        rows: utterances of a lane at a time; None for what the engine has.
        repeats: alternations.
        against_reference: pocket-tts speaks too, in both of its precisions.
    """

    model: str
    precisions: tuple[Precision, ...] = ("fp32",)
    num_utterances: int = 128
    texts: Path | None = None
    lanes: int = 2
    rows: int | None = None
    repeats: int = 5
    against_reference: bool = False


@dataclass(slots=True)
class SideResult:
    """One side over all alternations; of the reference, `num_slots` is 1."""

    name: str
    num_slots: int
    load_s: float
    loaded_bytes: int
    peak_bytes: int = 0
    passes: list[Pass] = field(default_factory=list)

    @property
    def is_reference(self) -> bool:
        """It is pocket-tts."""
        return self.name in REFERENCES

    @property
    def x_realtime(self) -> list[float]:
        """Seconds of audio per second of each alternation."""
        return [spoken.audio_s / spoken.wall_s for spoken in self.passes]

    @property
    def x_realtime_cpu(self) -> list[float]:
        """Seconds of audio per second of processor time."""
        return [spoken.audio_s / spoken.cpu_s for spoken in self.passes]


@dataclass(frozen=True, slots=True)
class Measurement:
    """All that was found, and what it was found with."""

    plan: Plan
    machine: dict[str, str]
    is_made_up: bool
    num_frames: int
    frame_rate: float
    sides: list[SideResult]


class Watch(Protocol):
    """Shows how far a measurement is."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """`what` goes on, with so many texts done."""
        ...


def precisions_named(name: str) -> tuple[Precision, ...]:
    """A precision, `all` of them, or the one that is `auto` on this machine."""
    known: tuple[Precision, ...] = get_args(Precision)
    if name == "all":
        return known
    if name == "auto":
        return (resolved("auto"),)
    return tuple(precision for precision in known if precision == name)


def measure(
    plan: Plan, watch: Watch, skip: Callable[[str], None], told: Callable[[str], None]
) -> Measurement:
    """Measure; `watch` is told how far it is, `skip` which books are left out, and `told` gets a
    sentence after each alternation.

    Raises:
        ModelUnavailableError: there is no such model, or pocket-tts is not installed.
        InputError: the texts are refused.
    """
    if plan.against_reference:
        check_reference()
    machine = describe_machine()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="pocket-batch-bench-"))
        watch("prepare the model", 0, 1)
        with WorkerProcess() as worker:
            prepared = Prepared(**worker.ask("prepare", model=plan.model, folder=folder))
        engine = make_engine(EngineSpec("pocket", prepared.model))
        assert isinstance(engine, PocketEngine)
        lines = find_lines(plan, engine, prepared, skip)
        # Whatever is kept of a made-up model for the next time is of no use then.
        environment = {"XDG_CACHE_HOME": folder} if prepared.is_made_up else {}
        workers, sides = [], []
        for name in order(plan):
            watch(f"load {name}", 0, 1)
            worker = stack.enter_context(WorkerProcess(environment))
            workers.append(worker)
            sides.append(_loaded(worker, name, plan, prepared))
        frame_rate = _frame_rate(engine)
        few = subset(lines, round(REFERENCE_AUDIO_S * frame_rate))
        texts = [few if side.is_reference else lines for side in sides]
        _alternate(plan.repeats, list(zip(sides, workers, texts, strict=True)), watch, told)
    num_frames = sum(line.num_frames for line in lines)
    return Measurement(plan, machine, prepared.is_made_up, num_frames, frame_rate, sides)


def find_lines(
    plan: Plan, engine: PocketEngine, prepared: Prepared, skip: Callable[[str], None]
) -> list[Line]:
    """What our side speaks.

    Raises:
        InputError: the texts are refused.
    """
    num, count, frame_rate = plan.num_utterances, engine.count_tokens, _frame_rate(engine)
    if plan.texts is None:
        lines = made_up_lines(num, count, frame_rate)
    elif prepared.is_made_up:
        reader = Reader(prepared.language, engine.max_tokens, tokens_of_letters)
        lines = lines_like(reader.texts(plan.texts, skip), num, count, frame_rate)
    else:
        reader = Reader(prepared.language, engine.max_tokens, count)
        lines = lines_of(reader.texts(plan.texts, skip), num, count, frame_rate)
    return capped(lines, lambda tokens: int((tokens / TOKENS_PER_S + EXTRA_S) * frame_rate))


def _frame_rate(engine: PocketEngine) -> float:
    return engine.source.config.mimi.frame_rate


def order(plan: Plan) -> list[str]:
    """Who speaks after whom: ours and the reference in turn."""
    theirs = REFERENCES if plan.against_reference else {}
    return list(_in_turn(list(plan.precisions), list(theirs)))


def _in_turn(ours: list[str], theirs: list[str]) -> Iterator[str]:
    """a b c, x y -> a x b y c."""
    for index in range(max(len(ours), len(theirs))):
        yield from ours[index : index + 1]
        yield from theirs[index : index + 1]


def ratios(side: SideResult, reference: SideResult) -> list[float]:
    """How many times as fast a side is, in each alternation."""
    return [a / b for a, b in zip(side.x_realtime, reference.x_realtime, strict=True)]


def cpu_ratios(side: SideResult, reference: SideResult) -> list[float]:
    """The same for a second of processor time, which a busy machine disturbs less."""
    return [a / b for a, b in zip(side.x_realtime_cpu, reference.x_realtime_cpu, strict=True)]


def _loaded(worker: WorkerProcess, name: str, plan: Plan, prepared: Prepared) -> SideResult:
    if name in REFERENCES:
        found = worker.ask(
            "reference", config=prepared.config, state=prepared.state, is_int8=REFERENCES[name]
        )
        return SideResult(name, 1, found["load_s"], found["loaded_bytes"])
    found = worker.ask(
        "ours",
        model=prepared.model,
        state=prepared.state,
        precision=name,
        lanes=plan.lanes,
        rows=plan.rows,
    )
    return SideResult(name, found["num_slots"], found["load_s"], found["loaded_bytes"])


def _alternate(
    repeats: int,
    speakers: list[tuple[SideResult, WorkerProcess, list[Line]]],
    watch: Watch,
    told: Callable[[str], None],
) -> None:
    """Fill the results with passes; before them, each side speaks a little that does not count.

    Backwards every other time, so that a machine that becomes slower favours none of them.
    """
    for side, worker, lines in speakers:
        watch(f"warm up {side.name}", 0, 1)
        _speak(worker, subset(lines, WARM_UP_FRAMES), lambda done: None)
    for alternation in range(repeats):
        for side, worker, lines in speakers[:: -1 if alternation % 2 else 1]:
            what = f"{side.name}, {alternation + 1} of {repeats}"
            watch(what, 0, len(lines))
            found = _speak(worker, lines, partial(watch, what, total=len(lines)))
            side.passes.append(Pass(**found["pass"]))
            side.peak_bytes = found["peak_bytes"]
        speeds = ", ".join(f"{side.name} {side.x_realtime[-1]:.2f}" for side, _, _ in speakers)
        told(f"Alternation {alternation + 1} of {repeats}: {speeds} times real time.")


def _speak(worker: WorkerProcess, lines: list[Line], told: Callable[[int], None]) -> dict[str, Any]:
    return worker.ask("speak", told, lines=[asdict(line) for line in lines])
