"""One line of what the doctor found."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from pocket_batch.errors import PocketBatchError

Status = Literal["ok", "warning", "problem"]
# What a machine can cause that is not set up as it should be.
FAILURES = (PocketBatchError, OSError, ImportError, ValueError, RuntimeError)


@dataclass(frozen=True, slots=True)
class Check:
    """What was looked at, how it is, and what to do about it; `node` is one of a cluster."""

    name: str
    status: Status
    found: str
    advice: str = ""
    node: str = ""

    @property
    def line(self) -> str:
        """All of it on one line."""
        name = f"{self.name} {self.node}".rstrip()
        text = f"{self.status:<9}{name}: {self.found}"
        return f"{text} -> {self.advice}" if self.advice else text


def ok(name: str, found: str, advice: str = "", node: str = "") -> Check:
    """Nothing is wrong."""
    return Check(name, "ok", found, advice, node)


def warning(name: str, found: str, advice: str, node: str = "") -> Check:
    """A night will work, but not as well as it could."""
    return Check(name, "warning", found, advice, node)


def problem(name: str, found: str, advice: str = "", node: str = "") -> Check:
    """A night will fail. Without advice, `found` has it: the messages of errors do."""
    return Check(name, "problem", found, advice, node)


def failed(name: str, error: Exception) -> Check:
    """A check that could not be made is a problem by itself."""
    if isinstance(error, PocketBatchError):
        return problem(name, str(error))
    reason = str(error).strip().partition("\n")[0]
    return problem(name, f"{type(error).__name__}: {reason}", "set this right: it stops a run too")


def guarded(name: str, look: Callable[[], Iterable[Check]]) -> Iterator[Check]:
    """The checks that `look` makes, and one more when it cannot make them."""
    try:
        yield from look()
    except FAILURES as error:
        yield failed(name, error)
