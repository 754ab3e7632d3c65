"""A service and a timer of systemd."""

import os
import pwd
import tempfile
from pathlib import Path

from pocket_batch.jobs.schedule.files import Made, filled
from pocket_batch.jobs.schedule.nightly import Nightly, caches
from pocket_batch.jobs.schedule.quoting import shell, systemd, systemd_command, systemd_word


def made(nightly: Nightly) -> Made:
    """`NAME.service` and `NAME.timer`.

    Raises:
        UsageError: systemd cannot be given a path.
    """
    name, job = nightly.name, nightly.job
    writes = _below_only((*nightly.writes, *caches(), Path(tempfile.gettempdir())))
    environment = "".join(
        f"Environment={systemd_word(f'{key}={value}')}\n"
        for key, value in nightly.environment.items()
    )
    service = filled(
        "systemd/job.service",
        job=job,
        until=nightly.until,
        description=systemd(job.name),
        user=_user(),
        folder=systemd(str(job.parent)),
        environment=environment,
        command=systemd_command([*nightly.program, "run", str(job)]),
        protection=_protection(nightly, writes),
    )
    at = f"{nightly.hour:02}:{nightly.minute:02}"
    timer = filled("systemd/job.timer", name=name, description=systemd(job.name), at=at)
    missing = [str(path) for path in writes if not path.is_dir()]
    commands = (
        *([f"mkdir -p {shell(missing)}"] if missing else []),
        f"sudo cp {name}.service {name}.timer /etc/systemd/system/",
        f"sudo systemctl daemon-reload && sudo systemctl enable --now {name}.timer",
        f"systemctl list-timers {name}.timer    # when it starts next; "
        f"`sudo systemctl start {name}` starts it now",
    )
    return Made({f"{name}.service": service, f"{name}.timer": timer}, commands)


def _user() -> str:
    """Who runs this; without a name, the number."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _protection(nightly: Nightly, writes: tuple[Path, ...]) -> str:
    """What is read-only; a command of the user's own may write wherever it wants but there."""
    hooks = (nightly.settings.on_finish, nightly.settings.on_failure)
    if any(hook.command for hook in hooks):
        return "# (all but /usr, /boot and /etc, for the commands on_finish and on_failure)\n" + (
            "ProtectSystem=full"
        )
    words = " ".join(systemd_word(str(path)) for path in writes)
    return f"ProtectSystem=strict\nReadWritePaths={words}"


def _below_only(folders: tuple[Path, ...]) -> tuple[Path, ...]:
    """Folders without those that lie in others."""
    found = dict.fromkeys(folders)
    return tuple(f for f in found if not any(other in f.parents for other in found))
