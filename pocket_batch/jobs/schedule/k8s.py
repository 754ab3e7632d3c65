"""Manifests for Kubernetes: a CronJob that makes a RayJob, or one with a pod for each part."""

import os
import re
from importlib.metadata import version
from pathlib import Path

from pocket_batch.config import shipped
from pocket_batch.errors import UsageError, writing
from pocket_batch.jobs.schedule.files import Made, filled
from pocket_batch.jobs.schedule.nightly import Nightly
from pocket_batch.jobs.schedule.quoting import shell, yaml_block, yaml_text

MAX_JOB_BYTES = 500_000  # a ConfigMap has room for a million, and holds the rest as well
IMAGE = "pocket-batch"
MODELS = Path("/models")  # of the Dockerfile
SIZES = {"input": "20Gi", "output": "100Gi", "models": "10Gi"}

_ZONE = r"[A-Za-z_]+(/[\w+-]+)*"  # Europe/Berlin, America/Port-au-Prince, Etc/GMT+3

# Where a volume would hide what the container needs. `/home/me` may be hidden, `/home` too.
_OF_THE_SYSTEM = "/ /bin /boot /dev /etc /lib /lib64 /models /proc /run /sbin /sys /tmp /usr /var"


def made(nightly: Nightly) -> Made:
    """`NAME-volumes.yaml` and `NAME.yaml`. Folders have the same paths in pods as here.

    Raises:
        UsageError: a folder cannot be mounted, or the job file is too large.
    """
    mounts = _mounts(nightly)
    name, image = nightly.name, nightly.options.image or IMAGE
    claims = [kind for kind in SIZES if any(claim == kind for claim, _ in mounts)]
    fields = {
        "name": name,
        "job": nightly.job,
        "until": nightly.until,
        "hour": nightly.hour,
        "minute": nightly.minute,
        "image": image,
        "time_zone": _time_zone(nightly.options.time_zone),
        "cpus": nightly.cpus,
        "memory": f"{nightly.cpus + 4}Gi",  # 1 GB a core for models, the rest for Ray
        "job_text": yaml_block(_job_text(nightly.job), 4),
        "mounts": _mount_lines(nightly, mounts),
        "volumes": _volume_lines(name, claims),
    }
    text = _cluster(nightly, fields) if nightly.shards is None else _parts(nightly, fields)
    volumes = filled("k8s/volumes.yaml", claims=_claims(name, claims))
    files = {f"{name}-volumes.yaml": volumes, f"{name}.yaml": text}
    return Made(files, _commands(name), (*_notes(image, mounts), *nightly.notes))


def _cluster(nightly: Nightly, fields: dict[str, object]) -> str:
    # The head node has only the driver to run besides, so it speaks as well: one of the nodes.
    rayjob = filled(
        "k8s/rayjob.yaml", **fields, workers=nightly.nodes - 1, ray_version=version("ray")
    )
    start = (shipped("jobs/schedulers") / "k8s" / "start_rayjob.py").read_text(encoding="utf-8")
    return filled(
        "k8s/cluster.yaml",
        **fields,
        run_text=yaml_block(_run_script(nightly, "--address auto"), 4),
        rayjob_text=yaml_block(rayjob, 4),
        start_text=yaml_block(start, 4),
    )


def _parts(nightly: Nightly, fields: dict[str, object]) -> str:
    shard = f'--shard "$JOB_COMPLETION_INDEX/{nightly.shards}"'
    run = yaml_block(_run_script(nightly, shard), 4)
    return filled("k8s/parts.yaml", **fields, shards=nightly.shards, run_text=run)


def _run_script(nightly: Nightly, options: str) -> str:
    command = shell(["pocket-batch", "run", str(nightly.job)])
    return filled("k8s/run.sh", command=f"{command} {options}")


def _mounts(nightly: Nightly) -> list[tuple[str, Path]]:
    """Which claim is seen at which folder; of folders in one another the outermost."""
    found: dict[Path, str] = dict.fromkeys(nightly.reads, "input")
    found |= dict.fromkeys(nightly.writes, "output")
    outer = [path for path in found if not any(other in path.parents for other in found)]
    writes = {top for top in outer for path in nightly.writes if top in (path, *path.parents)}
    for path in (*outer, nightly.job):
        if ":" in str(path):
            raise UsageError(f"Kubernetes cannot mount {path}: its path has a colon. Rename it.")
    for path in outer:
        if str(path) in _OF_THE_SYSTEM.split():
            raise UsageError(
                f"{nightly.job} reads or writes in {path}, where a container has its own files. "
                "Put the inputs and the output into folders of their own."
            )
    return [("models", MODELS), *(("output" if p in writes else "input", p) for p in outer)]


def _mount_lines(nightly: Nightly, mounts: list[tuple[str, Path]]) -> str:
    """Mounts in YAML. A claim that is seen at several folders has a folder for each."""
    lines = ["- {name: settings, mountPath: /etc/pocket-batch}"]
    for kind, path in mounts:
        same = [other for claim, other in mounts if claim == kind]
        folder = f", subPath: {kind}-{same.index(path) + 1}" if len(same) > 1 else ""
        lines.append(f"- {{name: {kind}, mountPath: {yaml_text(str(path))}{folder}}}")
    job = yaml_text(str(nightly.job))
    lines.append(f"- {{name: settings, mountPath: {job}, subPath: job.yaml}}")
    return "\n".join(f"                {line}" for line in lines)


def _volume_lines(name: str, claims: list[str]) -> str:
    lines = [f"- {{name: settings, configMap: {{name: {name}}}}}"]
    for kind in claims:
        lines.append(f"- {{name: {kind}, persistentVolumeClaim: {{claimName: {name}-{kind}}}}}")
    return "\n".join(f"            {line}" for line in lines)


def _claims(name: str, kinds: list[str]) -> str:
    texts = (
        filled("k8s/claim.yaml", claim=f"{name}-{kind}", name=name, size=SIZES[kind])
        for kind in kinds
    )
    return "".join(texts).removesuffix("\n")


def _job_text(job: Path) -> str:
    with writing(job):
        text = job.read_text(encoding="utf-8-sig")
    if len(text.encode()) > MAX_JOB_BYTES:
        raise UsageError(
            f"{job} has {len(text.encode()):,} bytes, more than fit in a ConfigMap. "
            "Name its inputs by a glob or an inbox."
        )
    return text


def _time_zone(given: str | None) -> str:
    """The time zone asked for, or that of this machine: `Etc/UTC` when it has no name.

    Raises:
        UsageError: that is no name of a time zone.
    """
    if given is not None and not re.fullmatch(_ZONE, given, re.ASCII):
        raise UsageError(f"--time-zone wants a name such as Europe/Berlin, not `{given:.60}`.")
    found = re.search(r"/zoneinfo/(?:posix/)?(.+)$", os.path.realpath("/etc/localtime"))
    name = given or os.environ.get("TZ", "").lstrip(":") or (found[1] if found else "")
    return name if re.fullmatch(_ZONE, name, re.ASCII) else "Etc/UTC"


def _commands(name: str) -> tuple[str, ...]:
    return (
        f"kubectl apply -f {name}-volumes.yaml -f {name}.yaml",
        f"kubectl create job --from=cronjob/{name} {name}-now    # starts it now",
    )


def _notes(image: str, mounts: list[tuple[str, Path]]) -> tuple[str, ...]:
    """What else there is to do: the image, and the inputs, which lie on a volume."""
    return (
        "The image is made in a checkout of pocket-batch, and put where the cluster finds it:",
        f"  docker build -f jobs/schedulers/Dockerfile -t {image} . && docker push {image}",
        "In the pods, folders have the paths that they have here, each on a volume:",
        *(f"  {path} on `{kind}`" for kind, path in mounts),
    )
