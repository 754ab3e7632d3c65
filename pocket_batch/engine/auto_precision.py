"""The precision `auto`: what is fast and right on this machine.

It is bf16 where the processor has instructions for it and a check shows that torch makes good use
of them, else fp32. It is never `mixed`: nobody has yet compared that with the others by ear or by
word error rate on the released weights. The check is made once for a processor, a torch and a
version of this package; it is remembered in the cache folder.

`auto` is a choice of the user and becomes one of the others before anything is made with it: all
workers of a run, on whatever machine, speak in the precision that it was planned with.
"""

import json
import logging
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import get_args

from pocket_batch.config import cache_folder
from pocket_batch.data import Precision
from pocket_batch.errors import OutputError
from pocket_batch.manifest import content_key, write_atomic
from pocket_batch.models.cpu import Cpu, Measured, read_cpu
from pocket_batch.settings import PrecisionChoice

logger = logging.getLogger(__name__)

MIN_SPEED = 1.3  # times that of fp32, from which it is worth its error
MAX_ERROR = 0.01  # of products in bf16; right ones have 0.003


def resolved(choice: PrecisionChoice) -> Precision:
    """The precision that a choice means on this machine."""
    return choose_precision() if choice == "auto" else choice


def choose_precision() -> Precision:
    """What `auto` means on this machine; imports torch only for a check not made before."""
    cpu = read_cpu()
    return _choose(cpu, measured(cpu)) if cpu.has_bf16 else "fp32"


def known_precisions() -> str:
    """How fast products of matrices are beside those in fp32, such as `bf16 2.1x, mixed 3.9x; auto
    is bf16`; empty if that was not measured yet. Never imports torch.
    """
    cpu = read_cpu()
    found = _read(_path(cpu))
    if not found:
        return ""
    speeds = [f"{name} {measured.speed:.1f}x" for name, measured in found.items() if name != "fp32"]
    return f"{', '.join(speeds)}; auto is {_choose(cpu, found)}"


def measured(cpu: Cpu) -> dict[Precision, Measured]:
    """How each precision does on this machine, measured now unless that was done before."""
    path = _path(cpu)
    found = _read(path)
    if found is None:
        from pocket_batch.models.speed import measure_precisions

        logger.info("Measuring how fast each precision is on this machine, once.")
        found = measure_precisions()
        with suppress(OSError, OutputError):  # without a cache, it is measured again next time
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, json.dumps(found).encode())
    return found


def _choose(cpu: Cpu, found: dict[Precision, Measured]) -> Precision:
    bf16 = found["bf16"]
    is_good = cpu.has_bf16 and bf16.speed >= MIN_SPEED and bf16.error <= MAX_ERROR
    return "bf16" if is_good else "fp32"


def _path(cpu: Cpu) -> Path:
    """Where the check of this processor with these versions is remembered."""
    key = content_key(
        name=cpu.name,
        features=" ".join(sorted(cpu.features)),
        torch=_version("torch"),
        version=_version("pocket-batch"),
    )
    return cache_folder() / "precisions" / f"{key[:16]}.json"


def _read(path: Path) -> dict[Precision, Measured] | None:
    """A check that was made before; None when there is none, or its file is damaged."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {
            name: Measured(float(content[name][0]), float(content[name][1]))
            for name in get_args(Precision)
        }
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return None


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
