"""The engine on the PyPI package hibari-tts: English, one 8 MB voice inside the package.

It speaks about 140 times faster than real time on one core, and needs no network: the voice
`heart` comes with the package, and another voice has to be on the machine before a run starts.
"""

import hashlib
import time
from collections.abc import Iterable
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pocket_batch.data import EngineSpec, Request, Voice
from pocket_batch.engine.base import Output
from pocket_batch.engine.in_threads import ThreadedEngine
from pocket_batch.engine.ipa import with_letters_of_hibari
from pocket_batch.errors import ModelUnavailableError

if TYPE_CHECKING:
    from hibari import Hibari


class HibariEngine(ThreadedEngine):
    """A model and its text analysis hold no state between calls, so lanes may share them.

    `Voice.parameters["hibari_voice"]` is the package's name of the voice.
    """

    name = "hibari"
    language = ""
    sampling_rate_hz = 24_000
    max_tokens = 350  # the package cuts longer sentences at clauses anyway, and loses nothing
    batch_size = 1
    is_concurrent = False
    varies = False  # a seed only changes faint noise
    takes_ipa = True
    x_realtime = 250.0
    memory_bytes = 900_000_000  # of two lanes at their longest texts

    def __init__(self, spec: EngineSpec) -> None:
        for module, package in (("hibari", "hibari-tts"), ("onnxruntime", "onnxruntime")):
            if find_spec(module) is None:
                raise ModelUnavailableError(
                    f"The engine `hibari` needs the package {package}, which is not installed. "
                    f"Run `pip install {package}`."
                )
        self.spec = spec
        self.version = metadata.version("hibari-tts")
        self._models: dict[str, Hibari] = {}

    def check(self, voices: Iterable[Voice]) -> None:
        """Look for the model file of each voice.

        Raises:
            ModelUnavailableError: the package has no such voice, or its file is not here.
        """
        for voice in voices:
            _model_path(voice)

    def voice_key(self, voice: Voice) -> str:
        """SHA-256 of the voice's model file.

        Raises:
            ModelUnavailableError: the package has no such voice, or its file is not here.
        """
        return hashlib.sha256(_model_path(voice).read_bytes()).hexdigest()

    def _speak(self, request: Request) -> Output:
        return _speak(self._model(request.voice), request)

    def _model(self, voice: Voice) -> "Hibari":
        """The loaded model of a voice; voices of one accent share the analysis of text."""
        name = _package_name(voice)
        if name not in self._models:
            path = _model_path(voice)  # before the package would download it
            from hibari import Hibari
            from hibari.voices import VOICES

            same_accent = (
                model.g2p
                for other, model in self._models.items()
                if VOICES[other]["british"] == VOICES[name]["british"]
            )
            model = Hibari(voice=name, model=str(path), threads=1, g2p=next(same_accent, None))
            assert model.g2p.oov is not None  # loads it now: lanes must not race for it
            self._models[name] = model
        return self._models[name]


def _speak(model: "Hibari", request: Request) -> Output:
    """Speak one text in the calling thread; empty audio when nothing in it has a sound."""
    started = time.perf_counter()
    text = with_letters_of_hibari(without_zeroth(request.text), _is_british(model))
    audio = np.asarray(model(text, seed=request.seed), np.float32)  # (S,)
    return Output(request.key, audio, "eos", time.perf_counter() - started)


def without_zeroth(text: str) -> str:
    """A text in which no name after a title is taken for a Roman numeral.

    hibari 0.2.1 reads `King Charles` as "King the zeroth Charles", as any word after a title or a
    name of kings that begins with one of I V X L C. A word joiner, which has no sound, parts them.

    >>> without_zeroth("King Charles, Henry VIII") == f"King {chr(0x2060)}Charles, Henry VIII"
    True
    """
    from hibari.g2p.normalize import RE_ROMAN_C, RE_ROMAN_O

    for numeral in (RE_ROMAN_C, RE_ROMAN_O):
        text = numeral.sub(lambda found: found[0] if found[2] else found[0] + "\u2060", text)
    return text


def _is_british(model: "Hibari") -> bool:
    from hibari.voices import VOICES

    return bool(VOICES[model.voice]["british"])


def _package_name(voice: Voice) -> str:
    return voice.parameters.get("hibari_voice", voice.name)


def _model_path(voice: Voice) -> Path:
    """Where the model file of a voice is on this machine; nothing is downloaded."""
    from hibari.voices import VOICES, voice_path

    name = _package_name(voice)
    if name not in VOICES:
        raise ModelUnavailableError(
            f"The voice `{voice.name}` asks hibari for `{name}`, which it does not have. "
            f"Its voices are {', '.join(sorted(VOICES))}."
        )
    try:
        return Path(voice_path(name, download_missing=False))
    except FileNotFoundError as error:
        raise ModelUnavailableError(
            f"The voice `{voice.name}` needs the file {error}, which is not on this machine. "
            f'While online, run `hibari "Hello." --voice {name} -o hello.wav` once: it gets it.'
        ) from error
