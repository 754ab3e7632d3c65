"""A line of a crontab."""

from pathlib import Path

from pocket_batch.jobs.schedule.files import Made, filled
from pocket_batch.jobs.schedule.nightly import Nightly
from pocket_batch.jobs.schedule.quoting import cron, shell


def made(nightly: Nightly) -> Made:
    """`NAME.cron`, one line. It prints, and so sends a mail, when a person has to look.

    Raises:
        UsageError: cron cannot be given a path, or so long a line.
    """
    job = nightly.job
    log = job.with_name(f"{job.stem}.cron.log")
    path = f"{Path(nightly.program[0]).parent}:/usr/local/bin:/usr/bin:/bin"
    environment = shell([f"{k}={v}" for k, v in {"PATH": path, **nightly.environment}.items()])
    run = shell([*nightly.program, "run", str(job), "--quiet"])
    # 75: stopped at its deadline; 6: another run is still at work. Neither wants a person.
    command = (
        f"cd {shell([str(job.parent)])} && env {environment} {run} >>{shell([str(log)])} 2>&1; "
        f"code=$?; case $code in 0|6|75) ;; *) echo {shell([f'{job}: exit code'])} $code, "
        f"see {shell([str(log)])} ;; esac"
    )
    line = filled("cron/job.cron", minute=nightly.minute, hour=nightly.hour, command=cron(command))
    file = f"{nightly.name}.cron"
    return Made(
        {file: line},
        (f"(crontab -l 2>/dev/null; cat {file}) | crontab -    # adds the line to your crontab",),
        (f"It starts at {nightly.hour}:{nightly.minute:02} and works {nightly.until}.",),
    )
