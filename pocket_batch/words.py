"""Numbers as people read them."""


def duration(seconds: float) -> str:
    """`9,840` seconds -> `2 h 44 min`; below an hour `3 min 5 s`, below a minute `5 s`."""
    seconds = round(seconds)
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def size(num_bytes: float) -> str:
    """`76_400_000` -> `76 MB`, in decimal units as disks are sold."""
    for unit in ("bytes", "kB", "MB"):
        if num_bytes < 1000:
            return f"{num_bytes:.0f} {unit}"
        num_bytes /= 1000
    return f"{num_bytes:.1f} GB"


def plural(count: int, noun: str) -> str:
    """`1 chapter`, `12 chapters`, with thousands separated."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
