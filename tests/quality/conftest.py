"""The tools that plant faults in real speech and count those that are found."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def detection() -> ModuleType:
    """`detection.py` of this folder, which can be run by hand as well."""
    path = Path(__file__).with_name("detection.py")
    spec = importlib.util.spec_from_file_location("detection", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["detection"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
