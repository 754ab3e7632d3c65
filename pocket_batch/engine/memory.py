"""How the memory allocator treats what is freed."""

import ctypes

# Parameters of glibc's mallopt. Source: malloc.h.
M_MXFAST = 1
M_TRIM_THRESHOLD = -1
M_TOP_PAD = -2
M_MMAP_THRESHOLD = -3
M_ARENA_MAX = -8
MAX_MMAP_THRESHOLD = 32 * 2**20  # glibc takes no more: HEAP_MAX_SIZE / 2 in its malloc.c
KEPT_BYTES = 1 << 30
TOP_PAD = 64 * 2**20  # as large as a piece of an arena: one that is empty is kept then. Likewise


def keep_freed_memory(num_lanes: int) -> None:
    """Let this process use freed memory again instead of giving it back; glibc only.

    Every product makes a new tensor, often of some megabytes. When it is freed, glibc gives its
    pages back, and getting them anew costs more than filling them. Every lane has an arena beside
    that of the main thread: with one for all they waited for its lock, at every tensor.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return  # another C library
    mallopt(M_MMAP_THRESHOLD, MAX_MMAP_THRESHOLD)
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)
    mallopt(M_TOP_PAD, TOP_PAD)
    mallopt(M_MXFAST, 0)  # or every large tensor that is freed has all small pieces looked through
    mallopt(M_ARENA_MAX, num_lanes + 1)
