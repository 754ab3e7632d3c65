"""The machine that a measurement ran on, so that its figures can be told from another's."""

import os
import platform
import subprocess
import time
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pocket_batch.executors.cores import usable_cores
from pocket_batch.models.cpu import read_cpu

INSTRUCTIONS = {  # what makes a difference to products of matrices, by its name in the system
    "avx2": "AVX2",
    "avx512f": "AVX-512",
    "avx512_bf16": "AVX512-BF16",
    "avx512_vnni": "AVX512-VNNI",
    "avx_vnni": "AVX-VNNI",
    "amx_bf16": "AMX-BF16",
    "amx_int8": "AMX-INT8",
    "asimddp": "NEON dot product",
    "bf16": "NEON BF16",
    "i8mm": "NEON I8MM",
    "hw.optional.arm.FEAT_BF16": "NEON BF16",
    "hw.optional.arm.FEAT_I8MM": "NEON I8MM",
}
PACKAGES = ("torch", "pocket-tts")


def describe_machine() -> dict[str, str]:
    """Processor, cores, what else runs, versions, commit and date, each in words."""
    cpu = read_cpu()
    return {
        "date": time.strftime("%Y-%m-%d"),
        "commit": commit(),
        "processor": cpu.name,
        "instructions": instructions(cpu.features),
        "cores": str(usable_cores()),
        "load before": f"{os.getloadavg()[0]:.1f}",
        "python": platform.python_version(),
        **{package: _version(package) for package in PACKAGES},
    }


def instructions(features: Iterable[str]) -> str:
    """Those of a processor that matter here, such as `AVX2, AVX512-BF16`."""
    known = frozenset(features)
    return ", ".join(name for feature, name in INSTRUCTIONS.items() if feature in known) or "plain"


def commit(folder: Path = Path(__file__).parent) -> str:
    """The commit of the checkout that this runs from, `with changes` when its code was changed;
    else the version of the package."""
    git = ("git", "-C", str(folder))
    try:
        found = subprocess.run(
            [*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True
        )
        changes = subprocess.run(
            [*git, "status", "--porcelain", "--untracked-files=no"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return f"version {_version('pocket-batch')}"
    return found.stdout.strip() + " with changes" * bool(changes.stdout.strip())


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
