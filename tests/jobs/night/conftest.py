"""What tests of nightly runs share: rounds of chaos, and what they are made of."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # so that chaos.py runs by hand as well
from chaos import Chaos, chaos


@pytest.fixture(scope="module")
def rounds() -> Iterator[Chaos]:
    """All that rounds of chaos have in common, with a calm run to compare them with."""
    is_short = os.environ.get("POCKET_BATCH_SLOW") == "short"
    with chaos(1 if is_short else 5) as all_rounds:
        yield all_rounds
