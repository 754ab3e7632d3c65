"""Tells others how a run ended: a command, and a URL that gets the summary."""

import shlex
import subprocess
import time
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path

from pocket_batch.errors import UsageError
from pocket_batch.job_settings import Hook
from pocket_batch.jobs.progress import Reporter

TIMEOUT_S = 60.0
ATTEMPTS = 3
PAUSE_S = 2.0


def check_hook(hook: Hook) -> None:
    """Refuse what cannot be run or reached, before hours of work.

    Raises:
        UsageError: naming it.
    """
    try:
        words = shlex.split(hook.command) if hook.command is not None else ["x"]
    except ValueError as error:
        raise UsageError(f"The hook `{hook.command}` is not a command ({error}).") from error
    if not words:
        raise UsageError("A hook's `command` is empty: name a program, or leave it out.")
    if hook.webhook is not None and not hook.webhook.startswith(("http://", "https://")):
        raise UsageError(f"A webhook is a URL of http or https, not `{hook.webhook:.60}`.")


def call_hook(hook: Hook, summary: Path, reporter: Reporter) -> None:
    """Run the command with the path of the summary, and post the summary; failures are warnings."""
    if hook.command is not None:
        _run(hook.command, summary, reporter)
    if hook.webhook is not None:
        _post(hook.webhook, summary, reporter)


def _run(command: str, summary: Path, reporter: Reporter) -> None:
    words = [*shlex.split(command), str(summary)]
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        reporter.note("hook", f"The hook `{command}` could not be run: {error}.", "warning")
        return
    if done.returncode != 0:
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()[-300:]
        text = f"The hook `{command}` ended with exit code {done.returncode}. {said}"
        reporter.note("hook", text.rstrip(), "warning")


def _post(url: str, summary: Path, reporter: Reporter) -> None:
    """Post it as JSON; again when the other side is not there just now."""
    problem = ""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE_S)
        try:
            request = urllib.request.Request(
                url, summary.read_bytes(), {"Content-Type": "application/json"}
            )
            with urllib.request.urlopen(request, timeout=TIMEOUT_S / ATTEMPTS):
                return
        except urllib.error.HTTPError as error:
            problem = f"it answers {error.code} {error.reason}"
            if error.code < 500:
                break
        except (OSError, HTTPException, ValueError) as error:
            problem = str(error)
    host = url.split("/")[2] if "/" in url[8:] else url  # what follows may be a secret
    reporter.note("hook", f"The webhook at {host} could not be told: {problem}.", "warning")
