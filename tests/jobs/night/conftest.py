"""What tests of nightly runs share: rounds of chaos, and what they are made of."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parent))  # so that chaos.py runs by hand as well
from chaos import Chaos, chaos


@pytest.fixture(scope="module")
def rounds() -> Iterator[Chaos]:
    """All that rounds of chaos have in common, with a calm run to compare them with."""
    with chaos() as all_rounds:
        yield all_rounds
