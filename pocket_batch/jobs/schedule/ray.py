"""A script that hands the job to a running Ray cluster."""

from pocket_batch.jobs.schedule.files import Made, filled
from pocket_batch.jobs.schedule.nightly import Nightly
from pocket_batch.jobs.schedule.quoting import shell


def made(nightly: Nightly) -> Made:
    """`NAME-ray.sh`, around `ray job submit`."""
    file = f"{nightly.name}-ray.sh"
    words = [*nightly.program, "run", str(nightly.job), "--address", "auto"]
    if nightly.environment:
        words = ["env", *(f"{k}={v}" for k, v in nightly.environment.items()), *words]
    text = filled(
        "ray/submit.sh",
        name=nightly.name,
        file=file,
        job=nightly.job,
        until=nightly.until,
        command=shell(words),
    )
    when = f"{nightly.minute} {nightly.hour} * * *"
    return Made(
        {file: text},
        (
            f"./{file}    # now",
            f"(crontab -l 2>/dev/null; echo \"{when} '$PWD/{file}'\") | crontab -    # every night",
        ),
        ("RAY_API_SERVER_ADDRESS names the cluster, such as http://head-node:8265.",),
    )
