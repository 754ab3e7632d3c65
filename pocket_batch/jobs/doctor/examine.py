"""All checks in turn."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pocket_batch.jobs.doctor import machine, models, places, surroundings
from pocket_batch.jobs.doctor.checks import FAILURES, Check, failed, guarded
from pocket_batch.jobs.doctor.cluster import cluster
from pocket_batch.jobs.doctor.subject import Subject, make_subject
from pocket_batch.settings import ExecutorSettings


def examine(job: Path | None, address: str = "") -> Iterator[Check]:
    """Look at this machine, at a job, and at the cluster that it or `address` names.

    Changes nothing but folders for locks, and uses the network for the cluster alone. Each check
    comes as soon as it is known.
    """
    subject, checks = _subject(job)
    address = address or subject.executor.address
    subject = replace(subject, executor=replace(subject.executor, address=address))
    yield from checks
    yield from guarded("versions", machine.versions)
    yield from guarded("cores", lambda: machine.core_count(subject))
    yield from guarded("memory", lambda: machine.memory(subject))
    yield from guarded("clock", machine.clock)
    yield from guarded("ffmpeg", lambda: models.encoder(subject))
    yield from guarded("model cache", models.cache)
    yield from guarded("embedded voice", models.embedded_voice)
    yield from guarded("disk", lambda: places.disks(subject))
    yield from guarded("shared memory", places.shared_memory)
    yield from guarded("core leases", places.leases)
    yield from guarded("sockets", places.sockets)
    yield from guarded("home", places.home)
    yield from guarded("environment", lambda: surroundings.variables(address))
    yield from guarded("token", lambda: surroundings.token(address))
    if address:
        yield from guarded("cluster", lambda: cluster(address, subject))


def _subject(job: Path | None) -> tuple[Subject, list[Check]]:
    """What is looked at; nobody in particular when even that cannot be found out."""
    try:
        return make_subject(job)
    except FAILURES as error:
        return Subject(ExecutorSettings(), (), {}), [failed("job" if job else "voice", error)]
