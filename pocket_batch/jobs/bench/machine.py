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
PACKAGE = Path(__file__).parents[2]
THIS_FILE = Path(__file__).relative_to(PACKAGE).as_posix()


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


def commit(package: Path = PACKAGE) -> str:
    """The commit of the checkout that this runs from, `with changes` when the package was changed;
    else its version: a checkout around an installed package, such as one with a `.venv` in it, is
    of something else, and does not track this file."""
    try:
        _git(package, "ls-files", "--error-unmatch", THIS_FILE)
        found = _git(package, "rev-parse", "--short", "HEAD")
        changes = _git(package, "status", "--porcelain", "--untracked-files=no", "--", ".")
    except (OSError, subprocess.CalledProcessError):
        return f"version {_version('pocket-batch')}"
    return found + " with changes" * bool(changes)


def _git(folder: Path, *words: str) -> str:
    """What git prints in a folder."""
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
