"""Every error a user, a file or a model can cause, each kind with the exit code of the command.

A message says what was wanted, what was found, where, and what to do next, a sentence each.
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class PocketBatchError(Exception):
    """Base of all expected errors; the CLI prints the message and exits with `exit_code`."""

    exit_code = 1


class UsageError(PocketBatchError):
    """The command or a configuration file asks for something that does not exist."""

    exit_code = 2


class InputError(PocketBatchError):
    """An input is refused: missing, unreadable, encrypted, unsafe or without text."""

    exit_code = 3


class ModelUnavailableError(PocketBatchError):
    """A model, a voice or the package that an engine needs is not on this machine."""

    exit_code = 4


class OutputError(PocketBatchError):
    """The result cannot be written: no permission, no space, no encoder, or it already exists."""

    exit_code = 5


class AudioError(OutputError):
    """Samples cannot be processed as asked, such as silence that should be normalised."""


class DamagedAudioError(OutputError):
    """The audio of an utterance in the work folder is not what was stored there."""


class LockedError(PocketBatchError):
    """Another run holds the work folder."""

    exit_code = 6


class PartialRunError(PocketBatchError):
    """The run finished, but some items failed; the report lists them."""

    exit_code = 10


class StoppedError(PocketBatchError):
    """Stopped by a signal or a deadline with all work saved; the same command goes on."""

    exit_code = 75


class NoSpaceError(OutputError):
    """A disk is full: no fault of the input that was in work, and it goes on when there is room."""


def no_space(target: Path) -> NoSpaceError:
    """The error for a full disk."""
    return NoSpaceError(
        f"{target} could not be written: no space is left on its disk. "
        "What was done before is kept: free some space and run the same command again."
    )


@contextmanager
def writing(target: Path) -> Iterator[None]:
    """Turn errors of the operating system while writing `target` into an `OutputError`."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise no_space(target) from error
        reason = error.strerror or str(error)
        raise OutputError(
            f"{target} could not be written: {reason} ({error.filename or target.parent}). "
            "Choose another folder, or change its permissions; what was done before is kept."
        ) from error
