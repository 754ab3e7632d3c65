"""What is made for each scheduler is valid there, and holds what the job says."""

import os
import re
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from pocket_batch.config import shipped
from pocket_batch.errors import UsageError
from pocket_batch.jobs.schedule.files import SCHEDULERS, Made

Make = Callable[..., Made]
REPOSITORY = Path(__file__).parents[3]
MACHINES = ("slurm", "k8s")
CASES: list[tuple[str, str, dict[str, object]]] = [
    *((kind, job, {}) for kind in SCHEDULERS for job in ("books", "dataset")),
    *((kind, "dataset", {"nodes": 3}) for kind in MACHINES),
]


@pytest.fixture(params=CASES, ids=lambda case: "-".join(map(str, case[:2])))
def made(request: pytest.FixtureRequest, make: Make) -> Made:
    """The files of each scheduler for books, for a data set, and for one with Ray."""
    kind, job, options = request.param
    return make(kind, request.getfixturevalue(job), **options)


def scripts(made: Made) -> Iterator[str]:
    """The shell scripts among files, and in the YAML of some."""
    for name, text in made.files.items():
        if text.startswith("#!"):
            yield text
        if name.endswith(".cron"):
            yield "#!/bin/sh\n" + text.split(" ", 5)[5].replace(r"\%", "%")
        if name.endswith(".yaml"):
            found = [d["data"]["run.sh"] for d in yaml.safe_load_all(text) if "data" in d]
            yield from found


def documents(made: Made) -> dict[str, Any]:
    """What is in YAML files, by kind; of claims the last."""
    texts = [text for name, text in made.files.items() if name.endswith(".yaml")]
    return {doc["kind"]: doc for text in texts for doc in yaml.safe_load_all(text)}


def test_every_field_is_filled_in_and_the_job_and_its_night_are_named(made: Made) -> None:
    everything = "\n".join([*made.files.values(), *made.notes])
    assert "@{" not in everything
    assert re.search(r"my jobs/(nightly|set)\.yaml", everything)
    assert re.search(r"until 05:30|for at most 7.5 hours", everything) or "OnCalendar" in everything


def test_every_shell_script_is_one_and_shellcheck_finds_nothing_in_it(
    made: Made, need: Callable[[str], str]
) -> None:
    for script in scripts(made):
        shell = "bash" if "bash" in script.splitlines()[0] else "sh"
        for words in ([need("bash"), "-n"], [need("shellcheck"), "-s", shell, "-"]):
            found = subprocess.run(words, input=script, capture_output=True, text=True)
            assert not found.returncode, found.stdout + found.stderr


def test_every_object_of_kubernetes_fits_its_schema(make: Make, books: Path, dataset: Path) -> None:
    kinds = set()
    for made in (make("k8s", books), make("k8s", dataset), make("k8s", dataset, nodes=2)):
        for text in made.files.values():
            for document in yaml.safe_load_all(text):
                kubernetes_validate.validate(document, "1.30", strict=True)
                kinds.add(document["kind"])
    assert kinds == set(
        "ConfigMap CronJob PersistentVolumeClaim Role RoleBinding ServiceAccount".split()
    )


RAY_JOB = set("entrypoint shutdownAfterJobFinishes ttlSecondsAfterFinished backoffLimit".split())
GROUP = set("groupName replicas minReplicas maxReplicas rayStartParams template".split())


def test_a_rayjob_has_the_fields_of_kuberay_and_pods_that_fit_their_schema(
    make: Make, books: Path
) -> None:
    """Source: the types of KubeRay 1.5, ray-operator/apis/ray/v1."""
    data = documents(make("k8s", books, nodes=4, cpus=6, image="here/tts:2"))["ConfigMap"]["data"]
    rayjob = yaml.safe_load(data["rayjob.yaml"])
    assert (rayjob["apiVersion"], rayjob["kind"]) == ("ray.io/v1", "RayJob")
    assert set(rayjob["spec"]) == RAY_JOB | {"rayClusterSpec"}
    # KubeRay puts it into a shell's command as it is, so it must be plain words.
    assert re.fullmatch(r"[\w/. -]+", rayjob["spec"]["entrypoint"])
    cluster = rayjob["spec"]["rayClusterSpec"]
    assert set(cluster) == {"rayVersion", "headGroupSpec", "workerGroupSpecs"}
    head, (workers,) = cluster["headGroupSpec"], cluster["workerGroupSpecs"]
    assert set(head) == {"rayStartParams", "template"}
    assert set(workers) == GROUP
    assert workers["replicas"] == workers["minReplicas"] == workers["maxReplicas"] == 3
    for group in (head, workers):
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {}, **group["template"]}
        kubernetes_validate.validate(pod, "1.30", strict=True)
        container = group["template"]["spec"]["containers"][0]
        assert container["image"] == "here/tts:2"
        assert container["resources"]["requests"]["cpu"] == "6"


def test_in_pods_the_job_and_its_folders_have_the_paths_that_they_have_here(
    make: Make, books: Path
) -> None:
    data = documents(make("k8s", books))["ConfigMap"]["data"]
    assert data["job.yaml"] == books.read_text()
    spec = yaml.safe_load(data["rayjob.yaml"])["spec"]["rayClusterSpec"]["headGroupSpec"]
    pod = spec["template"]["spec"]
    mounts = {m["mountPath"]: m["name"] for m in pod["containers"][0]["volumeMounts"]}
    assert mounts[str(books)] == "settings"
    assert mounts[str(books.parent / "inbox")] == "input"
    assert mounts[str(books.parent / "out")] == "output"
    assert mounts["/models"] == "models"
    assert set(mounts.values()) == {volume["name"] for volume in pod["volumes"]}


def test_the_pod_of_each_index_speaks_its_own_part_of_a_data_set(make: Make, dataset: Path) -> None:
    made = documents(make("k8s", dataset, shards=12))
    job = made["CronJob"]["spec"]["jobTemplate"]["spec"]
    assert job["completionMode"] == "Indexed"
    assert job["completions"] == 12
    assert '--shard "$JOB_COMPLETION_INDEX/12"' in made["ConfigMap"]["data"]["run.sh"]


def test_books_may_be_cut_into_parts_as_well(make: Make, books: Path) -> None:
    assert "--array=0-4" in "".join(make("slurm", books, shards=5).files.values())
    made = documents(make("k8s", books, shards=5))
    assert made["CronJob"]["spec"]["jobTemplate"]["spec"]["completions"] == 5


def test_who_cuts_a_data_set_into_parts_is_told_who_makes_its_exports(
    make: Make, tmp_path: Path, put_job: Callable[[Path, str], Path]
) -> None:
    job = put_job(
        tmp_path / "a.yaml", "pipeline: dataset\ninputs: [a.txt]\noutput: set\nexports: [nemo]\n"
    )
    for kind in MACHINES:
        assert any("Parts export nothing" in note for note in make(kind, job).notes)
        assert not any("Parts" in note for note in make(kind, job, nodes=2).notes)


def test_kubernetes_starts_at_the_hour_of_the_time_zone_and_never_twice(
    make: Make, books: Path
) -> None:
    made = make("k8s", books, at="23:05", time_zone="America/Port-au-Prince")
    spec = documents(made)["CronJob"]["spec"]
    assert spec["schedule"] == "5 23 * * *"
    assert spec["timeZone"] == "America/Port-au-Prince"
    assert spec["concurrencyPolicy"] == "Forbid"


def test_a_rayjob_of_the_longest_name_is_one_that_kuberay_takes(
    make: Make, tmp_path: Path, put_job: Callable[[Path, str], Path]
) -> None:
    job = put_job(tmp_path / f"{'long ' * 40}.yaml", "inputs: [a.txt]\noutput: out/{stem}.m4b\n")
    name = documents(make("k8s", job))["CronJob"]["metadata"]["name"]
    assert len(f"{name}-12345678") <= 47
    assert re.fullmatch("[a-z][a-z0-9-]*[a-z0-9]", name)


def test_systemd_finds_nothing_wrong_with_the_units(
    make: Make, books: Path, tmp_path: Path, need: Callable[[str], str]
) -> None:
    made = make("systemd", books, at="21:45")
    for name, text in made.files.items():
        (tmp_path / name).write_text(text)
    units = [str(tmp_path / name) for name in made.files]
    found = subprocess.run(
        [need("systemd-analyze"), "verify", "--man=no", *units], capture_output=True, text=True
    )
    if "Failed to initialize manager" in found.stderr:
        pytest.skip(found.stderr)
    assert (found.returncode, found.stdout + found.stderr) == (0, "")


def test_a_service_stops_gently_and_may_write_where_the_job_writes(
    make: Make, tmp_path: Path, put_job: Callable[[Path, str], Path]
) -> None:
    job = put_job(
        tmp_path / "a.yaml",
        "inputs: [in]\noutput: out/{stem}.m4b\nrun_dir: runs/a\nmetrics: {file: prom/a.prom}\n",
    )
    made = make("systemd", job)
    service = made.files["pocket-batch-a.service"]
    lines = dict(line.split("=", 1) for line in service.splitlines() if "=" in line)
    assert lines["KillMode"] == "mixed"
    assert lines["SuccessExitStatus"] == "75"
    assert int(lines["TimeoutStopSec"]) >= 10
    assert "Persistent=true" in made.files["pocket-batch-a.timer"]
    assert lines["ProtectSystem"] == "strict"
    writable = lines["ReadWritePaths"].split()
    for folder in ("out", "runs/a", "prom"):
        path = tmp_path / folder
        assert any(Path(other) in (path, *path.parents) for other in writable)


def test_folders_that_a_service_writes_to_are_made_before_it_starts(
    make: Make, books: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    out = str(books.parent / "out")
    assert any("mkdir -p" in line and out in line for line in make("systemd", books).commands)
    os.mkdir(out)
    assert not any(out in line for line in make("systemd", books).commands)


def test_a_command_of_the_user_may_write_where_it_wants(
    make: Make, tmp_path: Path, put_job: Callable[[Path, str], Path]
) -> None:
    job = put_job(
        tmp_path / "a.yaml", "inputs: [in]\noutput: out/{stem}.m4b\non_finish: {command: ./tell}\n"
    )
    service = make("systemd", job).files["pocket-batch-a.service"]
    assert "ProtectSystem=full" in service
    assert "ReadWritePaths" not in service


def test_where_models_are_found_is_kept_but_no_secret(
    make: Make, books: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", "/data/hugging face")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    assert 'Environment="HF_HOME=/data/hugging face"' in "".join(
        make("systemd", books).files.values()
    )
    for kind in ("cron", "ray", "slurm"):
        text = "".join(make(kind, books).files.values())
        assert "'HF_HOME=/data/hugging face'" in text
        assert "hf_secret" not in text


def test_slurm_gives_the_night_that_the_job_asks_for(
    make: Make, books: Path, dataset: Path
) -> None:
    (text,) = make("slurm", books, at="23:00").files.values()
    assert "#SBATCH --time=06:40:00" in text  # 23:00 to 05:30, and ten minutes
    assert "#SBATCH --begin=23:00" in text
    (text,) = make("slurm", dataset, shards=100).files.values()
    assert "#SBATCH --array=0-99" in text
    assert "#SBATCH --time=07:40:00" in text


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("systemd", {"at": "25:00"}, "--at wants a time of day"),
        ("slurm", {"shards": 4, "nodes": 2}, "--shards works without Ray and --nodes with it"),
        ("systemd", {"nodes": 4}, "--nodes is for slurm and k8s, not for systemd"),
        ("slurm", {"image": "a"}, "--image is for k8s, not for slurm"),
        ("k8s", {"nodes": 0}, "--nodes is 0"),
        ("k8s", {"image": "a b"}, "--image"),
        ("k8s", {"time_zone": "Mars: Base"}, "--time-zone wants"),
    ],
)
def test_what_makes_no_sense_is_refused(
    make: Make, books: Path, kind: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        make(kind, books, **options)


def test_a_folder_where_a_container_has_its_own_files_is_not_hidden(
    make: Make, tmp_path: Path, put_job: Callable[[Path, str], Path]
) -> None:
    job = put_job(tmp_path / "a.yaml", "inputs: [/etc/*.txt]\noutput: out/{stem}.m4b\n")
    with pytest.raises(UsageError, match="reads or writes in /etc"):
        make("k8s", job)


def test_the_image_runs_no_root_keeps_models_outside_and_passes_signals() -> None:
    text = (shipped("jobs/schedulers") / "Dockerfile").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert 'ENTRYPOINT ["tini", "--", "pocket-batch"]' in lines
    assert "USER 1000:1000" in lines
    assert "VOLUME /models" in lines
    assert 'ARG TORCH_INDEX=""' in lines
    copied = [name for line in lines if line[:5] == "COPY " for name in line.split()[1:-1]]
    for name in copied:
        assert (REPOSITORY / name).exists()
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    for name in (*wheel["packages"], *wheel["force-include"], project["project"]["readme"]):
        assert name in copied
    assert lines.index("COPY pocket_batch pocket_batch") > lines.index(
        'RUN pip install --no-cache-dir --requirement requirements.txt "ray[default]"'
    )
