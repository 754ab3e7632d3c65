"""Ogg files that are the same every time: their stream numbers are drawn by chance elsewhere.

Source: RFC 3533, section 6.
"""

import struct
import zlib

from pocket_batch.errors import AudioError

_REVERSED = bytes(int(f"{byte:08b}"[::-1], 2) for byte in range(256))
_HEADER = 27  # bytes before the table of segments


def with_serial(ogg: bytes, serial: int) -> bytes:
    """The same stream with another number on each of its pages.

    Raises:
        AudioError: it is not an Ogg file.
    """
    pages = []
    start = 0
    while start < len(ogg):
        if ogg[start : start + 4] != b"OggS" or start + _HEADER > len(ogg):
            raise AudioError("An Ogg file was wanted, and something else was found.")
        num_segments = ogg[start + 26]
        body = start + _HEADER + num_segments
        end = body + sum(ogg[start + _HEADER : body])
        page = bytearray(ogg[start:end])
        page[14:18] = struct.pack("<I", serial)
        page[22:26] = bytes(4)
        page[22:26] = struct.pack("<I", _checksum(bytes(page)))
        pages.append(bytes(page))
        start = end
    return b"".join(pages)


def _checksum(page: bytes) -> int:
    """CRC-32 of polynomial 04C11DB7 from 0, bits not reflected: zlib's, with all bits turned."""
    mirrored = zlib.crc32(page.translate(_REVERSED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return int(f"{mirrored:032b}"[::-1], 2)
