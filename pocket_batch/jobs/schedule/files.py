"""The files of a scheduler: made of templates, printed, or written to a folder."""

import shlex
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from string import Template
from typing import Protocol

from pocket_batch.config import shipped
from pocket_batch.errors import OutputError, UsageError, writing
from pocket_batch.jobs.schedule.nightly import Nightly
from pocket_batch.manifest import write_atomic

SCHEDULERS = {  # each has `made(nightly) -> Made`
    "systemd": "pocket_batch.jobs.schedule.systemd",
    "cron": "pocket_batch.jobs.schedule.cron",
    "slurm": "pocket_batch.jobs.schedule.slurm",
    "k8s": "pocket_batch.jobs.schedule.k8s",
    "ray": "pocket_batch.jobs.schedule.ray",
}


_MACHINES = ("shards", "nodes", "cpus")
_OPTIONS = {"slurm": _MACHINES, "k8s": (*_MACHINES, "image", "time_zone")}  # besides `at`


@dataclass(frozen=True, slots=True)
class Made:
    """Files by name, and the commands that put them to work, run in their folder.

    `notes` are sentences on what a person has to see to.
    """

    files: dict[str, str]
    commands: tuple[str, ...]
    notes: tuple[str, ...] = ()


class _Module(Protocol):
    def made(self, nightly: Nightly) -> Made: ...


class _Fields(Template):
    """`string.Template` with `@{field}` alone, as shells have their own use for dollar signs."""

    pattern = r"@\{(?:(?P<braced>[a-z_]+)|(?P<named>(?!))|(?P<escaped>(?!))|(?P<invalid>))\}"  # type: ignore[assignment]


def make_files(kind: str, nightly: Nightly) -> Made:
    """What a scheduler, a key of `SCHEDULERS`, needs for a job.

    Raises:
        UsageError: the job or its paths cannot be expressed for it, or an option is not for it.
    """
    for name in _OPTIONS["k8s"]:
        if getattr(nightly.options, name) is not None and name not in _OPTIONS.get(kind, ()):
            others = " and ".join(other for other, names in _OPTIONS.items() if name in names)
            raise UsageError(f"--{name.replace('_', '-')} is for {others}, not for {kind}.")
    module: _Module = import_module(SCHEDULERS[kind])
    return module.made(nightly)


def filled(template: str, **fields: object) -> str:
    """A shipped template, such as `cron/job.cron`, with its fields filled in."""
    path = shipped("jobs/schedulers") / template
    return _Fields(path.read_text(encoding="utf-8")).substitute(fields)


def write_files(made: Made, folder: Path, overwrite: bool) -> list[str]:
    """Write the files; one that is there and the same is left alone.

    Returns:
        The names of those written.

    Raises:
        OutputError: one is there and differs, and `overwrite` is not set (none is written then), or
            the folder cannot be written.
    """
    old = {name: _content(folder / name) for name in made.files}
    different = [name for name, text in made.files.items() if old[name] not in (None, text)]
    if different and not overwrite:
        raise OutputError(
            f"{folder / different[0]} is there and differs, so nothing was written. "
            "Compare it with what is printed without -o, or replace it with --overwrite."
        )
    changed = [name for name, text in made.files.items() if old[name] != text]
    for name in changed:
        path = folder / name
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, made.files[name].encode())
        if made.files[name].startswith("#!"):
            with writing(path):
                path.chmod(0o755)
    return changed


def _content(path: Path) -> str | None:
    """What is in a file; None when there is none."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(f"{path} is there and cannot be read ({error}).") from error


def printed(made: Made) -> str:
    """All files as one text; of several, each has a line with its name before it."""
    if len(made.files) == 1:
        return next(iter(made.files.values()))
    texts: list[str] = []
    for name, text in made.files.items():
        rule = "---\n" if name.endswith(".yaml") and texts else ""
        texts.append(f"{rule}# == {name}\n{text}")
    return "\n".join(texts)


def next_steps(made: Made, folder: Path) -> str:
    """What to type now, so that it can be copied."""
    lines = [f"cd {shlex.quote(str(folder))}", *made.commands]
    return "\n".join([*made.notes, "Next:", *(f"  {line}" for line in lines)])
