"""What `run.json` tells of the files that are made beside an audiobook."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pocket_batch.manifest import write_atomic
from pocket_batch.sources.base import sha256_of_file
from pocket_batch.work_folder import WorkFolder


def describe_extra(path: Path, kind: str, audio_s: float = 0.0) -> dict[str, Any]:
    """Kind, path, size and hash of a file that is made beside an audiobook."""
    entry = {"kind": kind, "path": str(path.resolve()), "num_bytes": path.stat().st_size}
    return entry | {"sha256": sha256_of_file(path), "audio_s": round(audio_s, 3)}


def add_extras(
    work: WorkFolder, wanted: str, extras: list[dict[str, Any]], asked: Mapping[str, Any]
) -> None:
    """Add to a finished result what was made beside it later; the folder must be held.

    Args:
        wanted: the fingerprint of the result, which must be the latest of the folder.
        extras: entries of `describe_extra`, or with path and kind alone before they are made.
        asked: the settings of `write` as they are now.

    Raises:
        OutputError: `run.json` cannot be written.
    """
    run = json.loads(work.file("run.json").read_text(encoding="utf-8"))
    result = run["results"][wanted]
    known = {str(extra["path"]): extra for extra in (*result.get("extras", ()), *extras)}
    result["extras"] = list(known.values())
    made = [extra for extra in result["extras"] if extra.get("sha256")]
    run["outputs"] = [*result["outputs"], *made]
    before = run["settings"]["write"]
    kinds = dict.fromkeys([*before.get("subtitles", ()), *asked["subtitles"]])
    is_read_along = before.get("read_along", False) or asked["read_along"]
    run["settings"]["write"] = before | {"subtitles": list(kinds), "read_along": is_read_along}
    text = json.dumps(run, ensure_ascii=False, indent=1) + "\n"
    write_atomic(work.file("run.json"), text.encode("utf-8", "backslashreplace"))


def latest_fingerprint(work: WorkFolder) -> str:
    """Of the result that the manifests of a work folder belong to; empty if it was not finished."""
    try:
        run = json.loads(work.file("run.json").read_text(encoding="utf-8"))
        latest = str(run["fingerprint"])
        return latest if run["results"][latest]["status"] in ("done", "partial") else ""
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""


def may_add(work: WorkFolder, wanted: str, needs_speech: bool) -> bool:
    """Whether something can be made beside a finished audiobook without speaking it again.

    Args:
        work: its folder.
        wanted: the fingerprint of the audiobook.
        needs_speech: of what is to be made; subtitles need none.
    """
    return latest_fingerprint(work) == wanted and (not needs_speech or work.file("audio").is_dir())
