"""What is known of the speech of a book that was made, for its line in the summary."""

import json
from dataclasses import dataclass
from typing import Any

from pocket_batch.work_folder import WorkFolder


@dataclass(frozen=True, slots=True)
class Verdict:
    """From `quality.json`: `level` is ok, warning or critical, empty where nothing is known.

    `wer` is the share of wrong words in what was listened to, `similarity` that of the voice that
    is least like itself, None where nothing was listened to or compared. `problem` says what is
    critical.
    """

    level: str = ""
    wer: float | None = None
    similarity: float | None = None
    num_suspects: int = 0
    problem: str = ""


def read_verdict(work: WorkFolder) -> Verdict:
    """What a run left in its work folder; nothing is known where that is missing or damaged."""
    try:
        content = json.loads(work.file("quality.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return Verdict()
    if not isinstance(content, dict) or not isinstance(content.get("level"), str):
        return Verdict()
    count = content.get("num_suspects")
    return Verdict(
        level=content["level"],
        wer=_number(content, "wer"),
        similarity=_number(content, "similarity"),
        num_suspects=count if isinstance(count, int) else 0,
        problem=str(content.get("problem", "")),
    )


def _number(content: dict[str, Any], name: str) -> float | None:
    value = content.get(name)
    return float(value) if isinstance(value, int | float) else None
