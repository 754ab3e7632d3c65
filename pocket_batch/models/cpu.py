"""What the processor of this machine is and can do, found without torch."""

import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

CPUINFO = Path("/proc/cpuinfo")
# Instructions for products in bfloat16, as systems call them: x86 (AVX512-BF16, AMX), Arm on
# Linux, and Arm on macOS.
BF16_FEATURES = frozenset({"avx512_bf16", "amx_bf16", "bf16", "hw.optional.arm.FEAT_BF16"})


@dataclass(frozen=True, slots=True)
class Cpu:
    """A processor: its name, and its features by the names that the system has for them."""

    name: str
    features: frozenset[str]

    @property
    def has_bf16(self) -> bool:
        """Whether it has instructions for products in bfloat16."""
        return not BF16_FEATURES.isdisjoint(self.features)


class Measured(NamedTuple):
    """How the products of a precision do beside those in fp32.

    `speed` is how many times as fast they are, `error` the norm of the difference of their results
    by the norm of the results.
    """

    speed: float
    error: float


def read_cpu(cpuinfo: Path = CPUINFO, system: str = "") -> Cpu:
    """The processor of this machine; without features where the system does not list them."""
    if (system or platform.system()) == "Darwin":
        return _from_sysctl(_sysctl())
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return Cpu(platform.processor() or platform.machine(), frozenset())
    return _from_cpuinfo(text)


def _from_cpuinfo(text: str) -> Cpu:
    """Lines such as `model name : AMD EPYC`, for every core; the last one stands for all."""
    fields = _fields(text)
    features = fields.get("flags") or fields.get("Features", "")  # x86, Arm
    parts = (fields.get(f"CPU {name}", "") for name in ("implementer", "part"))
    name = fields.get("model name") or " ".join(filter(None, parts)) or platform.machine()
    return Cpu(name, frozenset(features.split()))


def _from_sysctl(text: str) -> Cpu:
    """Lines such as `hw.optional.arm.FEAT_BF16: 1`."""
    fields = _fields(text)
    name = fields.pop("machdep.cpu.brand_string", platform.machine())
    return Cpu(name, frozenset(key for key, value in fields.items() if value == "1"))


def _fields(text: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in text.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _sysctl() -> str:
    command = ("sysctl", "machdep.cpu.brand_string", "hw.optional")
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""
