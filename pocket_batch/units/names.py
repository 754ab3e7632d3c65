"""Where the files of a unit lie in a data set."""


def unit_file(unit_id: str, suffix: str) -> str:
    """`("abcd...", "tar")` -> `units/ab/abcd....tar`: no folder gets more than some thousands."""
    return f"units/{unit_id[:2]}/{unit_id}.{suffix}"
