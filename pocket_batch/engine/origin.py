"""Where the sound of a voice comes from: a state that was made, or a recording."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from pocket_batch.config import user_folder
from pocket_batch.data import Voice
from pocket_batch.errors import ModelUnavailableError
from pocket_batch.models import hub

if TYPE_CHECKING:
    from pocket_batch.models.presets import ModelSource


class Origin(NamedTuple):
    """Where the sound of a voice comes from: a state to load, or a recording to encode."""

    kind: Literal["state", "prompt"]
    location: str

    @property
    def is_remote(self) -> bool:
        """Whether it has to be downloaded."""
        return "://" in self.location


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
        if "prompt" not in given or released.is_remote or hub.find(released.location):
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


def recording_of(voice: Voice) -> Path | None:
    """The recording that a voice was made from, if it says so and that is on this machine."""
    prompt = voice.parameters.get("prompt", "")
    return hub.find(_absolute(prompt)) if prompt else None


def _is_same(model: str, other: str) -> bool:
    """Whether two names, or paths of folders, are of one model."""
    return Path(model).expanduser().resolve() == Path(other).expanduser().resolve()


def _absolute(location: str) -> str:
    """A location as it is; a relative path is one in the user's folder of voices."""
    if "://" in location:
        return location
    return str(user_folder() / "voices" / Path(location).expanduser())


def not_here(voice: Voice, origin: Origin) -> ModelUnavailableError:
    """What is missing, and what to do about it."""
    what = "its state" if origin.kind == "state" else "its recording"
    if origin.is_remote:
        return ModelUnavailableError(
            f"The voice `{voice.name}` is not on this machine: {what} {origin.location} was not "
            "downloaded. While online, a run with this voice downloads it once."
        )
    return ModelUnavailableError(
        f"The voice `{voice.name}` cannot speak: {what} {origin.location} does not exist. "
        "Put the file back, or add the voice again with `pocket-batch voices add`."
    )
