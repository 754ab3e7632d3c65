"""What tests that shoot at processes share."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


def _workers_of(driver: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            if b"ray::Worker" in command and driver in _ancestors(int(folder.name)):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def _ancestors(pid: int) -> list[int]:
    found = []
    while pid > 1:
        status = Path(f"/proc/{pid}/status").read_text()
        pid = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("PPid"))
        found.append(pid)
    return found


@pytest.fixture(scope="session")
def workers_of() -> Callable[[int], list[int]]:
    """Pids of the speaking processes that descend from one driver."""
    return _workers_of


@pytest.fixture(scope="module")
def slow_voice_by_name(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A voice `slow` among those of the user, for the processes that a test starts."""
    voices = tmp_path_factory.mktemp("config") / "pocket-batch" / "voices"
    voices.mkdir(parents=True)
    (voices / "slow.yaml").write_text(
        "{name: slow, engine: fake, language: en, licence: CC0-1.0, description: slow,"
        " source: test, parameters: {sleep_s_per_audio_s: '0.01'}}"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(voices.parents[1]))
        yield
