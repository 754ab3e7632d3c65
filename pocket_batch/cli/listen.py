"""Show the report of an audiobook in the browser, with all its lines to hear and to speak again.

examples:
  pocket-batch listen book.work              prints an address: open it; Ctrl-C ends the server
  pocket-batch listen book.work --open       and opens it
  pocket-batch listen book.work --port 8080

Under "All lines" each line of the book can be heard, given another text, spoken again, and brought
back to what the book has. It listens on this machine alone. Whoever has the address can listen and
speak lines again, so it holds a secret; every start makes another one. Over SSH:
ssh -L 8080:127.0.0.1:8080 HOST.
"""

import argparse
import threading
from pathlib import Path

from pocket_batch.errors import OutputError, UsageError

MAX_PORT = 65_535


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("work", metavar="BOOK.work", type=Path, help="the work folder of a book")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="default: any free one")
    parser.add_argument("--open", action="store_true", help="open the browser")


def run(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C or SIGTERM."""
    from pocket_batch.cli.running import stop_signals
    from pocket_batch.jobs.report.server import ReportServer
    from pocket_batch.work_folder import WorkFolder

    if not 0 <= args.port <= MAX_PORT:
        raise UsageError(f"--port is {args.port}; it must be from 0 to {MAX_PORT}.")
    try:
        server = ReportServer(WorkFolder(args.work), args.port)
    except OSError as error:
        raise OutputError(
            f"Port {args.port} cannot be used: {error.strerror}. Give another one with --port, or "
            "none for any that is free."
        ) from error
    with server, stop_signals() as stopped:
        threading.Thread(target=server.serve_forever, name="server", daemon=True).start()
        print(server.url, flush=True)
        if args.open:
            import webbrowser

            webbrowser.open(server.url)
        stopped.wait()
        server.again.stop()
        server.shutdown()
    return 0
