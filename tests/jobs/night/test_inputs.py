"""What of an inbox is a book, and when it is whole."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pocket_batch.jobs.night import inputs
from pocket_batch.jobs.night.inputs import Inputs, books_in
from pocket_batch.jobs.night.job import open_job

Make = Callable[..., Inputs]


def put(path: Path, text: str = "A text.", age_s: float = 60.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (time.time() - age_s,) * 2)
    return path


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    monkeypatch.setattr(inputs, "SETTLE_S", 0.05)

    def made(
        shard: tuple[int, int] | None = None, folder: Path = tmp_path, **settings: Any
    ) -> Inputs:
        job = folder / "job.yaml"
        lines = [f"{name}: {value}" for name, value in settings.items()]
        job.write_text("output: out/{stem}.m4b\n" + "\n".join(lines))
        return Inputs(open_job(job, {}), shard)

    return made


def names(found: list[Path]) -> list[str]:
    return [path.name for path in found]


def test_books_are_found_in_all_folders_and_nothing_else_is(tmp_path: Path) -> None:
    for name in ("b.epub", "A.TXT", "sub dir/c.md", "sub dir/more/d.markdown"):
        put(tmp_path / name)
    for name in (".hidden.epub", ".git/x.txt", "x.epub.part", "x.jpg", "line.jsonl", "._b.epub"):
        put(tmp_path / name)
    for name in (
        "b.work/notes.txt",
        "night.run/summary.txt",
        "b.lexicon.yaml",
        "x.epub.crdownload",
    ):
        put(tmp_path / name)
    put(tmp_path / "unpacked.epub" / "OEBPS" / "ch1.xhtml")
    os.mkfifo(tmp_path / "pipe.epub")
    (tmp_path / "broken.epub").symlink_to("nowhere")
    (tmp_path / "linked.epub").symlink_to("b.epub")
    (tmp_path / "loop").symlink_to(".")
    found, unreadable = books_in(tmp_path)
    relative = [str(path.relative_to(tmp_path)) for path in found]
    assert relative == ["A.TXT", "b.epub", "linked.epub", "sub dir/c.md", "sub dir/more/d.markdown"]
    assert unreadable == []


def test_data_sets_and_run_folders_of_any_name_are_passed_over(tmp_path: Path) -> None:
    for name in ("set/README.md", "set/status.json", "set/locks/0-of-1/lock"):
        put(tmp_path / name)
    for name in ("night/summary.txt", "night/status.json", "night/lock", "mine/status.json"):
        put(tmp_path / name)
    put(tmp_path / "mine/book.txt")
    assert names(books_in(tmp_path)[0]) == ["book.txt"]


def test_an_inbox_that_is_the_run_folder_as_well_has_books(tmp_path: Path) -> None:
    for name in ("summary.txt", "status.json", "lock", "book.txt"):
        put(tmp_path / name)
    assert names(books_in(tmp_path)[0]) == ["book.txt"]


def test_a_folder_that_vanishes_while_it_is_looked_at_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "gone/a.txt")
    put(tmp_path / "kept/b.txt")
    original = os.scandir

    def scandir(path: Any) -> Any:
        if str(path).endswith("gone"):
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return original(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert names(books_in(tmp_path)[0]) == ["b.txt"]


def test_a_folder_that_may_not_be_read_is_told_once(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "inbox/secret/a.txt")
    put(tmp_path / "inbox/b.txt")
    original = os.scandir

    def scandir(path: Any) -> Any:
        if str(path).endswith("secret"):
            raise PermissionError(13, "Permission denied", str(path))
        return original(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = make(inbox="inbox")
    assert names(found.first()) == ["b.txt"]
    found.look()
    (text,) = found.warnings
    assert "secret may not be read" in text


def test_a_file_that_is_being_copied_is_waited_for(tmp_path: Path, make: Make) -> None:
    (tmp_path / "inbox").mkdir()
    found = make(inbox="inbox")
    path = put(tmp_path / "inbox/a.txt", "h", age_s=0)
    assert found.first() == []
    for n in range(3):
        time.sleep(0.06)
        path.write_text("h" * (n + 2))
        assert found.look() == []
        assert found.num_unsettled == 1
    time.sleep(0.06)
    assert names(found.look()) == ["a.txt"]
    assert found.num_unsettled == 0
    assert found.look() == []


def test_a_file_that_grows_for_ever_is_left_to_the_next_run(
    tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "PATIENCE_S", 0.1)
    found = make(inbox="inbox")
    path = put(tmp_path / "inbox/diary.txt", age_s=0)
    found.first()
    time.sleep(0.12)
    path.write_text("A longer text.")
    assert found.look() == []
    assert found.num_unsettled == 0
    assert found.warnings == ["diary.txt is written to all the time, and left to the next run."]


def test_a_file_of_the_future_is_whole_after_a_while(tmp_path: Path, make: Make) -> None:
    found = make(inbox="inbox")
    put(tmp_path / "inbox/a.txt", age_s=-1e6)
    assert found.first() == []
    time.sleep(0.06)
    assert names(found.look()) == ["a.txt"]


def test_a_file_that_was_renamed_away_comes_as_another_one(tmp_path: Path, make: Make) -> None:
    path = put(tmp_path / "inbox/a.txt")
    found = make(inbox="inbox")
    assert names(found.first()) == ["a.txt"]
    path.rename(path.with_name("b.txt"))
    assert names(found.look()) == ["b.txt"]


def test_a_changed_file_comes_again_once_its_earlier_state_is_done(
    tmp_path: Path, make: Make
) -> None:
    path = put(tmp_path / "inbox/a.txt")
    found = make(inbox="inbox")
    found.first()
    put(path, "Another text.", age_s=30)
    assert found.look({path}) == []
    assert found.num_unsettled == 1
    assert found.look() == [path]
    assert found.num_unsettled == 0


def test_inputs_are_files_folders_and_globs_each_once(tmp_path: Path, make: Make) -> None:
    for name in ("in/a.txt", "in/deep/b.epub", "in/cover.jpg", "[1] odd*.txt", "in/c.work/x.jsonl"):
        put(tmp_path / name)
    (tmp_path / "in/loop").symlink_to(".")
    (tmp_path / "other").symlink_to("in")
    given = "['in/**/*', in, in/a.txt, './in/../in/a.txt', 'other/*.txt', '[1] odd*.txt', gone.txt]"
    found = make(inputs=given)
    assert names(found.first()) == ["a.txt", "b.epub", "[1] odd*.txt", "gone.txt"]
    assert found.warnings == []


def test_a_folder_with_odd_letters_is_no_glob(tmp_path: Path, make: Make) -> None:
    folder = tmp_path / "jobs [old]*"
    put(folder / "in/a.txt")
    assert names(make(inputs="['in/*.txt']", folder=folder).first()) == ["a.txt"]


def test_home_is_known(tmp_path: Path, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    put(tmp_path / "me/books/a.txt")
    assert names(make(inputs="['~/books', '~/books/*.txt']").first()) == ["a.txt"]
    assert names(make(inbox="~/books").first()) == ["a.txt"]


@pytest.mark.parametrize("name", ['"a\\0b.txt"', "x" * 5000 + ".txt", "a.txt/b.txt"])
def test_a_name_that_is_none_is_an_input_that_is_not_there(
    tmp_path: Path, make: Make, name: str
) -> None:
    put(tmp_path / "a.txt")
    assert len(make(inputs=f"[{name}]").first()) == 1


def test_an_inbox_that_is_missing_is_told_of_as_an_input(tmp_path: Path, make: Make) -> None:
    assert make(inbox="inbx").first() == [tmp_path / "inbx"]


def test_a_book_of_inputs_and_inbox_comes_once(tmp_path: Path, make: Make) -> None:
    put(tmp_path / "inbox/a.txt")
    found = make(inbox="inbox", inputs="[inbox/a.txt, 'inbox/*']")
    assert names(found.first()) == ["a.txt"]
    assert found.look() == []


def test_parts_are_disjoint_and_whole(tmp_path: Path, make: Make) -> None:
    for n in range(40):
        put(tmp_path / f"inbox/{n}.txt")
    parts = [names(make((i, 4), inbox="inbox").first()) for i in range(4)]
    together = [name for part in parts for name in part]
    assert sorted(together) == sorted(f"{n}.txt" for n in range(40))
    assert all(len(part) >= 4 for part in parts)


def test_thousands_of_files_are_looked_through_in_a_moment(tmp_path: Path, make: Make) -> None:
    for n in range(2000):
        path = tmp_path / f"inbox/{n % 20}/{n}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (1, 1))
    found = make(inbox="inbox")
    assert len(found.first()) == 2000
    started = time.process_time()
    assert found.look() == []
    assert time.process_time() - started < 0.3
