"""Speaks a line again for a page: `pocket-batch redo` in a process of its own, one at a time."""

import json
import subprocess
import sys
import threading
from typing import Any

from pocket_batch.work_folder import WorkFolder

OK_CODES = (0, 10)  # 10: finished, and still not whole


class Again:
    """What is being spoken again, and how the last time ended. For several threads."""

    def __init__(self, work: WorkFolder) -> None:
        self._work = work
        self._guard = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._state: dict[str, Any] = {"is_busy": False, "ok": True, "text": "", "segment": ""}

    def state(self) -> dict[str, Any]:
        """`is_busy`, and of the last one: `segment`, `ok`, and `text` for people."""
        with self._guard:
            return dict(self._state)

    def start(self, segment: str, text: str, undo: bool = False) -> bool:
        """Begin to speak a line again; False while another one is spoken.

        Args:
            segment: its id.
            text: what to speak, empty for another take of what there is.
            undo: as the book has it instead.
        """
        command = [sys.executable, "-m", "pocket_batch", "redo", str(self._work.path.absolute())]
        command += [f"--segment={segment}", "--log-format=json"]
        if undo:
            command += ["--undo"]
        elif text.strip():
            command += [f"--text={text}"]
        with self._guard:
            if self._state["is_busy"]:
                return False
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    errors="replace",
                    start_new_session=True,  # Ctrl-C is for the server, which ends this one
                )
            except (OSError, ValueError) as error:
                self._state |= {"ok": False, "text": f"It cannot be started: {error}"}
                self._state["segment"] = segment
                return False
            self._state = {"is_busy": True, "ok": True, "text": "", "segment": segment}
        threading.Thread(target=self._wait, name="redo", daemon=True).start()
        return True

    def stop(self) -> None:
        """End what is being spoken, with all work saved."""
        with self._guard:
            process = self._process
        if process is not None and process.poll() is None:
            process.terminate()
            try:
                process.wait(timeout=5.0)
            except subprocess.TimeoutExpired:
                process.kill()

    def _wait(self) -> None:
        process = self._process
        assert process is not None
        printed, _ = process.communicate()
        ok = process.returncode in OK_CODES
        text = _told(printed, ok)
        with self._guard:
            self._state |= {"is_busy": False, "ok": ok, "text": text}


def _told(printed: str, ok: bool) -> str:
    """What the log of a redo says to the person at the page."""
    found = ""
    for line in printed.splitlines():
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        event = entry.get("event") if isinstance(entry, dict) else None
        if event == ("redo_same" if ok else "error"):
            found = str(entry.get("text", ""))
    if ok:
        return f"Spoken again. {found}".strip()
    return found.removeprefix("pocket-batch: ") or "It could not be spoken again."
