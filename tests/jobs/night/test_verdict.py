"""What a run left about the sound of a book is read back, whatever is in the file."""

import json
from pathlib import Path

import pytest

from pocket_batch.jobs.night.verdict import Verdict, read_verdict
from pocket_batch.work_folder import WorkFolder


def test_the_verdict_of_a_run_is_read_back(tmp_path: Path) -> None:
    content = {"level": "critical", "wer": 0.04, "num_suspects": 3, "problem": "Bad.", "new": []}
    (tmp_path / "quality.json").write_text(json.dumps(content | {"similarity": 0.7}))
    assert read_verdict(WorkFolder(tmp_path)) == Verdict("critical", 0.04, 0.7, 3, "Bad.")


@pytest.mark.parametrize(
    "content", [None, "", "[]", "{", "[" * 100_000, '{"wer": 0.1}', '{"level": 3}']
)
def test_nothing_is_known_where_the_file_is_missing_or_damaged(
    tmp_path: Path, content: str | None
) -> None:
    if content is not None:
        (tmp_path / "quality.json").write_text(content)
    assert read_verdict(WorkFolder(tmp_path)) == Verdict()
