"""Jobs to schedule, the files made for them, and programs that write down how they are called."""

import dataclasses
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.jobs.schedule.files import Made, make_files
from pocket_batch.jobs.schedule.nightly import Nightly, ScheduleOptions, plan_nightly

BOOKS = "inbox: inbox\noutput: out/{author}/{stem}.m4b\ndeadline: 05:30\n"
DATASET = "pipeline: dataset\ninputs: ['corpus/*.tsv']\noutput: my-set\nmax_hours: 7.5\n"
FAKE = """#!/bin/sh
printf '%s\\0' "$0" "$@" "" >>"$CALLS"
exit "${CODE:-0}"
"""


@pytest.fixture(autouse=True)
def usual_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_HOME", "HF_HUB_CACHE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "TZ"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def books(tmp_path: Path) -> Path:
    """A job file that speaks books, in a folder with a space in its name."""
    return write_job(tmp_path / "my jobs" / "nightly.yaml", BOOKS)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A job file that makes a data set."""
    return write_job(tmp_path / "my jobs" / "set.yaml", DATASET)


@pytest.fixture
def make() -> Callable[..., Made]:
    """The files of a scheduler for a job file, with options."""

    def made(kind: str, job: Path, **options: object) -> Made:
        return make_files(kind, plan_nightly(job, ScheduleOptions(**options)))  # type: ignore[arg-type]

    return made


class Stage:
    """A folder of programs that write down their words, and scripts run among them."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.calls_file = folder / "bin", folder / "calls"
        self.bin.mkdir()
        for name in ("pocket-batch", "srun", "scontrol", "ray"):
            self.program(name, FAKE)

    def program(self, name: str, text: str) -> None:
        """Write a program, or another in its place."""
        (self.bin / name).write_text(text, encoding="utf-8")
        (self.bin / name).chmod(0o755)

    def plan(self, job: Path, **options: object) -> Nightly:
        """The plan of a job whose program is the one here."""
        nightly = plan_nightly(job, ScheduleOptions(**options))  # type: ignore[arg-type]
        return dataclasses.replace(nightly, program=(str(self.bin / "pocket-batch"),))

    def run(self, *words: str, code: int = 0, **env: str) -> "subprocess.CompletedProcess[str]":
        """Run a command; the programs here end with `code`."""
        self.calls_file.unlink(missing_ok=True)
        path = f"{self.bin}:{os.environ['PATH']}"
        env = {"PATH": path, "CALLS": str(self.calls_file), "CODE": str(code), **env}
        return subprocess.run(words, env=env, capture_output=True, text=True, timeout=30)

    def calls(self) -> list[list[str]]:
        """Which programs were called, by their names, with which words."""
        found = self.calls_file.read_text(encoding="utf-8") if self.calls_file.exists() else ""
        calls = [call.split("\0") for call in found.split("\0\0")[:-1]]
        return [[Path(program).name, *words] for program, *words in calls]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


@pytest.fixture
def new_stage(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Stage]:
    """For tests that want one for each of many examples."""
    return lambda: Stage(tmp_path_factory.mktemp("stage"))


@pytest.fixture
def need() -> Callable[[str], str]:
    """The path of a program; the test is skipped where it is not."""

    def found(program: str) -> str:
        path = shutil.which(program)
        if path is None:
            pytest.skip(f"{program} is not on this machine")
        return path

    return found


@pytest.fixture
def put_job() -> Callable[[Path, str], Path]:
    return write_job


def write_job(path: Path, text: str) -> Path:
    """A job file, and the folder for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
