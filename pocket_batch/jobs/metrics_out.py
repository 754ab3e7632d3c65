"""Where Prometheus finds the figures of a run: a text file that is never half there, or a port."""

import errno
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from socketserver import TCPServer, ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, generate_latest, make_wsgi_app

from pocket_batch.errors import OutputError, UsageError
from pocket_batch.manifest import write_atomic

TIMEOUT_S = 10.0  # of a client that does not finish its request
CLOSE_S = 1.0  # for a write on its way: a run that is told to stop has three seconds
POLL_S = 0.2  # how soon the server notices that it shall end


class FileWriter:
    """Writes a registry to a `.prom` file every `every_s` seconds, and when it is closed."""

    def __init__(
        self,
        path: Path,
        registry: CollectorRegistry,
        every_s: float,
        on_problem: Callable[[str], None],
    ) -> None:
        """Write it once, and start to.

        Args:
            on_problem: called once, from a thread, when the file cannot be written later on: that
                is no reason to end a run.

        Raises:
            OutputError: it cannot be written.
        """
        self._path = path
        self._registry = registry
        self._every_s = every_s
        self._on_problem: Callable[[str], None] | None = on_problem
        self._closing = threading.Event()
        self._write()
        self._thread = threading.Thread(target=self._work, name="metrics-file", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread and write the last state, unless the disk hangs."""
        self._closing.set()
        self._thread.join(CLOSE_S)
        if not self._thread.is_alive():
            self._try_to_write()

    def _work(self) -> None:
        while not self._closing.wait(self._every_s):
            self._try_to_write()

    def _try_to_write(self) -> None:
        try:
            self._write()
        except OutputError as error:
            if self._on_problem is not None:
                tell, self._on_problem = self._on_problem, None
                tell(str(error))

    def _write(self) -> None:
        write_atomic(self._path, generate_latest(self._registry))


class _Handler(WSGIRequestHandler):
    """Logs nothing, and waits for nobody."""

    timeout = TIMEOUT_S

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the terminal shows the run."""


class _Server(ThreadingMixIn, WSGIServer):
    """A thread for each request, none of which keeps the program."""

    daemon_threads = True

    def __init__(self, host: str, port: int) -> None:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        self.address_family, _, _, _, address = found[0]
        super().__init__(address[:2], _Handler)  # type: ignore[arg-type]

    def server_bind(self) -> None:
        """Without the look-up of the full name of this machine, which may take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]
        self.setup_environ()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is none of the user's business."""


@contextmanager
def serving(registry: CollectorRegistry, host: str, port: int) -> Iterator[str]:
    """Serve a registry over HTTP, as text or OpenMetrics as the client asks for.

    Args:
        registry: is read by other threads.
        host: a name or address of this machine; one that others reach shows it to them.
        port: 0 takes any that is free.

    Yields:
        The URL.

    Raises:
        UsageError: the port is taken, or the address is not one of this machine.
    """
    if not 0 <= port <= 65535:
        raise UsageError(f"metrics.port: {port} is no port. Choose one from 1024 to 65535.")
    try:
        server = _Server(host, port)
    except (OSError, UnicodeError) as error:  # the latter of a host that can be no name
        raise UsageError(_cannot_serve(host, port, error)) from error
    server.set_app(make_wsgi_app(registry))
    thread = threading.Thread(
        target=server.serve_forever, args=(POLL_S,), name="metrics-port", daemon=True
    )
    thread.start()
    try:
        name = f"[{server.server_name}]" if ":" in server.server_name else server.server_name
        yield f"http://{name}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _cannot_serve(host: str, port: int, error: Exception) -> str:
    wanted = f"metrics.port: figures cannot be served at port {port} of {host}"
    number = getattr(error, "errno", None)
    if number == errno.EADDRINUSE:
        return (
            f"{wanted}: another program, perhaps another run, has it. "
            "Choose another port, or write them to a file with metrics.file."
        )
    if number == errno.EACCES:
        return f"{wanted}: that is not permitted. Choose a port above 1023."
    reason = getattr(error, "strerror", None) or error
    return (
        f"{wanted}: {reason}. Set metrics.host to an address of this machine: "
        "127.0.0.1 is seen by itself only, 0.0.0.0 by others too."
    )
