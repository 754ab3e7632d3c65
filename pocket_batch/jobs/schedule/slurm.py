"""Scripts for `sbatch`: Ray on several nodes, or an array of parts."""

import math
from pathlib import Path

from pocket_batch.jobs.schedule.files import Made, filled
from pocket_batch.jobs.schedule.nightly import Nightly
from pocket_batch.jobs.schedule.quoting import shell

UNSAID_HOURS = 8.0  # of a job without a deadline: a night
MARGIN_MINUTES = 10  # beyond the job's own deadline: to start, and to stop by itself


def made(nightly: Nightly) -> Made:
    """`NAME.sbatch`."""
    exports = (f"export {shell([f'{k}={v}'])}\n" for k, v in nightly.environment.items())
    fields = {
        "name": nightly.name,
        "job": nightly.job,
        "until": nightly.until,
        "at": f"{nightly.hour:02}:{nightly.minute:02}",
        "limit": _limit(nightly.hours or UNSAID_HOURS),
        "cpus": nightly.cpus,
        "environment": "".join(exports),
        "command": shell([*nightly.program, "run", str(nightly.job)]),
    }
    shards = nightly.shards
    if shards is not None:
        text = filled("slurm/array.sbatch", shards=shards, last=shards - 1, **fields)
    else:
        text = filled("slurm/ray.sbatch", nodes=nightly.nodes, ray=_ray(nightly), **fields)
    file = f"{nightly.name}.sbatch"
    at = f"{nightly.minute} {(nightly.hour - 1) % 24}"  # an hour before it begins
    return Made(
        {file: text},
        (
            f"sbatch {file}    # the next night",
            f"(scrontab -l 2>/dev/null; echo \"{at} * * * sbatch '$PWD/{file}'\") | scrontab -"
            "    # every night",
        ),
        nightly.notes,
    )


def _ray(nightly: Nightly) -> str:
    """The command `ray` of the same installation."""
    return shell([str(Path(nightly.program[0]).with_name("ray"))])


def _limit(hours: float) -> str:
    """A time limit as Slurm writes it: `07:40:00`."""
    minutes = math.ceil(hours * 60) + MARGIN_MINUTES
    return f"{minutes // 60:02}:{minutes % 60:02}:00"
