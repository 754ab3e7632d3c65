"""What the tests of units share: a place to make them in, with engines that can be watched."""

import os
import random
import signal
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pocket_batch.data import EngineSpec, Request, Voice
from pocket_batch.dataset_settings import FilterSettings
from pocket_batch.engine.base import Output
from pocket_batch.engine.fake import FakeEngine
from pocket_batch.manifest import content_key, request_seed
from pocket_batch.rows import Sample, UnitDone, UnitTask
from pocket_batch.stages.synthesize import Synthesize
from pocket_batch.stages.unit import MakeUnits, UnitSpec
from pocket_batch.units.names import unit_file
from pocket_batch.units.store import Store
from pocket_batch.units.unit import read_samples

VOICE = Voice("tone", "fake", "en", "CC0-1.0")


class WatchedEngine(FakeEngine):
    """The fake engine, which tells what it was asked for.

    Attributes:
        spoken: text and attempt of every request, in order.
        kill_at: the request over which this process dies, from 1; 0 for none.
        shuffle: answers all at once in an order of this seed.
    """

    def __init__(self, kill_at: int = 0, shuffle: int | None = None) -> None:
        super().__init__(EngineSpec("fake"))
        self.spoken: list[tuple[str, int]] = []
        self.kill_at = kill_at
        self.shuffle = shuffle

    def generate(self, requests: Iterable[Request]) -> Iterator[Output]:
        if self.shuffle is not None:
            requests = list(requests)
            random.Random(self.shuffle).shuffle(requests)
        for request in requests:
            self.spoken.append((request.text, request.attempt))
            if len(self.spoken) == self.kill_at:
                os.kill(os.getpid(), signal.SIGKILL)
            yield from super().generate((request,))


class Workshop:
    """A folder for a data set, and what makes units in it."""

    def __init__(self, place: str | Path, scratch: Path, **filters: Any) -> None:
        self.spec = UnitSpec(str(place), FilterSettings(**filters), "en", str(scratch))
        self.store = Store(place)

    def stage(self, engine: FakeEngine, should_stop: Callable[[], bool]) -> MakeUnits:
        return MakeUnits(Synthesize(engine, is_measured=True), self.spec, should_stop)

    def make(
        self,
        task: UnitTask,
        engine: FakeEngine | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Any:
        """What became of one unit; None when stopped."""
        return next(self.stage(engine or WatchedEngine(), should_stop).run([task]), None)

    def make_whole(self, task: UnitTask, engine: FakeEngine | None = None) -> bytes:
        """The bytes of a unit that can be made, of which no log may be left."""
        done = self.make(task, engine)
        assert isinstance(done, UnitDone), done
        assert not self.logs()
        return self.store.read(unit_file(task.key, "tar"))

    def samples(self, task: UnitTask) -> dict[str, Sample]:
        """By their texts."""
        texts = {request.key: request.text for request in task.requests}
        return {texts[s.key]: s for s in read_samples(self.store, task.key)}

    def logs(self) -> list[Path]:
        """Logs and unfinished files."""
        folder = self.store.folder or Path(self.spec.scratch)
        return [p for p in folder.rglob("*") if p.suffix in (".part", ".partial")]

    def die(self, task: UnitTask, engine: FakeEngine) -> bool:
        """Make a unit in a process of its own; whether that was killed."""
        pid = os.fork()
        if pid == 0:
            try:
                self.make(task, engine)
            finally:
                os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


@pytest.fixture
def make_task() -> Callable[..., UnitTask]:
    """A unit of some texts."""

    def make(texts: Iterable[str], earlier: tuple[str, ...] = ()) -> UnitTask:
        by_key = {content_key(text=text): text for text in texts}
        keys = sorted(by_key)
        requests = (
            Request(key, key, by_key[key], VOICE, request_seed(0, by_key[key], VOICE.name, 0))
            for key in keys
        )
        return UnitTask(content_key(keys=" ".join(keys)), VOICE.name, tuple(requests), earlier)

    return make


@pytest.fixture
def watched() -> type[WatchedEngine]:
    return WatchedEngine


@pytest.fixture
def workshop(tmp_path: Path) -> Callable[..., Workshop]:
    """A workshop by name; the same name is the same place."""

    def make(name: str = "set", place: str = "", **filters: Any) -> Workshop:
        return Workshop(place or tmp_path / name, tmp_path / "scratch", **filters)

    return make
