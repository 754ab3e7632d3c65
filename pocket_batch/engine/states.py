"""The states of the voices of one model: found, downloaded, made from recordings, and cached."""

import hashlib
import os
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from pocket_batch.audio.prompt import prepare_prompt, read_prompt
from pocket_batch.config import user_folder
from pocket_batch.data import Voice
from pocket_batch.engine.base import Progress, Samples
from pocket_batch.errors import ModelUnavailableError, OutputError
from pocket_batch.models import hub

if TYPE_CHECKING:
    from pocket_batch.engine.voice import VoiceState
    from pocket_batch.models.presets import ModelSource

PREPARATION = 1  # counts up when `prepare_prompt` makes other samples of the same recording
MAX_MEMORY_BYTES = 256_000_000  # a prompt of 30 s takes 18 MB in the models of six layers
MAX_DISK_BYTES = 1_000_000_000
_STALE_S = 3600  # a half-written file this old belongs to a process that died


class Origin(NamedTuple):
    """Where the sound of a voice comes from: a state to load, or a recording to encode."""

    kind: Literal["state", "prompt"]
    location: str


class VoiceStates:
    """The voices of one model.

    A voice of the engine `pocket` says in its `parameters` where its sound comes from:

    - `state`: a state file. It fits only the model that made it, which `model` may name
    - `pocket_voice`: the name of a state that was released with the models
    - `prompt`: a recording, which the model encodes

    The first of these that serves this model is used. A voice without any of them is taken to be
    a released one of its own name.
    """

    def __init__(
        self,
        source: "ModelSource",
        identity: str,
        encode: Callable[[Samples], "VoiceState"],
        shape: tuple[int, int, int],
        cache_folder: Path,
        max_memory_bytes: int = MAX_MEMORY_BYTES,
        max_disk_bytes: int = MAX_DISK_BYTES,
    ) -> None:
        """Nothing is read yet.

        Args:
            source: the model, with the place of its released states.
            identity: of the weights that `encode` uses; part of the keys of recordings.
            encode: makes a state of a prepared prompt (num_samples,) at 24 kHz; raises
                ModelUnavailableError when the weights on this machine cannot.
            shape: layers of the backbone, heads of keys and values, width of a head.
            cache_folder: where states that were made of recordings are kept; it is made when
                needed, and models can share it.
            max_memory_bytes: of states held at a time; the last one used is always held.
            max_disk_bytes: of the states in `cache_folder`.
        """
        self._source = source
        self._identity = identity
        self._encode = encode
        self._shape = shape
        self._folder = cache_folder
        self._max_memory_bytes = max_memory_bytes
        self._max_disk_bytes = max_disk_bytes
        self._held: OrderedDict[str, VoiceState] = OrderedDict()  # the last one used is last
        self._hashes: dict[tuple[str, int, int], str] = {}

    def key(self, voice: Voice) -> str:
        """SHA-256 of all that the sound of a voice depends on; reads no weights, no network.

        Raises:
            ModelUnavailableError: the voice is not on this machine, or not for this model.
        """
        origin, path = self._find(voice)
        return self._key(origin, path)

    def check(self, voice: Voice) -> None:
        """Make sure that a voice is on this machine, and its recording, if it is one, usable.

        Raises:
            ModelUnavailableError: it is not here, or not for this model.
            InputError: its recording is damaged, too short or silent.
        """
        origin, path = self._find(voice)
        if origin.kind == "prompt":
            prepare_prompt(*read_prompt(path))

    def fetch(self, voice: Voice, progress: Progress) -> None:
        """Put the state of a voice, or its recording, on this machine, unless it is here.

        Raises:
            ModelUnavailableError: it cannot be had; the message says what to do.
            OutputError: no space, or no permission.
        """
        origin = find_origin(self._source, voice)
        if hub.find(origin.location) is None:
            if not _is_remote(origin):
                raise _not_here(voice, origin)
            hub.fetch(origin.location, progress, model=self._source.name)

    def get(self, voice: Voice) -> "VoiceState":
        """The state of a voice, from memory, from the cache on disk, or made now.

        Raises:
            ModelUnavailableError: it is not on this machine, does not fit this model, or is a
                recording and the weights that encode one are not here.
            InputError: its recording is damaged or not usable.
        """
        origin, path = self._find(voice)
        key = self._key(origin, path)
        if key not in self._held:
            self._held[key] = self._load(origin, path, key)
        self._held.move_to_end(key)
        self._free_memory()
        return self._held[key]

    def _find(self, voice: Voice) -> tuple[Origin, Path]:
        """Where the sound of a voice comes from, and that file on this machine."""
        origin = find_origin(self._source, voice)
        path = hub.find(origin.location)
        if path is None:
            raise _not_here(voice, origin)
        return origin, path

    def _key(self, origin: Origin, path: Path) -> str:
        content = self._hash(path)
        if origin.kind == "state":
            return content
        made_of = f"prompt {content} {self._identity} preparation {PREPARATION}"
        return hashlib.sha256(made_of.encode()).hexdigest()

    def _hash(self, path: Path) -> str:
        """SHA-256 of a file; read again only when the file has changed."""
        try:
            status = path.stat()
            known = (str(path), status.st_size, status.st_mtime_ns)
            if known not in self._hashes:
                with path.open("rb") as file:
                    self._hashes[known] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ModelUnavailableError(f"{path} cannot be read ({error.strerror}).") from error
        return self._hashes[known]

    def _load(self, origin: Origin, path: Path, key: str) -> "VoiceState":
        """Read a state, or make it of a recording unless that was done before."""
        from pocket_batch.engine.voice import read_state

        if origin.kind == "state":
            return read_state(path, *self._shape)
        spilled = self._folder / f"{key}.safetensors"
        with suppress(ModelUnavailableError, OSError):  # damaged or gone: made anew below
            if spilled.exists():
                state = read_state(spilled, *self._shape)
                os.utime(spilled)  # the time of its last use
                return state
        samples, _ = prepare_prompt(*read_prompt(path))
        state = self._encode(samples)
        self._spill(state, spilled)
        return state

    def _spill(self, state: "VoiceState", path: Path) -> None:
        """Keep a state on disk, if the disk lets us; without it, it is made again next time."""
        from pocket_batch.engine.voice import write_state

        with suppress(OSError, OutputError):
            self._folder.mkdir(parents=True, exist_ok=True)
            write_state(state, path)
            self._free_disk(path)

    def _free_memory(self) -> None:
        """Let go of the states that were not used for longest."""
        num_bytes = sum(state.num_bytes for state in self._held.values())
        while num_bytes > self._max_memory_bytes and len(self._held) > 1:
            _, state = self._held.popitem(last=False)
            num_bytes -= state.num_bytes

    def _free_disk(self, newest: Path) -> None:
        """Remove the states that were not used for longest, but never the one just written."""
        now = time.time()
        files: list[tuple[float, int, Path]] = []  # last use, size, path
        for path in self._folder.glob("*.safetensors*"):
            with suppress(FileNotFoundError):  # another process may have removed it
                status = path.stat()
                if path.suffix == ".safetensors" and path != newest:
                    files.append((status.st_mtime, status.st_size, path))
                elif path.suffix == ".part" and now - status.st_mtime > _STALE_S:
                    path.unlink()
        num_bytes = newest.stat().st_size + sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if num_bytes <= self._max_disk_bytes:
                return
            path.unlink(missing_ok=True)
            num_bytes -= size


def find_origin(source: "ModelSource", voice: Voice) -> Origin:
    """Where the sound of a voice comes from; what was downloaded before makes no difference.

    The recording of a released voice is used when the model's folder has no state of it.

    Raises:
        ModelUnavailableError: the voice is not for this model.
    """
    given = voice.parameters
    made_by = given.get("model", source.name)
    if "state" in given and _is_same(made_by, source.name):
        return Origin("state", _absolute(given["state"]))
    name = given.get("pocket_voice", "" if {"state", "prompt"} & set(given) else voice.name)
    if name and source.states:
        released = Origin("state", source.state(name))
        if "prompt" not in given or _is_remote(released) or hub.find(released.location):
            return released
    if "prompt" in given:
        return Origin("prompt", _absolute(given["prompt"]))
    if "state" in given:
        raise ModelUnavailableError(
            f"The voice `{voice.name}` is not for the model `{source.name}`: its state was made "
            f"by `{made_by}`, and it has no recording. "
            f"Use --model {made_by}, or add the voice from a recording."
        )
    raise ModelUnavailableError(
        f"The model `{source.name}` has no voices of its own, such as `{voice.name}`. "
        "Add a voice from a recording: `pocket-batch voices add NAME FILE`."
    )


def _is_same(model: str, other: str) -> bool:
    """Whether two names, or paths of folders, are of one model."""
    return Path(model).expanduser().resolve() == Path(other).expanduser().resolve()


def _absolute(location: str) -> str:
    """A location as it is; a relative path is one in the user's folder of voices."""
    if "://" in location:
        return location
    return str(user_folder() / "voices" / Path(location).expanduser())


def _is_remote(origin: Origin) -> bool:
    return "://" in origin.location


def _not_here(voice: Voice, origin: Origin) -> ModelUnavailableError:
    """What is missing, and what to do about it."""
    what = "its state" if origin.kind == "state" else "its recording"
    if _is_remote(origin):
        return ModelUnavailableError(
            f"The voice `{voice.name}` is not on this machine: {what} {origin.location} was not "
            "downloaded. While online, a run with this voice downloads it once."
        )
    return ModelUnavailableError(
        f"The voice `{voice.name}` cannot speak: {what} {origin.location} does not exist. "
        "Put the file back, or add the voice again with `pocket-batch voices add`."
    )
