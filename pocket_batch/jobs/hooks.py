"""Tells others how a run ended: a command, and a URL that gets the summary.

What follows the name of a program or a host may be a secret, and is never told.
"""

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import IO
from urllib.parse import SplitResult, urlsplit

from pocket_batch.errors import UsageError
from pocket_batch.job_settings import Hook
from pocket_batch.jobs.progress import Reporter

TIMEOUT_S = 60.0
ATTEMPTS = 3
PAUSE_S = 2.0


def check_hook(hook: Hook, folder: Path) -> None:
    """Refuse what cannot be run or reached, before hours of work.

    Args:
        hook: of a job.
        folder: that of its file, from which the command is seen.

    Raises:
        UsageError: naming it.
    """
    if hook.command is not None:
        _program(_words(hook.command), folder)
    if hook.webhook is not None:
        _url(hook.webhook)


def call_hook(hook: Hook, folder: Path, summary: Path, reporter: Reporter) -> None:
    """Run the command with the path of the summary, and post the summary; failures are warnings."""
    if hook.command is not None:
        _run(hook.command, folder, summary, reporter)
    if hook.webhook is not None:
        _post(hook.webhook, summary, reporter)


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"A hook's `command` is not one ({error}).") from error
    if not words:
        raise UsageError("A hook's `command` is empty: name a program, or leave it out.")
    return words


def _program(words: list[str], folder: Path) -> str:
    """The program that a command names: beside the job file, or one of the system."""
    name = os.path.expanduser(words[0])
    beside = str(folder / name)
    found = shutil.which(beside if os.sep in name else name)
    if found is None and os.path.isfile(beside):
        raise UsageError(
            f"The hook `{words[0]}` may not be run: make it executable (chmod +x), and name it "
            f"as ./{words[0].removeprefix('./')}."
        )
    if found is None:
        raise UsageError(f"The hook `{words[0]}` is no program here: install it, or give its path.")
    return found


def _url(text: str) -> SplitResult:
    """The parts of a URL."""
    try:
        url = urlsplit(text)
        is_one = url.scheme in ("http", "https") and url.hostname and url.port != 0
    except ValueError:
        is_one = False
    if not is_one or not text.isascii() or not text.isprintable() or " " in text:
        raise UsageError("A hook's `webhook` is a URL that begins with http:// or https://.")
    if url.username is not None:
        raise UsageError("A hook's `webhook` has a name or password before its host: take it out.")
    return url


def _run(command: str, folder: Path, summary: Path, reporter: Reporter) -> None:
    """Run it in the folder of the job; what it started itself is ended with it if it hangs."""
    words = shlex.split(command)
    problem = ""
    with tempfile.TemporaryFile() as said:  # a pipe would wait for what it leaves behind
        try:
            code = _ended([_program(words, folder), *words[1:], str(summary)], folder, said)
            if code:
                said.seek(0)
                last = said.read()[-300:].decode("utf-8", "replace").strip()
                problem = f"ended with exit code {code}. {last}".rstrip()
        except subprocess.TimeoutExpired:
            problem = f"took over {TIMEOUT_S:g} s, and was ended."
        except (OSError, UsageError) as error:
            problem = f"could not be run: {error}"
    if problem:
        reporter.note("hook", f"The hook `{words[0]}` {problem}", "warning")


def _ended(words: list[str], folder: Path, said: IO[bytes]) -> int:
    """The exit code of a program, with all that it says in a file."""
    process = subprocess.Popen(
        words,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        return process.wait(TIMEOUT_S)
    except BaseException:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """One would be followed without the summary."""

    def redirect_request(self, *args: object) -> None:
        """Never."""


def _post(text: str, summary: Path, reporter: Reporter) -> None:
    """Post it as JSON; again when the other side is not there just now."""
    opener = urllib.request.build_opener(_NoRedirects)
    problem = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE_S)
        try:
            request = urllib.request.Request(
                text, summary.read_bytes(), {"Content-Type": "application/json"}
            )
            with opener.open(request, timeout=TIMEOUT_S / ATTEMPTS):
                return
        except urllib.error.HTTPError as error:
            error.close()
            problem = f"it answers {error.code} {error.reason}"
            if error.code < 500 and error.code != 429:  # too many just now
                break
        except OSError as error:
            problem = str(getattr(error, "reason", None) or error.strerror or error)
        except (HTTPException, ValueError) as error:
            problem = type(error).__name__
    host = urlsplit(text).hostname
    reporter.note("hook", f"The webhook at {host} could not be told: {problem}.", "warning")
