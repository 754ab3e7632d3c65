"""From a corpus to a finished set: what is spoken, what is left out, and what a second run does.

The voice is a tone, so that a run takes a moment.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch import datasets
from pocket_batch.cli.main import main

SENTENCES = [f"This is the sentence with the number {n} in it." for n in range(30)]
Run = Callable[..., int]


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def corpus_file(tmp_path: Path) -> Path:
    return write(tmp_path / "corpus.txt", SENTENCES)


@pytest.fixture
def make(tmp_path: Path) -> Run:
    """Run `pocket-batch dataset` in this process into `set`; the exit code comes back."""

    def run(source: Path | str, *options: str, output: str = "set") -> int:
        words = ["dataset", str(source), "-o", str(tmp_path / output), "--executor", "local"]
        voices = [] if any(o.startswith("--voice") for o in options) else ["--voice", "tone"]
        return main([*words, *voices, *options])

    return run


def lines_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def units_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*.tar")}


def run_record(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return found


def test_a_corpus_becomes_a_set_that_is_right_in_every_way(
    make: Run, corpus_file: Path, tmp_path: Path
) -> None:
    assert make(corpus_file) == 0
    clips = list(datasets.read(tmp_path / "set"))
    assert sorted(clip.text for clip in clips) == sorted(SENTENCES)
    assert all(clip.normalized_text.count("number") and clip.speaker == "tone" for clip in clips)
    assert datasets.validate(tmp_path / "set") == []


def test_texts_with_nothing_to_say_are_left_out_and_the_others_spoken(
    make: Run, tmp_path: Path
) -> None:
    """Case 6."""
    source = write(tmp_path / "c.jsonl", [json.dumps({"text": t}) for t in
        ("", "   ", "…", "😀", "A good one.")])  # fmt: skip
    assert make(source) == 0
    rejects = lines_of(tmp_path / "set" / "rejects.jsonl")
    assert [r["reason"] for r in rejects] == ["empty_text"] * 4
    assert [r["where"] for r in rejects] == [f"c.jsonl:{n}" for n in (1, 2, 3, 4)]


def test_speech_without_an_end_is_tried_again_and_never_kept(make: Run, tmp_path: Path) -> None:
    """Cases 7 and 8."""
    source = write(tmp_path / "c.txt", ["noeos: on and on and on.", *SENTENCES[:3]])
    assert make(source) == 0
    (failure,) = lines_of(tmp_path / "set" / "failures.jsonl")
    assert failure["status"] == "filtered"
    assert [a["reason"] for a in failure["attempts"]] == ["no_eos"] * 3  # type: ignore[attr-defined]
    assert len(list(datasets.read(tmp_path / "set"))) == 3
    statistics = run_record(tmp_path / "set")["statistics"]
    assert statistics["rejects"] == {"no_eos": 3}  # type: ignore[index]


def test_a_run_that_keeps_nothing_says_why(
    make: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Case 10."""
    assert make(write(tmp_path / "a.txt", ["…", "!!!"]), output="a") == 3
    assert "empty_text" in capsys.readouterr().err
    assert make(write(tmp_path / "b.txt", ["noeos: one two.", "noeos: three."]), output="b") == 10
    assert "no_eos" in capsys.readouterr().err


def test_texts_that_the_engine_fails_over_are_errors_and_the_code_says_so(
    make: Run, tmp_path: Path
) -> None:
    assert make(write(tmp_path / "c.txt", ["error: this one.", *SENTENCES[:3]])) == 10
    (failure,) = lines_of(tmp_path / "set" / "failures.jsonl")
    assert failure["status"] == "error"
    assert "asked to fail" in str(failure["error"])


def test_a_finished_set_is_left_alone(make: Run, corpus_file: Path, tmp_path: Path) -> None:
    """Case 13."""
    assert make(corpus_file) == 0
    folder = tmp_path / "set"
    before = {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.rglob("*") if p.is_file()}
    script = (
        "import sys; from pocket_batch.cli.main import main;"
        "code = main(sys.argv[1:]); assert 'ray' not in sys.modules; sys.exit(code)"
    )
    words = ["dataset", str(corpus_file), "-o", str(folder), "--voice", "tone"]
    subprocess.run([sys.executable, "-c", script, *words], check=True)
    of_the_run = {folder / "locks" / "all" / "lock", folder / "status.json"}
    after = {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in folder.rglob("*") if p.is_file()}
    assert {p: v for p, v in after.items() if p not in of_the_run} == {
        p: v for p, v in before.items() if p not in of_the_run
    }


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--seed", "1"], "seed"),
        (["--max-attempts", "5"], "filters.max_attempts"),
        (["--voice", "heart"], "voice"),
        (["--split", "0.5,0.25,0.25"], "splits.test"),
        (["--dedupe", "keep"], "corpus.dedupe"),
    ],
)
def test_other_settings_are_refused_with_their_names(
    make: Run,
    corpus_file: Path,
    options: list[str],
    named: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Case 14."""
    assert make(corpus_file) == 0
    assert make(corpus_file, *options) == 2
    assert named in capsys.readouterr().err


def test_a_new_run_takes_other_settings_and_prune_removes_what_is_left(
    make: Run, corpus_file: Path, tmp_path: Path
) -> None:
    assert make(corpus_file) == 0
    first = units_of(tmp_path / "set")
    assert make(corpus_file, "--seed", "1", "--new-run") == 0
    assert len(units_of(tmp_path / "set")) == 2 * len(first)
    assert make(corpus_file, "--seed", "1", "--prune") == 0
    assert len(units_of(tmp_path / "set")) == len(first)
    assert len(list(datasets.read(tmp_path / "set"))) == len(SENTENCES)


def test_a_shuffled_corpus_with_a_row_more_costs_that_row(
    make: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 15."""
    texts = [f"Sentence {n} of a somewhat larger corpus." for n in range(300)]
    assert make(write(tmp_path / "c.txt", texts)) == 0
    before = units_of(tmp_path / "set")
    assert len(before) > 2
    shuffled = [*texts, "And here is a new one."]
    random.Random(1).shuffle(shuffled)
    spoken: list[str] = []
    import pocket_batch.engine.fake as fake

    real = fake._tone
    monkeypatch.setattr(fake, "_tone", lambda r: (spoken.append(r.text), real(r))[1])
    assert make(write(tmp_path / "c.txt", shuffled)) == 0
    assert spoken == ["And here is a new one."]
    after = units_of(tmp_path / "set")
    assert set(before) < set(after)
    assert len(after) == len(before) + 1
    assert all(after[name] == data for name, data in before.items())


def test_hash_seeds_and_locales_change_no_byte(corpus_file: Path, tmp_path: Path) -> None:
    """Cases 34 and 42."""
    found = []
    for seed in ("1", "2"):
        output = tmp_path / f"set{seed}"
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": "C", "PYTHONUTF8": "0"}
        words = ["dataset", str(corpus_file), "-o", str(output), "--voice", "tone", "--quiet"]
        words += ["--executor", "local", "--export", "ljspeech"]
        command = [sys.executable, "-m", "pocket_batch", *words]
        subprocess.run(command, check=True, env=environment)
        names = ("rows.jsonl", "units.jsonl", "exports/ljspeech/metadata.csv")
        found.append([(output / name).read_bytes() for name in names] + [units_of(output)])
    assert found[0] == found[1]


def test_the_parts_of_a_job_array_together_are_the_set(
    make: Run, corpus_file: Path, tmp_path: Path
) -> None:
    texts = [f"Sentence {n} of a somewhat larger corpus." for n in range(300)]
    source = write(tmp_path / "c.txt", texts)
    assert make(source, output="whole") == 0
    for part in range(3):
        assert make(source, "--shard", f"{part}/3", output="parts") == 0
    assert units_of(tmp_path / "parts") == units_of(tmp_path / "whole")
    assert run_record(tmp_path / "parts")["status"] == "done"
    assert (
        run_record(tmp_path / "parts")["statistics"].keys()
        == run_record(tmp_path / "whole")["statistics"].keys()
    )  # type: ignore[attr-defined]


def test_sigterm_stops_soon_and_the_same_command_ends_with_the_same_bytes(
    make: Run, tmp_path: Path
) -> None:
    """Cases 26 and 38."""
    texts = [f"Sentence {n} of a somewhat larger corpus." for n in range(400)]
    source = write(tmp_path / "c.txt", texts)
    assert make(source, output="calm") == 0
    slow = tmp_path / "config" / "pocket-batch" / "voices"
    slow.mkdir(parents=True)
    voice = "name: tone\nengine: fake\nlanguage: en\nlicence: CC0-1.0\n"
    (slow / "tone.yaml").write_text(f"{voice}parameters: {{sleep_s_per_audio_s: '0.005'}}\n")
    words = ["dataset", str(source), "-o", str(tmp_path / "cut"), "--voice", "tone"]
    command = [sys.executable, "-m", "pocket_batch", *words, "--executor", "local"]
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "config")}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    while not list((tmp_path / "cut").rglob("*.partial")) and process.poll() is None:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    stopped = time.monotonic()
    _, told = process.communicate(timeout=20)
    assert process.returncode == 75, told
    assert time.monotonic() - stopped < 5
    assert run_record(tmp_path / "cut")["status"] == "stopped"
    assert make(source, output="cut") == 0
    assert units_of(tmp_path / "cut") == units_of(tmp_path / "calm")
    figures = ("num_units", "num_kept", "num_filtered", "num_errors", "audio_s", "num_bytes")
    both = [run_record(tmp_path / name)["statistics"] for name in ("cut", "calm")]
    assert [both[0][f] for f in figures] == [both[1][f] for f in figures]  # type: ignore[index]


def test_a_second_run_on_the_same_set_names_the_first(
    make: Run, corpus_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Case 28."""
    from pocket_batch.work_folder import WorkFolder

    lock = WorkFolder(tmp_path / "set" / "locks" / "all")
    lock.acquire()
    try:
        assert make(corpus_file) == 6
    finally:
        lock.release()
    assert f"process {os.getpid()}" in capsys.readouterr().err


def test_an_id_for_two_texts_is_refused_and_equal_texts_are_dropped(
    make: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Case 29."""
    rows = [{"id": "a", "text": "One of these."}, {"id": "a", "text": "Another one."}]
    assert make(write(tmp_path / "c.jsonl", list(map(json.dumps, rows)))) == 3
    assert "c.jsonl:1 and at c.jsonl:2" in capsys.readouterr().err
    rows = [
        {"id": i, "text": t} for i, t in (("a", "The same."), ("b", "the  same"), ("c", "X y."))
    ]
    source = write(tmp_path / "d.jsonl", list(map(json.dumps, rows)))
    assert make(source, output="dropped") == 0
    (reject,) = lines_of(tmp_path / "dropped" / "rejects.jsonl")
    assert (reject["reason"], reject["value"]) == ("duplicate", "d.jsonl:1")
    assert make(source, "--dedupe", "keep", output="kept") == 0
    assert len({clip.id for clip in datasets.read(tmp_path / "kept")}) == 3


def test_a_text_with_two_voices_is_in_one_split_and_test_voices_have_theirs(
    make: Run, corpus_file: Path, tmp_path: Path
) -> None:
    """Case 30."""
    both = ["--voice", "tone", "--voice", "heart", "--split", "0.5,0,0.5"]
    assert make(corpus_file, *both, "--voices-per-text", "all", "--dry-run") == 0
    assert not (tmp_path / "set").exists()
    assert make(corpus_file, *both, "--voices-per-text", "all") == 0
    splits: dict[str, set[str]] = {}
    for clip in datasets.read(tmp_path / "set"):
        splits.setdefault(clip.text, set()).add(clip.split)
    assert len(splits) == len(SENTENCES)
    assert all(len(found) == 1 for found in splits.values())
    assert make(corpus_file, *both, "--test-voice", "heart", output="held") == 0
    found = {(clip.speaker, clip.split) for clip in datasets.read(tmp_path / "held")}
    assert found == {("tone", "train"), ("heart", "test")}


def test_a_set_is_as_free_as_its_strictest_part(
    make: Run, corpus_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Case 33."""
    assert make(corpus_file, "--text-license", "CC-BY-NC-4.0") == 2
    assert "--allow-noncommercial" in capsys.readouterr().err
    assert make(corpus_file, "--text-license", "CC-BY-4.0", "--license", "CC0-1.0") == 2
    assert "the text is CC-BY-4.0" in capsys.readouterr().err
    options = ["--text-license", "CC-BY-NC-4.0", "--allow-noncommercial"]
    assert make(corpus_file, *options, output="nc") == 0
    assert run_record(tmp_path / "nc")["licence"] == "CC-BY-NC-4.0"


def test_missing_and_empty_corpora(make: Run, tmp_path: Path) -> None:
    """Case 39."""
    assert make(tmp_path / "nothing.txt") == 2
    assert make(write(tmp_path / "empty.txt", [])) == 0
    assert run_record(tmp_path / "set")["statistics"]["num_kept"] == 0  # type: ignore[index]
    assert not list((tmp_path / "set").rglob("*.tar"))


def test_texts_without_end_are_cut_or_left_out(make: Run, tmp_path: Path) -> None:
    """Case 40."""
    long = " ".join(f"And here is the sentence number {n}." for n in range(600))
    source = write(tmp_path / "c.txt", [long, "x" * 20_000, "A short one."])
    assert make(source, "--set", "corpus.max_repetition=1") == 0
    clips = list(datasets.read(tmp_path / "set"))
    assert sum(clip.text.count("sentence number") for clip in clips) == 600
    assert make(source, "--set", "corpus.split_long=false", output="left") == 0
    assert [clip.text for clip in datasets.read(tmp_path / "left")] == ["A short one."]
    reasons = {str(r["reason"]) for r in lines_of(tmp_path / "left" / "rejects.jsonl")}
    assert reasons <= {"too_long", "repetition"}


def test_a_folder_of_others_and_unknown_names_are_refused(
    make: Run, corpus_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "photos").mkdir()
    write(tmp_path / "photos" / "a.jpg", ["x"])
    assert make(corpus_file, output="photos") == 5
    assert make(corpus_file, "--shard", "3/3") == 2
    assert make(corpus_file, "--voices-per-text", "2") == 2
    assert make(corpus_file, "--dry-run", output="photos") == 5
    assert make(corpus_file, "--text-column", "text") == 2
    assert make(tmp_path / "photos" / "*.jpg") == 2
    table = write(tmp_path / "t.csv", ["sentence,who", "Hello there you.,tone"])
    assert make(table, "--voice-column", "whom") == 2
    assert "Did you mean `who`?" in capsys.readouterr().err


def test_rows_may_name_their_voice_and_split(make: Run, tmp_path: Path) -> None:
    lines = ["sentence,who,part", "Hello there you.,tone,dev", "And you too.,nobody,train"]
    source = write(tmp_path / "t.csv", lines)
    assert make(source, "--voice-column", "who", "--split-column", "part", "--voice", "tone") == 0
    (clip,) = datasets.read(tmp_path / "set")
    assert (clip.speaker, clip.split) == ("tone", "validation")
    (reject,) = lines_of(tmp_path / "set" / "rejects.jsonl")
    assert (reject["reason"], reject["value"]) == ("unknown_voice", "nobody")


def test_a_program_makes_exports_and_reads_a_set(corpus_file: Path, tmp_path: Path) -> None:
    settings = {"executor.name": "local", "seed": 3}
    found = datasets.make(corpus_file, tmp_path / "set", voices=["tone"], settings=settings)
    assert found.num_kept == len(SENTENCES)
    result = datasets.export(tmp_path / "set", "lhotse-shar")
    assert datasets.validate(result.folder) == []
    tests = list(datasets.read(tmp_path / "set", splits=["test"]))
    assert all(clip.split == "test" for clip in tests)


def test_a_bucket_holds_a_set_as_a_folder_does(s3: str, corpus_file: Path, tmp_path: Path) -> None:
    words = ["dataset", str(corpus_file), "--voice", "tone", "--executor", "local"]
    bucket = f"{s3}-of-tones"
    assert main([*words, "-o", bucket]) == 0
    assert main([*words, "-o", bucket]) == 0
    assert main([*words, "-o", str(tmp_path / "set")]) == 0
    for source, name in ((bucket, "a"), (str(tmp_path / "set"), "b")):
        options = ["--format", "webdataset", "-o", str(tmp_path / name)]
        assert main(["export", source, *options]) == 0
        assert main(["validate", source]) == 0
    assert units_of(tmp_path / "a") == units_of(tmp_path / "b")


def test_ids_with_dots_and_reserved_endings_stay_apart_in_tar_files(
    make: Run, tmp_path: Path
) -> None:
    """Cases 4 and 5."""
    webdataset = pytest.importorskip("webdataset")
    names = ("v1.5_0", "v1.5_1", "x-sub1", "x-sub2")
    rows = [{"id": name, "text": f"The text of {name}."} for name in names]
    source = write(tmp_path / "c.jsonl", [json.dumps(row) for row in rows])
    assert (
        make(source, "--split", "1,0,0", "--export", "webdataset", "--export", "nemo-tarred") == 0
    )
    exports = tmp_path / "set" / "exports"
    tar = str(exports / "webdataset" / "train-000000.tar")
    samples = list(webdataset.WebDataset([tar], shardshuffle=False))
    assert {json.loads(s["json"])["source_id"]: s["txt"].decode() for s in samples} == {
        name: f"The text of {name}." for name in names
    }
    lines = lines_of(exports / "nemo-tarred" / "train" / "tarred_audio_manifest.json")
    paths = [Path(str(line["audio_filepath"])) for line in lines]
    assert len(paths) == 4
    assert not any("." in path.stem or "-sub" in path.stem[-5:] for path in paths)
    assert datasets.validate(tmp_path / "set") == []
