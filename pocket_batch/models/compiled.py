"""Functions of many small steps that run without Python's lock, so that lanes need not wait."""

import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import torch

P = ParamSpec("P")
R = TypeVar("R")


def without_lock(function: Callable[P, R]) -> Callable[P, R]:
    """The same function with the same results, as code of torch's own interpreter.

    Each call of torch from Python gives the lock back and takes it again, and whoever waits for it
    sleeps meanwhile. A function made of torch calls alone does so once. Numbers from around it may
    only be defaults of its arguments, and `type: ignore` in it may name one rule at most. Where
    torch cannot read it (no such operator, no source at hand, an interpreter that is no more), the
    function is left as it is.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is deprecated, with nothing in its place that is small
        try:
            compiled: Callable[P, R] = torch.jit.script(function)
        except (AttributeError, OSError, RuntimeError):
            return function
    return compiled
