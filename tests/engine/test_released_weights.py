"""The released English model says what was written. Downloads it: `pytest -m weights`."""

from collections.abc import Callable

import pytest

import pocket_batch

TEXT = (
    "The clock in the harbour had stopped at a quarter past three. "
    "Nobody in the town remembered when it had last been right, and nobody minded."
)


@pytest.mark.weights
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_default_voice_can_be_understood(
    word_error_rate: Callable[..., float], precision: str
) -> None:
    from scipy.signal import resample_poly

    engine = pocket_batch.load_engine("pocket", language="english", precision=precision)  # type: ignore[arg-type]
    audio = engine.say(TEXT, "alba")
    assert 5 < len(audio) / engine.sampling_rate_hz < 20
    assert word_error_rate(resample_poly(audio, 2, 3), TEXT) < 0.10
