"""What a processor can do is read from what the system says of it."""

from pathlib import Path

import pytest

from pocket_batch.models import cpu
from pocket_batch.models.cpu import read_cpu

ZEN4 = (
    "processor\t: 0\nmodel name\t: AMD EPYC\nflags\t\t: fpu avx2 avx512f avx512_bf16 avx512_vnni\n"
)
HASWELL = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R)\nflags\t\t: fpu sse2 avx2\n"
GRAVITON = (
    "processor\t: 0\nFeatures\t: fp asimd asimddp bf16 i8mm\n"
    "CPU implementer\t: 0x41\nCPU part\t: 0xd40\n"
)


@pytest.mark.parametrize(
    ("content", "name", "has_bf16"),
    [
        (ZEN4, "AMD EPYC", True),
        (ZEN4 + "\n" + ZEN4, "AMD EPYC", True),
        (HASWELL, "Intel(R) Xeon(R)", False),
        (HASWELL.replace("avx2", "amx_bf16"), "Intel(R) Xeon(R)", True),
        (GRAVITON, "0x41 0xd40", True),
        (GRAVITON.replace(" bf16", ""), "0x41 0xd40", False),
    ],
)
def test_linux_lists_names_and_features(
    tmp_path: Path, content: str, name: str, has_bf16: bool
) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text(content)
    found = read_cpu(path, "Linux")
    assert (found.name, found.has_bf16) == (name, has_bf16)


@pytest.mark.parametrize(("value", "has_bf16"), [("1", True), ("0", False)])
def test_macos_says_each_feature_by_itself(
    monkeypatch: pytest.MonkeyPatch, value: str, has_bf16: bool
) -> None:
    text = f"machdep.cpu.brand_string: Apple M2\nhw.optional.arm.FEAT_BF16: {value}\n"
    monkeypatch.setattr(cpu, "_sysctl", lambda: text)
    found = read_cpu(system="Darwin")
    assert (found.name, found.has_bf16) == ("Apple M2", has_bf16)


def test_a_system_that_says_nothing_has_a_processor_without_features(tmp_path: Path) -> None:
    assert not read_cpu(tmp_path / "none", "Windows").has_bf16
    assert not read_cpu(tmp_path / "none", "Linux").features
