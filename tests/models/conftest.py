"""A fake hub on loopback, with a cache of its own for each test, and the golden option."""

import contextlib
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest


def load_helper(name: str) -> Any:
    """A module beside this file: test folders are no packages."""
    if name not in sys.modules:
        spec = spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        assert spec
        assert spec.loader
        sys.modules[name] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


fake_hub = load_helper("fake_hub").fake_hub


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--save-golden`, unless another folder's tests have added it already."""
    with contextlib.suppress(ValueError):
        parser.addoption("--save-golden", action="store_true", help="rewrite the golden files")


@pytest.fixture
def save_golden(request: pytest.FixtureRequest) -> bool:
    """Tell whether golden files are to be rewritten rather than compared."""
    return bool(request.config.getoption("--save-golden", default=False))
