"""The measurement of everything but the engine."""

from collections.abc import Callable

import pytest


@pytest.mark.slow
def test_a_made_up_book_is_measured_by_kind_of_process(
    command: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("bench-pipeline", "--words", 3000, "--executor", "local") == 0
    shown = capsys.readouterr().out
    for word in ("3,000 words", "CPU, all", "driver", "ffmpeg", "second run"):
        assert word in shown
