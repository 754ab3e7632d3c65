"""The memory allocator."""

import ctypes
import resource
import sys

import pytest
import torch

from pocket_batch.engine.memory import keep_freed_memory


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a matter of glibc")
def test_memory_that_is_freed_is_used_again_without_new_pages() -> None:
    keep_freed_memory(2)

    def num_new_pages() -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for num in (1, 3, 2, 4):
            del_me = torch.zeros(num * 1_000_000)
            del del_me
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    num_new_pages()
    assert num_new_pages() < 500  # ten million numbers are ten thousand pages


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_library(name: None) -> None:
        raise TypeError

    monkeypatch.setattr(ctypes, "CDLL", no_library)
    keep_freed_memory(2)
