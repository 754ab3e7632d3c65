"""The encoder, the cache of models, and the embedded voice."""

import os
from collections.abc import Iterator
from pathlib import Path

from pocket_batch.audio import ffmpeg
from pocket_batch.config import cache_folder
from pocket_batch.data import EngineSpec, Request
from pocket_batch.engine.base import make_engine
from pocket_batch.errors import OutputError, PocketBatchError
from pocket_batch.jobs.doctor.checks import Check, ok, problem, warning
from pocket_batch.jobs.doctor.places import nearest_folder
from pocket_batch.jobs.doctor.subject import Subject
from pocket_batch.jobs.named import voice_by_name
from pocket_batch.jobs.voice import EMBEDDED
from pocket_batch.models import hub
from pocket_batch.models.files import find_weights
from pocket_batch.models.location import MIRROR_VARIABLE, mirror_folder, parse_hub
from pocket_batch.models.presets import ModelSource, load_presets
from pocket_batch.words import size


def encoder(subject: Subject) -> Iterator[Check]:
    """Whether ffmpeg is there and runs."""
    try:
        program = ffmpeg.find_ffmpeg(subject.system_ffmpeg)
        told = ffmpeg.run([program, "-version"], Path("a file")).stdout.decode("utf-8", "replace")
    except OutputError as error:
        yield problem("ffmpeg", str(error))
        return
    words = told.split()
    yield ok("ffmpeg", f"{words[2] if len(words) > 2 else 'it'} runs: {program}")


def cache() -> Iterator[Check]:
    """The folders of models: permission, size, and what is in them."""
    from huggingface_hub import constants

    folder = Path(constants.HF_HUB_CACHE).expanduser()
    here = (
        ", ".join(source.name for source in load_presets().values() if _is_here(source)) or "none"
    )
    used = sum(_size(path) for path in [*_repositories(folder), cache_folder()])
    found = f"{folder} with {size(used)} of ours; models here: {here}"
    blocked = [
        path for path in (folder, cache_folder()) if not os.access(nearest_folder(path), os.W_OK)
    ]
    if blocked:
        names = " and ".join(map(str, blocked))
        advice = "nothing can be downloaded: set HF_HOME and XDG_CACHE_HOME to folders of yours"
        yield warning("model cache", f"{found}; {names} cannot be written", advice)
    else:
        yield ok("model cache", found)
    yield from _mirror()


def _mirror() -> Iterator[Check]:
    folder = mirror_folder()
    if folder is None:
        return
    if folder.is_dir():
        yield ok("mirror", f"{MIRROR_VARIABLE} is {folder}, which is looked at first")
    else:
        found = f"{MIRROR_VARIABLE} is {folder}, and there is no such folder"
        yield warning("mirror", found, "mount it, correct the variable, or unset it")


def _is_here(source: ModelSource) -> bool:
    return find_weights(source) is not None and hub.find(source.tokenizer) is not None


def _repositories(folder: Path) -> set[Path]:
    """The folders of the hub's cache that hold files of released models."""
    found = set()
    for source in load_presets().values():
        config = source.config
        locations = (
            config.weights_path,
            config.weights_path_without_voice_cloning,
            source.tokenizer,
        )
        for file in (parse_hub(location) for location in locations if location):
            if file is not None:
                found.add(folder / "--".join(["models", *file.repository.split("/")]))
    return found


def _size(folder: Path) -> int:
    """Bytes of the files in a folder, links not counted."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            if not path.is_symlink():
                total += path.stat().st_size
    return total


def embedded_voice() -> Iterator[Check]:
    """Whether the voice that comes with the package speaks."""
    voice = voice_by_name(EMBEDDED)
    try:
        engine = make_engine(EngineSpec(voice.engine))
        engine.load([voice], 1)
        request = Request("doctor", "", "Good evening.", voice, 0)
        (output,) = engine.generate([request])
    except PocketBatchError as error:
        yield problem("embedded voice", str(error))
        return
    seconds = output.audio.size / engine.sampling_rate_hz
    if seconds > 0:
        yield ok("embedded voice", f"{EMBEDDED} spoke {seconds:.1f} s in {output.compute_s:.2f} s")
    else:
        yield problem("embedded voice", f"{EMBEDDED} gave no sound", "install the package again")
