"""`pocket-batch voices remove NAME`: take away a voice that was added."""

import argparse

from pocket_batch.config import load_voices, user_folder
from pocket_batch.errors import OutputError, UsageError, writing
from pocket_batch.jobs.named import printable, voice_by_name


def remove(args: argparse.Namespace) -> int:
    """Remove the files of a voice of the user's own.

    Raises:
        UsageError: it came with the package.
        ModelUnavailableError: there is no such voice.
        OutputError: it is described in a file that `voices add` did not write, or is in use.
    """
    folder = user_folder() / "voices"
    name = voice_by_name(args.name).name  # also: no path
    own = folder / f"{name}.yaml"
    if not own.is_file():
        if name in load_voices(folder / "none")[0]:
            raise UsageError(f"The voice `{printable(name)}` came with the package and stays.")
        raise OutputError(
            f"The voice `{printable(name)}` is described in another file of {folder}, which "
            "`voices add` did not write. Remove it there."
        )
    with writing(own):
        for suffix in (".yaml", ".flac", ".safetensors"):
            own.with_suffix(suffix).unlink(missing_ok=True)
    print(f"The voice `{name}` is removed.")
    if name in load_voices()[0]:
        print(f"There is a shipped voice `{name}`, which is used from now on.")
    return 0
