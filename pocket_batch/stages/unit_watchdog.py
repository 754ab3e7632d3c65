"""Ends a worker process whose engine hangs: nothing else can end a call that never returns."""

import os
import threading
import time

EXIT_CODE = 75  # to be tried again


class Watchdog:
    """Ends this process when nothing comes of an engine for too long."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._num_watched = 0
        self._last = 0.0
        self._lock = threading.Lock()
        self._is_started = False

    def watching(self) -> "Watchdog":
        """A context in which results are expected."""
        return self

    def __enter__(self) -> None:
        self.progress()
        with self._lock:
            self._num_watched += 1
            if self._timeout_s > 0 and not self._is_started:
                self._is_started = True
                threading.Thread(target=self._watch, daemon=True).start()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._num_watched -= 1

    def progress(self) -> None:
        """Something came."""
        self._last = time.monotonic()

    def _watch(self) -> None:
        while True:
            time.sleep(min(1.0, self._timeout_s / 4))
            if self._num_watched and time.monotonic() - self._last > self._timeout_s:
                os._exit(EXIT_CODE)
