"""How the memory allocator treats what is freed."""

import ctypes

# Parameters of glibc's mallopt. Source: malloc.h.
M_TRIM_THRESHOLD = -1
M_TOP_PAD = -2
M_MMAP_THRESHOLD = -3
M_ARENA_MAX = -8
MAX_MMAP_THRESHOLD = 32 * 2**20  # glibc takes no more: HEAP_MAX_SIZE / 2 in its malloc.c
KEPT_BYTES = 1 << 30


def keep_freed_memory() -> None:
    """Let this process use freed memory again instead of giving it back; glibc only.

    Every product makes a new tensor, often of some megabytes. When it is freed, glibc gives its
    pages back, and getting them anew costs more than filling them.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return  # another C library
    mallopt(M_MMAP_THRESHOLD, MAX_MMAP_THRESHOLD)
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES)
    mallopt(M_TOP_PAD, 2**20)
    mallopt(M_ARENA_MAX, 1)  # what one lane has freed, the other may use
