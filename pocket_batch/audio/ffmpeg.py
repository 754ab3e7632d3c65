"""Running ffmpeg: finding it, encoding piped PCM, decoding, and what its failures mean."""

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from pocket_batch.audio.pcm import Pcm
from pocket_batch.errors import OutputError, no_space

QUIET = ("-hide_banner", "-nostdin", "-v", "error")
MESSAGE_LINES = 3  # of ffmpeg's own words, the last ones, in an error


def find_ffmpeg(use_system: bool = False) -> str:
    """Path of the ffmpeg program: the one in the wheel, or the system's if asked.

    Raises:
        OutputError: it is not there.
    """
    if use_system:
        found = shutil.which("ffmpeg")
        if found is None:
            raise OutputError(
                "The system's ffmpeg was asked for, and there is none on the PATH. "
                "Install ffmpeg, or leave the choice out to use the one that came along."
            )
        return found
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError) as error:
        raise OutputError(
            "ffmpeg is needed to write audio files, and the package imageio-ffmpeg brings none "
            "for this machine. Install ffmpeg and ask for the system's."
        ) from error


def pcm_input(sampling_rate_hz: int) -> list[str]:
    """Input options for mono int16 samples on standard input."""
    return ["-f", "s16le", "-ar", str(sampling_rate_hz), "-ac", "1", "-i", "pipe:0"]


def encode(pieces: Iterable[Pcm | bytes], arguments: Sequence[str], target: Path) -> None:
    """Feed all pieces, samples or bytes, to the standard input of an ffmpeg command.

    Args:
        arguments: the whole command, the program first.
        target: the file that errors are about.

    Raises:
        OutputError: ffmpeg cannot be started, or it failed; the reason is in the message.
    """
    with tempfile.TemporaryFile() as messages:  # a pipe for them could fill and block
        try:
            process = subprocess.Popen(
                arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=messages,
                start_new_session=True,  # Ctrl-C is for us; it must not end ffmpeg first
            )
        except OSError as error:
            raise _not_started(error) from error
        try:
            is_complete = _feed(process, pieces)
        except BaseException:
            process.kill()
            process.wait()
            raise
        return_code = process.wait()
        messages.seek(0)
        check_exit(return_code, messages.read(), target)
    if not is_complete:
        raise OutputError(f"{target} could not be written: the encoder stopped before the end.")


def _feed(process: subprocess.Popen[bytes], pieces: Iterable[Pcm | bytes]) -> bool:
    """Write everything and close the pipe; False when ffmpeg ended before it had read all."""
    pipe = process.stdin
    assert pipe is not None
    try:
        for piece in pieces:
            data = piece if isinstance(piece, bytes) else np.ascontiguousarray(piece, "<i2").data
            try:
                pipe.write(data)
            except (BrokenPipeError, ConnectionResetError):
                return False
    finally:
        with suppress(BrokenPipeError):  # closing flushes
            pipe.close()
    return True


def decode(path: Path, sampling_rate_hz: int | None = None, use_system: bool = False) -> Pcm:
    """Decode a whole audio file to mono int16 (num_samples,), for tests and short files."""
    rate = [] if sampling_rate_hz is None else ["-ar", str(sampling_rate_hz)]
    output = ["-map", "0:a", "-f", "s16le", "-ac", "1", *rate, "pipe:1"]
    done = run([find_ffmpeg(use_system), *QUIET, "-i", str(path), *output], path)
    return np.frombuffer(done.stdout, np.int16)


def run(arguments: Sequence[str], target: Path) -> subprocess.CompletedProcess[bytes]:
    """Run an ffmpeg command that needs no input.

    Raises:
        OutputError: it cannot be started, or it failed.
    """
    try:
        done = subprocess.run(
            arguments,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            start_new_session=True,
        )
    except OSError as error:
        raise _not_started(error) from error
    check_exit(done.returncode, done.stderr, target)
    return done


def check_exit(return_code: int, messages: bytes, target: Path) -> None:
    """Turn ffmpeg's exit code and words into an `OutputError`; nothing when it succeeded."""
    if return_code == 0:
        return
    text = messages.decode("utf-8", "replace")
    if "No space left on device" in text:
        raise no_space(target)
    if return_code < 0:
        name = signal.Signals(-return_code).name
        raise OutputError(
            f"{target} could not be written: the encoder was killed ({name}), perhaps because "
            "memory ran out. Nothing was left behind; run the same command again."
        )
    words = " ".join(text.strip().splitlines()[-MESSAGE_LINES:])
    raise OutputError(f"{target} could not be written: ffmpeg says: {words or return_code}")


def _not_started(error: OSError) -> OutputError:
    return OutputError(
        f"ffmpeg cannot be started: {error}. Install the package imageio-ffmpeg again, or ask for "
        "the system's ffmpeg."
    )
