"""The scripts do what they say, run among programs that only write down how they are called."""

import json
import os
import runpy
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from pocket_batch.config import shipped
from pocket_batch.jobs.schedule.files import make_files

RAY = """#!/bin/sh
# `ray job`: remembers ids, and runs an entry point as Ray does: joined, by a shell
case "$2" in
  status) test -e "$CALLS.$3" ;;
  submit)
    touch "$CALLS.$5"
    shift 6
    line=$(python3 -c 'import subprocess, sys; print(subprocess.list2cmdline(sys.argv[1:]))' "$@")
    sh -c "$line" ;;
esac
"""


def cron_runs(line: str) -> str:
    """What cron hands to the shell: after five fields, up to a percent sign without backslash."""
    command = line.rstrip("\n").split(" ", 5)[5]
    command = command.replace(r"\%", "\0").split("%")[0]
    return command.replace("\0", "%")


@pytest.mark.parametrize("code", [0, 6, 75])
def test_cron_sends_no_mail_when_nobody_has_to_look(stage: Any, books: Path, code: int) -> None:
    (line,) = make_files("cron", stage.plan(books)).files.values()
    done = stage.run("sh", "-c", cron_runs(line), code=code)
    assert done.stdout + done.stderr == ""
    assert stage.calls() == [["pocket-batch", "run", str(books), "--quiet"]]


@pytest.mark.parametrize("code", [1, 2, 10])
def test_cron_sends_a_mail_that_says_where_to_look(stage: Any, books: Path, code: int) -> None:
    (line,) = make_files("cron", stage.plan(books)).files.values()
    done = stage.run("sh", "-c", cron_runs(line), code=code)
    assert f"exit code {code}, see {books.with_suffix('.cron.log')}" in done.stdout


def test_cron_sends_a_mail_when_the_folder_of_the_job_is_gone(stage: Any, books: Path) -> None:
    (line,) = make_files("cron", stage.plan(books)).files.values()
    books.unlink()
    books.parent.rmdir()
    done = stage.run("sh", "-c", cron_runs(line))
    assert "exit code" in done.stdout
    assert stage.calls() == []


def ray_script(stage: Any, job: Path) -> str:
    """The script for `ray job submit`, in a file; its path."""
    ((name, text),) = make_files("ray", stage.plan(job)).files.items()
    stage.program("ray", RAY)
    stage.program(name, text)
    return str(stage.bin / name)


def test_a_job_is_handed_to_ray_once_a_night_and_again_when_asked(stage: Any, books: Path) -> None:
    script = ray_script(stage, books)
    wanted = [["pocket-batch", "run", str(books), "--address", "auto"]]
    first = stage.run(script)
    assert (first.returncode, stage.calls()) == (0, wanted)
    again = stage.run(script)
    assert (again.returncode, stage.calls()) == (0, [])
    assert "handed over before" in again.stdout
    stage.run(script, "more")
    assert stage.calls() == wanted


@pytest.mark.parametrize(("code", "wanted"), [(0, 0), (75, 0), (10, 1), (2, 1)])
def test_a_deadline_is_no_failure_for_ray(stage: Any, books: Path, code: int, wanted: int) -> None:
    assert stage.run(ray_script(stage, books), code=code).returncode == wanted


SRUN = """#!/bin/sh
# runs what follows its options
while [ "${1#--}" != "$1" ]; do shift; done
exec "$@"
"""
SLURM = {
    "SLURM_JOB_NODELIST": "n[1-3]",
    "SLURM_JOB_ID": "90210",
    "SLURM_JOB_NUM_NODES": "3",
    "SLURM_CPUS_PER_TASK": "4",
    "SLURM_ARRAY_TASK_ID": "7",
}


def slurm_script(stage: Any, job: Path, **options: object) -> str:
    (text,) = make_files("slurm", stage.plan(job, **options)).files.values()
    stage.program("srun", SRUN)
    stage.program("scontrol", "#!/bin/sh\nprintf 'n1\\nn2\\nn3\\n'\n")
    stage.program("job.sbatch", text)
    return str(stage.bin / "job.sbatch")


def test_slurm_runs_the_job_on_a_ray_cluster_of_its_nodes(stage: Any, books: Path) -> None:
    script = slurm_script(stage, books, nodes=3)
    assert stage.run(script, **SLURM).returncode == 0
    address = f"n1:{20000 + 90210 % 20000}"
    ((name, *words),) = stage.calls()
    assert name == "ray"
    assert words[:5] == ["symmetric-run", "--address", address, "--min-nodes", "3"]
    assert words[words.index("--") + 1 :] == [
        *(str(stage.bin / "pocket-batch"), "run", str(books)),
        *("--address", address),
    ]


def test_a_ray_of_slurm_is_shut_for_other_users(stage: Any, books: Path) -> None:
    script = slurm_script(stage, books)
    stage.program("ray", '#!/bin/sh\necho "$RAY_AUTH_MODE $RAY_AUTH_TOKEN"\n')
    first, second = (stage.run(script, **SLURM).stdout.split() for _ in range(2))
    assert first[0] == "token"
    assert len(first[1]) == 64
    assert first[1] != second[1]


def test_each_task_of_an_array_makes_its_own_part(stage: Any, dataset: Path) -> None:
    script = slurm_script(stage, dataset, shards=16)
    stage.run(script, **SLURM)
    assert stage.calls() == [["pocket-batch", "run", str(dataset), "--shard", "7/16"]]


@pytest.mark.parametrize(("code", "wanted"), [(0, 0), (75, 0), (143, 0), (10, 10), (2, 2)])
def test_a_deadline_is_no_failure_for_slurm(
    stage: Any, books: Path, dataset: Path, code: int, wanted: int
) -> None:
    for job in (books, dataset):
        assert stage.run(slurm_script(stage, job), code=code, **SLURM).returncode == wanted


def pod_script(stage: Any, job: Path) -> str:
    """`run.sh` of the pods."""
    text = make_files("k8s", stage.plan(job)).files[f"{stage.plan(job).name}.yaml"]
    config = next(yaml.safe_load_all(text))
    return str(config["data"]["run.sh"])


@pytest.mark.parametrize(("code", "wanted"), [(0, 0), (75, 0), (10, 10)])
def test_a_deadline_is_no_failure_for_kubernetes(
    stage: Any, books: Path, dataset: Path, code: int, wanted: int
) -> None:
    done = stage.run("sh", "-c", pod_script(stage, books), code=code)
    assert done.returncode == wanted
    assert stage.calls() == [["pocket-batch", "run", str(books), "--address", "auto"]]
    stage.run("sh", "-c", pod_script(stage, dataset), code=code, JOB_COMPLETION_INDEX="3")
    assert stage.calls() == [["pocket-batch", "run", str(dataset), "--shard", "3/8"]]


def test_a_pod_that_is_ended_hands_the_signal_to_the_job_and_waits_for_it(
    stage: Any, books: Path
) -> None:
    saved = stage.bin / "saved"
    stage.program(
        "pocket-batch",
        f"#!/bin/sh\ntrap 'sleep 0.2; touch {saved}; exit 75' TERM\n"
        "echo ready; while :; do sleep 0.05; done\n",
    )
    env = {"PATH": f"{stage.bin}:{os.environ['PATH']}"}
    words = ["sh", "-c", pod_script(stage, books)]
    with subprocess.Popen(words, env=env, stdout=subprocess.PIPE, text=True) as pod:
        assert pod.stdout is not None
        assert pod.stdout.readline() == "ready\n"
        pod.send_signal(signal.SIGTERM)
        assert pod.wait(timeout=20) == 0
    assert saved.exists()


class Kubernetes:
    """An API server that keeps RayJobs, and tells one status after the other."""

    def __init__(self, statuses: list[object], known: tuple[str, ...] = ()) -> None:
        self.made: list[dict[str, Any]] = []
        self.statuses, self.known, self.tokens = list(statuses), known, set[str]()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.tokens.add(self.headers["Authorization"])
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                is_known = body["metadata"]["name"] in outer.known
                if not is_known:
                    outer.made.append(body)
                self.answer(409 if is_known else 201, {"path": self.path})

            def do_GET(self) -> None:
                status = outer.statuses.pop(0)
                if isinstance(status, int):
                    self.answer(status, {})
                else:
                    self.answer(200, {"status": status})

            def answer(self, code: int, body: object) -> None:
                self.send_response(code)
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            def log_message(self, *words: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def start(
    stage: Any, books: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Kubernetes], int]]:
    """Run the script of the CronJob's pod with an API server; its exit code."""
    (tmp_path / "token").write_text("secret")
    (tmp_path / "namespace").write_text("nights")
    text = make_files("k8s", stage.plan(books)).files["pocket-batch-nightly.yaml"]
    data = next(yaml.safe_load_all(text))["data"]
    (tmp_path / "rayjob.yaml").write_text(data["rayjob.yaml"])
    (tmp_path / "start.py").write_text(data["start_rayjob.py"])
    monkeypatch.setenv("JOB_NAME", "pocket-batch-nightly-29000000")
    monkeypatch.setenv("JOB_UID", "u-1")
    servers = []

    def run(kubernetes: Kubernetes) -> int:
        servers.append(kubernetes.server)
        main = runpy.run_path(str(tmp_path / "start.py"))["main"]
        return int(main(kubernetes.address, tmp_path, tmp_path, 0.01))

    yield run
    for server in servers:
        server.shutdown()
        server.server_close()


RUNNING: dict[str, str] = {"jobDeploymentStatus": "Running", "jobStatus": "RUNNING"}
GOOD = {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED"}
BAD = {"jobDeploymentStatus": "Failed", "jobStatus": "FAILED", "message": "exit code 10"}


def test_the_pod_makes_a_rayjob_of_its_own_name_and_waits_for_its_end(
    start: Callable[[Kubernetes], int],
) -> None:
    kubernetes = Kubernetes([{}, RUNNING, 503, RUNNING, GOOD])
    assert start(kubernetes) == 0
    (rayjob,) = kubernetes.made
    assert rayjob["metadata"]["name"] == "pocket-batch-nightly-29000000"
    (owner,) = rayjob["metadata"]["ownerReferences"]
    assert owner == {"apiVersion": "batch/v1", "kind": "Job", **owner}
    assert owner["uid"] == "u-1"
    assert kubernetes.tokens == {"Bearer secret"}
    assert kubernetes.statuses == []


def test_a_pod_that_starts_anew_waits_for_the_rayjob_of_its_night(
    start: Callable[[Kubernetes], int],
) -> None:
    kubernetes = Kubernetes([RUNNING, GOOD], known=("pocket-batch-nightly-29000000",))
    assert start(kubernetes) == 0
    assert kubernetes.made == []


@pytest.mark.parametrize("end", [BAD, 404])
def test_a_rayjob_that_fails_or_goes_is_a_failure(
    start: Callable[[Kubernetes], int], end: object
) -> None:
    assert start(Kubernetes([RUNNING, end])) == 1


def test_the_shipped_script_is_the_one_in_the_manifest(stage: Any, books: Path) -> None:
    text = make_files("k8s", stage.plan(books)).files["pocket-batch-nightly.yaml"]
    data = next(yaml.safe_load_all(text))["data"]
    script = shipped("jobs/schedulers") / "k8s" / "start_rayjob.py"
    assert data["start_rayjob.py"] == script.read_text()
