"""The states of the voices of one model: found, downloaded, made from recordings, and cached."""

import hashlib
import os
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pocket_batch.audio.prompt import examine_prompt, prepare_prompt
from pocket_batch.audio.recording import read_prompt
from pocket_batch.data import Voice
from pocket_batch.engine.base import Progress, Samples
from pocket_batch.engine.origin import Origin, not_here
from pocket_batch.engine.origin import find_origin as find_origin
from pocket_batch.errors import InputError, ModelUnavailableError, OutputError
from pocket_batch.models import hub

if TYPE_CHECKING:
    from pocket_batch.engine.voice import VoiceState
    from pocket_batch.models.presets import ModelSource

PREPARATION = 1  # counts up when `prepare_prompt` makes other samples of the same recording
MAX_MEMORY_BYTES = 256_000_000  # a prompt of 30 s takes 18 MB in the models of six layers
MAX_DISK_BYTES = 1_000_000_000
_STALE_S = 3600  # a half-written file this old belongs to a process that died


_Identity = tuple[str, tuple[tuple[str, str], ...]]  # a voice's name and parameters


class VoiceStates:
    """The voices of one model.

    A voice of the engine `pocket` says in its `parameters` where its sound comes from:

    - `state`: a state file. It fits only the model that made it, which `model` may name
    - `pocket_voice`: the name of a state that was released with the models
    - `prompt`: a recording, which the model encodes

    The first of these that serves this model is used. A voice without any of them is taken to be
    a released one of its own name. What a voice was when it was first used it stays, as long as
    this object lives, whatever becomes of its file.
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
        self._used: dict[_Identity, tuple[Origin, Path, str]] = {}  # with their keys
        self._checked: dict[Path, tuple[str, ...]] = {}  # recordings, with their warnings

    def key(self, voice: Voice) -> str:
        """SHA-256 of all that the sound of a voice depends on; reads no weights, no network.

        Raises:
            ModelUnavailableError: the voice is not on this machine, or not for this model.
        """
        return self._use(voice)[2]

    def check(self, voice: Voice) -> tuple[str, ...]:
        """Make sure that a voice is on this machine, and its recording, if it is one, usable.

        Returns:
            Warnings about the recording, as sentences.

        Raises:
            ModelUnavailableError: it is not here, or not for this model.
            InputError: its recording is damaged, or not good enough for a voice.
        """
        origin, path = self._find(voice)
        if origin.kind == "state":
            return ()
        if path not in self._checked:
            report, _ = examine_prompt(path)
            if report.refusal:
                raise InputError(f"{path}: {report.refusal}")
            self._checked[path] = report.warnings
        return self._checked[path]

    def fetch(self, voice: Voice, progress: Progress) -> None:
        """Put the state of a voice, or its recording, on this machine, unless it is here.

        Raises:
            ModelUnavailableError: it cannot be had; the message says what to do.
            OutputError: no space, or no permission.
        """
        origin = find_origin(self._source, voice)
        if hub.find(origin.location) is None:
            if not origin.is_remote:
                raise not_here(voice, origin)
            hub.fetch(origin.location, progress, model=self._source.name)

    def get(self, voice: Voice) -> "VoiceState":
        """The state of a voice, from memory, from the cache on disk, or made now.

        Raises:
            ModelUnavailableError: it is not on this machine, does not fit this model, or is a
                recording and the weights that encode one are not here.
            InputError: its recording is damaged or not usable.
        """
        origin, path, key = self._use(voice)
        if key not in self._held:
            self._held[key] = self._load(origin, path, key)
        self._held.move_to_end(key)
        self._free_memory()
        return self._held[key]

    def at_hand(self, voice: Voice) -> "VoiceState | None":
        """The state of a voice if it needs no encoding, else None.

        Raises:
            ModelUnavailableError: the voice is not on this machine, or does not fit this model.
        """
        origin, _, key = self._use(voice)
        if key in self._held or origin.kind == "state":
            return self.get(voice)
        return self._read_spilled(self._spilled(key))

    def _use(self, voice: Voice) -> tuple[Origin, Path, str]:
        """Where the sound of a voice comes from and its key, as they were when first asked for."""
        identity = (voice.name, tuple(sorted(voice.parameters.items())))
        if identity not in self._used:
            origin, path = self._find(voice)
            self._used[identity] = (origin, path, self._key(origin, path))
        return self._used[identity]

    def _find(self, voice: Voice) -> tuple[Origin, Path]:
        """Where the sound of a voice comes from, and that file on this machine."""
        origin = find_origin(self._source, voice)
        path = hub.find(origin.location)
        if path is None:
            raise not_here(voice, origin)
        return origin, path

    def _key(self, origin: Origin, path: Path) -> str:
        try:
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ModelUnavailableError(f"{path} cannot be read ({error.strerror}).") from error
        if origin.kind == "state":
            return content
        made_of = f"prompt {content} {self._identity} preparation {PREPARATION}"
        return hashlib.sha256(made_of.encode()).hexdigest()

    def _load(self, origin: Origin, path: Path, key: str) -> "VoiceState":
        """Read a state, or make it of a recording unless that was done before.

        Raises:
            ModelUnavailableError: the file is not what it was when the voice was first used.
        """
        from pocket_batch.engine.voice import is_usable, read_state

        spilled = self._spilled(key)
        state = self._read_spilled(spilled) if origin.kind == "prompt" else None
        if state is not None:
            return state
        if self._key(origin, path) != key:
            raise ModelUnavailableError(
                f"{path} was changed while its voice was in use. Run the same command again: it "
                "then speaks everything with the new voice."
            )
        if origin.kind == "state":
            return read_state(path, *self._shape)
        samples, _ = prepare_prompt(*read_prompt(path))
        state = self._encode(samples)
        if not is_usable(state):
            raise ModelUnavailableError(
                f"The model `{self._source.name}` made a state of {path} that holds values which "
                "are not numbers. Its weights are damaged: `pocket-batch models verify` looks."
            )
        self._spill(state, spilled)
        return state

    def _spilled(self, key: str) -> Path:
        return self._folder / f"{key}.safetensors"

    def _read_spilled(self, path: Path) -> "VoiceState | None":
        """A state that was made before; None when it is damaged or gone."""
        from pocket_batch.engine.voice import read_state

        try:
            state = read_state(path, *self._shape)
        except ModelUnavailableError:
            return None
        with suppress(OSError):  # the cache may be for reading alone
            os.utime(path)  # the time of its last use
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
