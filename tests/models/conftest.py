"""The option that rewrites the golden tensors."""

import contextlib

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--save-golden`, unless another folder's tests have added it already."""
    with contextlib.suppress(ValueError):
        parser.addoption("--save-golden", action="store_true", help="rewrite the golden files")


@pytest.fixture
def save_golden(request: pytest.FixtureRequest) -> bool:
    """Tell whether golden files are to be rewritten rather than compared."""
    return bool(request.config.getoption("--save-golden", default=False))
