"""What to do when a file of a model cannot be had: the error that says it."""

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

from pocket_batch.errors import ModelUnavailableError
from pocket_batch.models.download import TransferError
from pocket_batch.models.location import (
    MIRROR_VARIABLE,
    HubFile,
    mirror_folder,
    mirror_remark,
    parse_hub,
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One file that somebody asks for.

    Attributes:
        location: where it is.
        sha256: of its content, empty when unknown.
        model: whose file it is.
        cloning: it is wanted for cloning voices.
    """

    location: str
    sha256: str = ""
    model: str = "NAME"
    cloning: bool = False

    @property
    def command(self) -> str:
        """The command that gets the file, with the options that it takes."""
        path = PurePosixPath(self.location.partition("@")[0])
        is_voice = path.parent.name == "embeddings" and path.suffix == ".safetensors"
        return pull_command(self.model, [path.stem] if is_voice else [], self.cloning)


def pull_command(model: str, voices: Iterable[str] = (), cloning: bool = False) -> str:
    """`english`, `[marius]` -> `pocket-batch models pull english --voice marius`."""
    options = [word for voice in voices for word in ("--voice", voice)]
    cloning_option = ["--cloning"] * cloning
    return shlex.join(["pocket-batch", "models", "pull", model, *cloning_option, *options])


def not_on_disk(wanted: Wanted) -> ModelUnavailableError:
    """The error for a path: nobody but the user can put a file there."""
    return ModelUnavailableError(
        f"The file {wanted.location:.300} of the model `{wanted.model}` does not exist. "
        "Put it there, or correct its place in the configuration of the model."
    )


def not_downloaded(error: TransferError, wanted: Wanted) -> ModelUnavailableError:
    """The error for a file of a server: what went wrong, and what to do next."""
    file = parse_hub(wanted.location)
    if not file:
        return ModelUnavailableError(
            f"{wanted.location:.300} could not be downloaded: {error}. "
            "Check the address and the connection and run the same command again."
        )
    what = f"{file.path} of {file.repository} (model `{wanted.model}`)"
    if error.status == 401 or error.hub_code == "GatedRepo":
        return ModelUnavailableError(
            f"{what} needs permission: the hub answered {error.status}. {permission(file)}. "
            "If you want no cloning: the voices that come with the model work without it."
        )
    if error.status == 404 and error.hub_code:
        return ModelUnavailableError(
            f"{what} is not on the hub, or not in its revision {file.revision or 'main'}. "
            "Check the name of the model or the voice: `pocket-batch voices` lists them."
        )
    mirror, remark = mirror_folder(), mirror_remark()
    nor = f", nor in {mirror} ({MIRROR_VARIABLE})" if mirror and not remark else ""
    return ModelUnavailableError(
        f"{what} is not on this machine{nor}, and it could not be downloaded: {error}.{remark} "
        f"Connect and run `{wanted.command}`, or run that with `--to FOLDER` on a machine that "
        f"is connected, copy the folder here and set {MIRROR_VARIABLE} to it."
    )


def permission(file: HubFile) -> str:
    """How to get into a gated repository, without a full stop."""
    return (
        f"Accept the terms on the page of {file.repository}, "
        "then run `hf auth login` or set HF_TOKEN"
    )
