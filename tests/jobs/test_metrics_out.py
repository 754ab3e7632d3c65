"""Where the figures of a run are found: a file that is whole, a port, and how the run ended."""

import http.client
import shutil
import socket
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from prometheus_client import generate_latest
from prometheus_client.openmetrics.parser import (
    text_string_to_metric_families as openmetrics_families,
)
from prometheus_client.parser import text_string_to_metric_families as text_families

from pocket_batch.errors import (
    OutputError,
    PartialRunError,
    PocketBatchError,
    StoppedError,
    UsageError,
)
from pocket_batch.executors.health import WorkerHealth
from pocket_batch.job_settings import MetricsSettings
from pocket_batch.jobs.metrics import Metrics
from pocket_batch.jobs.metrics_table import KINDS, PREFIX
from pocket_batch.jobs.progress import Progress

WORKER = WorkerHealth(1, "busy", "north", 4711, 0.5, 20, 60.0, 40.0, 10**9, 0.0, 1.9, 0, 0)
SPEAKING = Progress("speaking", 30, 120, 1, 4, 90.0, 360.0, 45.0, 2.0, 135.0, 2, 1.5)


def read(text: str) -> dict[str, float]:
    """By name without prefix, of figures of the whole run; those of others by name alone."""
    samples = [sample for family in text_families(text) for sample in family.samples]
    return {sample.name.removeprefix(PREFIX): sample.value for sample in samples}


def tell(metrics: Metrics) -> None:
    """How far a run is, and its worker."""
    metrics.progress(SPEAKING)
    metrics.health((WORKER,))


# the end


@pytest.mark.parametrize(
    ("error", "note_code", "code"),
    [
        (None, None, 0),
        (None, 75, 75),
        (PartialRunError("x"), None, 10),
        (StoppedError("x"), 0, 75),
        (SystemExit(6), None, 6),
        (SystemExit("text"), None, 1),
        (KeyboardInterrupt(), None, 1),
        (ValueError("a bug"), None, 1),
    ],
)
def test_how_a_run_ended_is_told(
    error: BaseException | None, note_code: int | None, code: int, tmp_path: Path
) -> None:
    path = tmp_path / "job.prom"

    def run() -> None:
        with Metrics(MetricsSettings(file=str(path)), "nightly") as metrics:
            tell(metrics)
            if note_code is not None:
                metrics.note("job_done", "", exit_code=note_code)
            if error is not None:
                raise error

    if error is None:
        run()
    else:
        with pytest.raises(type(error)):
            run()
    found = read(path.read_text())
    assert found["run_exit_code"] == code
    assert found["run_active"] == 0
    assert ("last_success_timestamp_seconds" in found) == (code == 0)
    assert not {"eta_seconds", "worker_up", "worker_rss_bytes"} & set(found)
    assert found["worker_items_total"] == 20


def test_a_run_with_a_failed_input_is_no_success(tmp_path: Path) -> None:
    path = tmp_path / "job.prom"
    with Metrics(MetricsSettings(file=str(path)), "nightly") as metrics:
        metrics.note("input_done", "", "warning", input="a", status="failed", num_failures=0)
    assert read(path.read_text())["run_exit_code"] == 10


@pytest.mark.parametrize(("job", "is_kept"), [('the "same"', True), ("another", False)])
def test_the_last_success_outlives_runs_that_fail(job: str, is_kept: bool, tmp_path: Path) -> None:
    path = tmp_path / "job.prom"
    with Metrics(MetricsSettings(file=str(path)), 'the "same"'):
        pass
    first = read(path.read_text())["last_success_timestamp_seconds"]
    with pytest.raises(StoppedError), Metrics(MetricsSettings(file=str(path)), job):
        raise StoppedError("x")
    assert read(path.read_text()).get("last_success_timestamp_seconds") == (
        first if is_kept else None
    )


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe\x00",
        b"",
        b'pocket_batch_last_success_timestamp_seconds{job_name="nightly"} now',
        b'pocket_batch_last_success_timestamp_seconds{job_name="nightly"} NaN\n',
    ],
)
def test_a_damaged_file_of_an_earlier_run_is_replaced(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "job.prom"
    path.write_bytes(content)
    with Metrics(MetricsSettings(file=str(path)), "nightly"):
        assert "last_success_timestamp_seconds" not in read(path.read_text())


# the file


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    path = tmp_path / "job.prom"
    with Metrics(MetricsSettings(file=str(path)), "nightly", every_s=0.001) as metrics:
        tell(metrics)
        expected = set(read(generate_latest(metrics.registry).decode()))
        wanted_at = time.monotonic() + 10
        while set(read(path.read_text())) != expected:
            assert time.monotonic() < wanted_at
        seen = set()
        while len(seen) < 20:
            metrics.note("worker_ready", "", num_workers=100 + len(seen))
            found = read(path.read_text())
            assert set(found) == expected
            seen.add(found["workers"])
            assert time.monotonic() < wanted_at
    assert [p.name for p in tmp_path.iterdir()] == ["job.prom"]


def test_between_two_writings_the_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "job.prom"
    with Metrics(MetricsSettings(file=str(path)), "nightly", every_s=1000) as metrics:
        first = path.read_bytes()
        tell(metrics)
        assert path.read_bytes() == first
    assert read(path.read_text())["segments_done"] == 30


def test_a_folder_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    settings = MetricsSettings(file=str(tmp_path / "none" / "job.prom"), port=0)
    before = threading.active_count()
    with (
        pytest.raises(OutputError, match=r"job\.prom could not be written"),
        Metrics(settings, "j"),
    ):
        pass
    assert threading.active_count() == before


def test_a_file_that_prometheus_would_not_read_is_refused(tmp_path: Path) -> None:
    settings = MetricsSettings(file=str(tmp_path / "job.txt"))
    with pytest.raises(UsageError, match=r"does not end in \.prom"), Metrics(settings, "nightly"):
        pass
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written_later_does_not_end_the_run(tmp_path: Path) -> None:
    folder = tmp_path / "collector"
    folder.mkdir()
    with Metrics(MetricsSettings(file=str(folder / "job.prom")), "nightly") as metrics:
        shutil.rmtree(folder)
        tell(metrics)
    assert "could not be written" in metrics.problem


def test_files_of_several_jobs_in_one_folder_have_no_series_twice(tmp_path: Path) -> None:
    seen: set[tuple[str, ...]] = set()
    for job in ("a", "b"):
        with Metrics(MetricsSettings(file=str(tmp_path / f"{job}.prom")), job) as metrics:
            tell(metrics)
        for family in text_families((tmp_path / f"{job}.prom").read_text()):
            for sample in family.samples:
                series = (sample.name, *map("=".join, sorted(sample.labels.items())))
                assert series not in seen
                seen.add(series)


# the port


def test_the_port_speaks_text_or_openmetrics_as_asked() -> None:
    with Metrics(MetricsSettings(port=0), "nightly") as metrics:
        tell(metrics)
        assert metrics.url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(metrics.url, timeout=5) as reply:
            assert reply.headers["Content-Type"].startswith("text/plain")
            assert read(reply.read().decode())["segments_done"] == 30
        accept = {"Accept": "application/openmetrics-text; version=1.0.0"}
        request = urllib.request.Request(metrics.url, headers=accept)
        with urllib.request.urlopen(request, timeout=5) as reply:
            assert reply.headers["Content-Type"].startswith("application/openmetrics-text")
            text = reply.read().decode()
        assert text.endswith("# EOF\n")
        assert {s.name for f in openmetrics_families(text) for s in f.samples} <= {
            kind.sample_name for kind in KINDS
        }


def test_a_port_that_is_taken_is_refused_with_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        settings = MetricsSettings(port=port)
        with pytest.raises(UsageError, match=rf"{port} .*has it\. Choose another"):
            Metrics(settings, "nightly").__enter__()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (MetricsSettings(port=70000), "Choose one from 1024"),
        (MetricsSettings(port=-1), "Choose one from 1024"),
        (MetricsSettings(port=0, host="192.0.2.1"), "an address of this machine"),  # RFC 5737
        (MetricsSettings(port=0, host="no such\0host"), "an address of this machine"),
        (MetricsSettings(port=0, host="\u00fc" * 80), "an address of this machine"),
    ],
)
def test_an_address_that_cannot_be_served_is_refused(settings: MetricsSettings, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Metrics(settings, "nightly").__enter__()


def test_nothing_is_left_when_a_run_ends(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    settings = MetricsSettings(port=0, file=str(tmp_path / "job.prom"))
    metrics = Metrics(settings, "nightly")
    with pytest.raises(PocketBatchError), metrics:
        raise PocketBatchError("x")
    port = int(metrics.url.split(":")[2].split("/")[0])
    assert not {t for t in threading.enumerate() if t.name.startswith("metrics")} - before
    with socket.create_server(("127.0.0.1", port)):
        pass


def test_clients_that_hang_or_talk_nonsense_hold_up_nobody(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with Metrics(MetricsSettings(port=0), "nightly") as metrics:
        port = int(metrics.url.split(":")[2].split("/")[0])
        hanging = socket.create_connection(("127.0.0.1", port))
        hanging.sendall(b"GET /metr")
        with socket.create_connection(("127.0.0.1", port)) as rude:
            rude.sendall(b"\xff\xfe\r\n\r\n")
            rude.recv(1000)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("POST", "/metrics", body=b"x")
        assert connection.getresponse().status == 405
        connection.close()
        started = time.monotonic()
    assert time.monotonic() - started < 1.5
    hanging.close()
    assert capfd.readouterr().err == ""
