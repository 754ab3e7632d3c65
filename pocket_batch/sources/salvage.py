"""Members of a damaged ZIP archive, found and unpacked without its table of contents."""

import re
import struct
import zipfile
import zlib
from pathlib import Path

# Signature, version, flags, method, time, date, CRC, packed size, size, lengths of name and extra.
# Source: PKWARE APPNOTE 6.3.10, 4.3.7.
LOCAL_HEADER = struct.Struct("<4sHHHHHIIIHH")
SIGNATURE = b"PK\3\4"
# What ends the data of a member whose size was not known when its header was written.
NEXT = re.compile(rb"PK(?:\x03\x04|\x07\x08|\x01\x02|\x05\x06)")
MAX_FILE_BYTES = 1 << 30
IS_UTF8, SIZES_FOLLOW = 0x800, 0x8


def find_members(path: Path, max_entries: int) -> list[zipfile.ZipInfo]:
    """The members of an archive by their local headers, for one that is cut short.

    `header_offset` and `compress_size` of what is returned tell where the data is, as far as it is
    there. Empty when there is none, or the file is too large to be a book.
    """
    if path.stat().st_size > MAX_FILE_BYTES:
        return []
    data = path.read_bytes()
    members: list[zipfile.ZipInfo] = []
    place = data.find(SIGNATURE)
    while place >= 0 and len(members) < max_entries:
        info = _member(data, place)
        if info is None:
            place = data.find(SIGNATURE, place + 4)
            continue
        members.append(info)
        place = data.find(SIGNATURE, _data_offset(data, place) + info.compress_size)
    return members


def unpack(path: Path, info: zipfile.ZipInfo, max_bytes: int) -> tuple[bytes, bool]:
    """The bytes of a member as far as they can be unpacked, without looking at its checksum.

    Returns:
        At most `max_bytes` bytes, and whether that is the whole member.

    Raises:
        NotImplementedError: it is packed by a method other than deflate.
    """
    with path.open("rb") as file:
        file.seek(info.header_offset)
        header = file.read(LOCAL_HEADER.size)
        if len(header) < LOCAL_HEADER.size or not header.startswith(SIGNATURE):
            return b"", False
        file.seek(sum(LOCAL_HEADER.unpack(header)[-2:]), 1)
        packed = file.read(info.compress_size)
    if info.compress_type == zipfile.ZIP_STORED:
        return packed[:max_bytes], len(packed) == info.compress_size
    if info.compress_type != zipfile.ZIP_DEFLATED:
        raise NotImplementedError(f"compression method {info.compress_type}")
    return _inflated(packed, max_bytes)


def _inflated(packed: bytes, max_bytes: int) -> tuple[bytes, bool]:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    parts: list[bytes] = []
    num_bytes = 0
    try:
        # In small steps, so that everything before a damaged place comes out.
        for start in range(0, len(packed), 512):
            part = inflater.decompress(packed[start : start + 512], max_bytes - num_bytes)
            parts.append(part)
            num_bytes += len(part)
            if inflater.eof or num_bytes >= max_bytes:
                break
    except zlib.error:
        pass  # what was unpacked before is all there is
    return b"".join(parts), inflater.eof


def _member(data: bytes, place: int) -> zipfile.ZipInfo | None:
    try:
        fields = LOCAL_HEADER.unpack_from(data, place)
    except struct.error:
        return None
    flags, method, checksum, packed_size, size, name_length = (*fields[2:4], *fields[6:10])
    start = place + LOCAL_HEADER.size
    raw_name = data[start : start + name_length]
    if not raw_name or method > 100:
        return None
    info = zipfile.ZipInfo(raw_name.decode("utf-8" if flags & IS_UTF8 else "cp437", "replace"))
    info.header_offset, info.flag_bits, info.compress_type = place, flags, method
    info.CRC, info.file_size, info.compress_size = checksum, size, packed_size
    if flags & SIZES_FOLLOW and not packed_size:
        begin = _data_offset(data, place)
        end = NEXT.search(data, begin)
        info.compress_size = (end.start() if end else len(data)) - begin
    return info


def _data_offset(data: bytes, place: int) -> int:
    name_length, extra_length = struct.unpack_from("<HH", data, place + 26)
    return place + LOCAL_HEADER.size + int(name_length) + int(extra_length)
