"""The entry point: which command, its arguments, and the exit code of what it raises."""

import argparse
import errno
import io
import json
import os
import shlex
import signal
import sys
import traceback
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from pocket_batch.errors import OutputError, PocketBatchError, StoppedError, UsageError

COMMANDS = {
    "audiobook": "turn a book into an audiobook (the default: the word may be left out)",
    "script": "write what would be spoken to a file, a line an utterance, to edit and speak",
    "dataset": "turn a corpus of texts into a speech data set",
    "run": "work through job files: many books and data sets as one queue, until a deadline",
    "status": "show how a run goes or ended, from another terminal",
    "report": "make the report of an audiobook again: its levels, and what in it is suspect",
    "redo": "speak single lines of a finished audiobook again, and make it anew",
    "listen": "show a report in the browser, with all lines to hear and to speak again",
    "schema": "print the JSON Schema of job and pipeline files",
    "export": "write a data set for a library: Hugging Face, NeMo, Lhotse, LJSpeech, WebDataset",
    "validate": "look at every clip of a data set or of an export",
    "augment": "add noise, rooms, codecs, speed and gain to a data set, the originals kept",
    "schedule": "make the files with which systemd, cron, Slurm, Kubernetes or Ray runs a job",
    "inspect": "show what is in a book, its chapters, and what is left out",
    "voices": "list the voices and their licences, check, add, hear, export or remove one",
    "models": "list the models, download them, find and check their files",
    "doctor": "say what is wrong with this machine, a job or a cluster, before a night",
    "bench": "measure the engine, alone or in turn with pocket-tts",
    "bench-pipeline": "measure everything but the engine on a made-up book",
}

# The same command again takes up what was done.
GOES_ON = ("audiobook", "dataset", "models", "redo", "run")

_USAGE = "%(prog)s [options] BOOK\n       %(prog)s COMMAND ..."

_EXIT_CODES = """\
exit codes:
  0 done   2 usage   3 input refused   4 model or voice not available
  5 output cannot be written   6 another run holds the work folder
  10 finished, but not whole or badly spoken   75 stopped, the same command goes on   1 a bug
"""


def main(argv: list[str] | None = None) -> int:
    """Run a command and return its exit code."""
    argv = sys.argv[1:] if argv is None else argv
    _make_streams_safe()
    meant = _misspelled(argv)
    if meant:
        what = f"`{argv[0]}` is neither a command nor a book. Did you mean `{meant}`?"
        print(f"pocket-batch: {what}", file=sys.stderr)
        return UsageError.exit_code
    name, rest = _split_command(argv)
    module = import_module(f"pocket_batch.cli.{name.replace('-', '_')}")
    parser = argparse.ArgumentParser(
        prog="pocket-batch" if name == "audiobook" else f"pocket-batch {name}",
        usage=_USAGE if name == "audiobook" else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=module.__doc__,
        epilog=_epilog() if name == "audiobook" else None,
    )
    module.add_arguments(parser)
    parser.add_argument("--debug", action="store_true", help="show stack traces")
    parser.add_argument("--version", action="version", version=f"pocket-batch {_version()}")
    return _run(module.run, parser.parse_args(rest), argv)


def program() -> None:
    """The program `pocket-batch`: run a command and end the process.

    Once Ray was used it ends at once: the threads that Ray leaves can abort a normal exit.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # until a run takes it over
    try:
        code = main()
    except KeyboardInterrupt:  # before there was anything to stop
        code = StoppedError.exit_code
    _flush()
    # After an interrupt that came in the middle of an import, Python would change the code.
    if "ray" in sys.modules or code == StoppedError.exit_code:
        os._exit(code)
    sys.exit(code)


def _flush() -> None:
    """Write out what was printed; a stream that nobody reads any more leads nowhere from now on.

    Without this, Python tries again at the end of the process, and turns the exit code into 120.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # the reader, such as `head`, has left, or a log's disk is full
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _make_streams_safe() -> None:
    """Closed streams lead nowhere, and a character that a terminal cannot show is no error."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _split_command(argv: list[str]) -> tuple[str, list[str]]:
    """`inspect a.epub` -> inspect; `a.epub` and `--help` -> audiobook."""
    if argv and argv[0] in COMMANDS:
        return argv[0], argv[1:]
    return "audiobook", argv or ["--help"]


def _misspelled(argv: list[str]) -> str:
    """`inspct a.epub` -> inspect: a command that would else be taken for the name of a book."""
    word = argv[0] if argv else ""
    if word in COMMANDS or word.startswith("-") or Path(word).suffix or Path(word).exists():
        return ""
    return next(iter(get_close_matches(word, COMMANDS, 1, 0.75)), "")


def _run(command, args: argparse.Namespace, argv: list[str]) -> int:  # type: ignore[no-untyped-def]
    try:
        code = int(command(args))
        if _split_command(argv)[0] not in GOES_ON:
            sys.stdout.flush()  # what it prints is all that it makes
        return code
    except StoppedError as error:
        _tell(args, error.exit_code, f"{error}\nTo go on: {_same_command(argv)}")
        return error.exit_code
    except PocketBatchError as error:
        if args.debug:
            traceback.print_exc()
        _tell(args, error.exit_code, f"pocket-batch: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        how = f" To go on: {_same_command(argv)}" if _split_command(argv)[0] in GOES_ON else ""
        _tell(args, StoppedError.exit_code, f"Stopped.{how}")
        return StoppedError.exit_code
    except BrokenPipeError:
        return 0  # the reader, such as `head`, has left
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT) or error.filename:
            return _tell_bug(args, error)
        _tell(
            args, OutputError.exit_code, f"pocket-batch: what it prints is lost: {error.strerror}."
        )
        return OutputError.exit_code
    except Exception as error:  # noqa: BLE001  # the last resort: whatever it is, it is a bug
        return _tell_bug(args, error)


def _tell_bug(args: argparse.Namespace, error: Exception) -> int:
    if args.debug:
        traceback.print_exc()
    print(
        f"pocket-batch: this is a bug: {type(error).__name__}: {error}. "
        "Run the same command with --debug and report what it prints.",
        file=sys.stderr,
    )
    return 1


def _tell(args: argparse.Namespace, code: int, text: str) -> None:
    """Print an error, and in a JSON log its event too, so that each log ends with what became."""
    with suppress(OSError):  # nobody reads it any more, which is no reason for another code
        print(text, file=sys.stderr)
        if getattr(args, "log_format", None) == "json":
            print(json.dumps({"event": "error", "exit_code": code, "text": text}), flush=True)


def _same_command(argv: list[str]) -> str:
    """The command line again, without what would throw the work away."""
    program = [sys.executable, "-m", "pocket_batch"]
    if not sys.argv[0].endswith("__main__.py"):
        program = [sys.argv[0]]
    return shlex.join([*program, *(word for word in argv if word != "--fresh")])


def _epilog() -> str:
    rows = "\n".join(f"  {name:<15} {text}" for name, text in COMMANDS.items())
    return f"commands (pocket-batch COMMAND --help tells more):\n{rows}\n\n{_EXIT_CODES}"


def _version() -> str:
    return version("pocket-batch")
