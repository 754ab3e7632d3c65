"""The measurement of the engine: what is spoken, on which side, and what is told of it."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pocket_batch.engine import auto_precision
from pocket_batch.errors import ModelUnavailableError, PocketBatchError
from pocket_batch.jobs.bench import lengths, machine, measure, report, sides, texts
from pocket_batch.jobs.bench.measure import Measurement, Plan, SideResult
from pocket_batch.jobs.bench.model import prepare
from pocket_batch.jobs.bench.process import WorkerProcess
from pocket_batch.jobs.bench.sides import Pass
from pocket_batch.jobs.bench.texts import Line

Command = Callable[..., int]
FRAME_RATE = 12.5
START_S = 120.0  # three processes import torch, on a machine that may be busy


def children_file(pid: int) -> Path:
    """Where Linux lists the children of a process."""
    return Path(f"/proc/{pid}/task/{pid}/children")


def words(text: str) -> int:
    """A tokenizer to which a word is a token."""
    return len(text.split())


def halves(text: str) -> int:
    """One to which two letters are a token; the stop is added if it is not there."""
    return -(-len(text.rstrip(".") + ".") // 2)


def a_pass(x_realtime: float, memory: tuple[int, ...] = (1, 2)) -> Pass:
    return Pass(
        audio_s=60.0,
        wall_s=60.0 / x_realtime,
        cpu_s=100.0 / x_realtime,
        parts_s={"backbone": 3.0, "codec": 2.0},
        num_frames=750,
        num_steps=100,
        memory_bytes=[size * 10**6 for size in memory],
    )


def a_measurement() -> Measurement:
    """Two alternations in which everything is half as fast in the second."""
    plan = Plan("english", ("fp32", "bf16"), num_utterances=64, repeats=2, against_reference=True)
    sides = []
    for name, speed in (("fp32", 20.0), ("reference fp32", 2.0), ("bf16", 40.0)):
        passes = [a_pass(speed), a_pass(speed / 2)]
        sides.append(SideResult(name, 32, 1.5, 5 * 10**8, 9 * 10**8, passes))
    found = machine.describe_machine() | {"commit": "abc1234", "date": "2026-01-02"}
    return Measurement(plan, found, True, 750, FRAME_RATE, sides)


def test_texts_are_as_long_as_those_of_books() -> None:
    for num in (1, 7, 128, 1000):
        tokens = lengths.tokens_of_book(num)
        assert len(tokens) == num
        assert tokens == sorted(tokens)
        assert 1 <= tokens[0] <= tokens[-1] <= 50
    assert abs(sum(lengths.tokens_of_book(1000)) / 1000 - 23.2) < 0.5
    assert len(set(lengths.tokens_of_book(1000))) > 40


def test_made_up_texts_have_the_tokens_they_should_and_are_always_the_same() -> None:
    lines = texts.made_up_lines(100, words, FRAME_RATE)
    assert sorted(line.num_tokens for line in lines) == lengths.tokens_of_book(100)
    assert lines == texts.made_up_lines(100, words, FRAME_RATE)
    for line in lines:
        assert words(line.text) == line.num_tokens
        assert line.num_frames == lengths.frames_of_tokens(line.num_tokens, FRAME_RATE)


def test_a_tokenizer_that_splits_words_gets_texts_too() -> None:
    for wanted in (1, 5, 50):
        text = texts.text_of(wanted, halves, random.Random(1))
        assert text[0].isupper()
        assert text.endswith(".")
        assert wanted == 1 or wanted - 8 <= halves(text) <= wanted


def test_the_few_texts_of_the_reference_are_spread_over_all_lengths() -> None:
    lines = texts.made_up_lines(128, words, FRAME_RATE)
    few = texts.subset(lines, 400)
    assert 300 < sum(line.num_frames for line in few) < 500
    mean = sum(line.num_frames for line in lines) / len(lines)
    assert sum(line.num_frames for line in few) / len(few) == pytest.approx(mean, rel=0.1)
    assert set(few) <= set(lines)
    assert len(texts.subset(lines, 1)) == 1
    assert sorted(map(repr, texts.subset(lines, 10**6))) == sorted(map(repr, lines))


def test_texts_of_a_book_are_taken_from_all_of_it_or_again() -> None:
    assert texts.picked(list("abcdef"), 3) == ["b", "d", "f"]
    assert texts.picked(["a", "b"], 5) == ["a", "b", "a", "b", "a"]
    (line,) = texts.lines_of(["The tide came in."], 1, words, FRAME_RATE)
    assert line == Line("The tide came in.", 4, lengths.frames_of_letters(17, FRAME_RATE))
    (like,) = texts.lines_like(["Antidisestablishmentarianism."], 1, words, FRAME_RATE)
    assert like.num_tokens == 8  # 29 letters, which a real tokenizer makes 8 of


def test_nothing_is_longer_than_the_model_can_make_of_it() -> None:
    (line,) = texts.capped([Line("Aaaaaaaaaaaah.", 1, 100)], lambda tokens: 20 * tokens)
    assert line.num_frames == 20


def test_an_utterance_of_another_length_is_an_error() -> None:
    sides.check_length(Line("So.", 1, 9), 9)
    with pytest.raises(PocketBatchError, match="9 frames long and is 10"):
        sides.check_length(Line("So.", 1, 9), 10)


def test_sides_speak_in_turn() -> None:
    plan = Plan("english", ("fp32", "bf16", "mixed"), against_reference=True)
    in_turn = ["fp32", "reference fp32", "bf16", "reference int8", "mixed"]
    assert measure.order(plan) == in_turn
    assert measure.order(replace(plan, against_reference=False)) == ["fp32", "bf16", "mixed"]


def test_all_precisions_are_those_there_are_but_auto() -> None:
    assert {"fp32", "bf16"} <= set(measure.precisions_named("all"))
    assert "auto" not in measure.precisions_named("all")
    assert measure.precisions_named("bf16") == ("bf16",)


def test_auto_is_the_precision_that_this_machine_is_good_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(auto_precision, "choose_precision", lambda: "bf16")
    assert measure.precisions_named("auto") == ("bf16",)


def test_ratios_are_of_the_same_alternation() -> None:
    found = a_measurement()
    fp32, reference, bf16 = found.sides
    assert measure.ratios(fp32, reference) == pytest.approx([10, 10])
    content = json.loads(json.dumps(report.as_dict(found)))
    assert content["sides"][2]["ratio_to"]["reference fp32"]["min"] == pytest.approx(20)
    assert content["sides"][0]["x_realtime"] == pytest.approx({"median": 15, "min": 10, "max": 20})
    assert content["sides"][0]["cpu_ratio_to"]["reference fp32"]["max"] == pytest.approx(10)
    assert content["sides"][1]["ratio_to"] == {}
    assert report.rows_in_a_step(bf16) == 7.5


def test_time_by_part_adds_up_to_all_of_it() -> None:
    parts = report.frame_parts_ms(a_measurement().sides[0])
    assert parts["backbone"] == pytest.approx(1000 * 6 / 1500)
    assert parts.pop("all") == pytest.approx(sum(parts.values()))


def test_tables_show_every_side_and_markdown_has_whole_rows() -> None:
    found = a_measurement()
    shown = report.as_text(found, memory=True)
    assert "20.0 (20.0 to 20.0)" in shown
    assert "abc1234" in shown
    assert "Milliseconds of processor time a frame of 80 ms:\n" in shown
    assert shown.endswith("Too few utterances to fill the batch; 128 or more tell more.")
    markdown = report.as_markdown(found, memory=True)
    assert markdown.startswith("### 2026-01-02, abc1234")
    for block in markdown.split("\n\n"):
        rows = [line for line in block.splitlines() if line.startswith("|")]
        assert len({row.count("|") for row in rows}) <= 1


def test_one_alternation_has_no_spread_and_enough_utterances_no_remark() -> None:
    found = a_measurement()
    for side in found.sides:
        side.passes.pop()
    plan = replace(found.plan, repeats=1, num_utterances=128)
    shown = report.as_text(replace(found, plan=plan))
    assert "; median." in shown
    assert "20.0" in shown
    assert " to " not in shown.split("\n\n")[1].replace("ratio to", "")
    assert "Too few" not in shown


def test_the_machine_is_named(tmp_path: Path) -> None:
    assert machine.instructions(["fpu", "avx512_bf16", "avx2"]) == "AVX2, AVX512-BF16"
    assert machine.instructions([]) == "plain"
    assert machine.commit(tmp_path).startswith("version ")
    assert machine.commit(Path(__file__).parent).startswith("version "), "in a checkout, not of it"
    assert all(machine.describe_machine().values())


def test_a_process_that_dies_is_told() -> None:
    with WorkerProcess() as worker, pytest.raises(PocketBatchError, match="ended with 1"):
        worker.ask("prepare", model="english")  # no folder, which is a bug of the caller


def test_an_error_in_a_process_is_of_its_kind(tmp_path: Path) -> None:
    with WorkerProcess() as worker, pytest.raises(ModelUnavailableError, match="english"):
        worker.ask("prepare", model="englsh", folder=str(tmp_path))


def test_a_reference_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sides, "find_spec", lambda name: None)
    with pytest.raises(ModelUnavailableError, match=r"pip install pocket-tts==4\.0\.1"):
        sides.check_reference()


def test_a_book_that_is_not_there_is_refused(
    command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("bench", "--texts", "nowhere.epub") == 2
    assert "nowhere.epub" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["abc", "0", "1.5"])
def test_a_number_that_is_none_is_refused_in_plain_words(
    command: Command, capsys: pytest.CaptureFixture[str], number: str
) -> None:
    with pytest.raises(SystemExit):
        command("bench", "--utterances", number)
    assert f"`{number}` is not a whole number of 1 or more" in capsys.readouterr().err


def test_our_engine_is_measured_on_the_texts_of_a_book(
    story: Path,
    tiny_model: Callable[[str], Path],
    command: Command,
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = ("--model", tiny_model("lsd"), "--texts", story, "--repeats", 2, "--rows", 8)
    assert command("bench", *options, "--utterances", 20, "--json") == 0
    captured = capsys.readouterr()
    assert [line.split(":")[0] for line in captured.err.splitlines()] == [
        "Alternation 1 of 2",
        "Alternation 2 of 2",
    ]
    content = json.loads(captured.out)
    (side,) = content["sides"]
    assert side["name"] == "fp32"
    assert not content["made_up_model"]
    assert len(side["passes"]) == 2
    for spoken in side["passes"]:
        assert spoken["audio_s"] == pytest.approx(content["audio_s"])
        assert len(spoken["memory_bytes"]) == 11
    assert {"prefill", "backbone", "flow head", "codec"} <= side["frame_parts_ms"].keys()
    assert 1 < side["rows_in_a_step"] <= 8


@pytest.mark.slow
def test_the_reference_speaks_in_turn_and_as_long(
    tiny_model: Callable[[str], Path], command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pocket_tts")
    options = ("--model", tiny_model("lsd"), "--utterances", 8, "--repeats", 1, "--json")
    assert command("bench", *options, "--against", "reference") == 0
    captured = capsys.readouterr()
    found = {side["name"]: side for side in json.loads(captured.out)["sides"]}
    assert set(found) == {"fp32", "reference fp32", "reference int8"}
    assert found["fp32"]["ratio_to"].keys() == {"reference fp32", "reference int8"}
    (line,) = captured.err.splitlines()
    assert line.startswith("Alternation 1 of 1: fp32 ")


@pytest.mark.skipif(not children_file(os.getpid()).exists(), reason="no /proc to see children in")
def test_ctrl_c_ends_all_processes_and_leaves_no_files(
    tiny_model: Callable[[str], Path], tmp_path: Path
) -> None:
    options = ["--model", str(tiny_model("lsd")), "--precision", "all", "--utterances", "5000"]
    process = subprocess.Popen(
        [sys.executable, "-m", "pocket_batch", "bench", *options],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
        # A shell lets its background jobs ignore Ctrl-C, and so all they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        children = wait_for_children(process, len(measure.precisions_named("all")))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 75
    assert said == "Stopped.\n"
    end = time.monotonic() + 10
    while any(map(is_running, children)) and time.monotonic() < end:
        time.sleep(0.05)  # a process that was killed needs a moment to give its memory back
    assert not any(map(is_running, children))
    assert not list(tmp_path.iterdir())


def is_running(pid: int) -> bool:
    """Whether a process is there and has not ended; one that nobody has asked for has."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_for_children(process: "subprocess.Popen[str]", num: int) -> list[int]:
    """The numbers of a process's children once it has so many: one alone prepares the model."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        children = [int(word) for word in children_file(process.pid).read_text().split()]
        if len(children) >= num:
            return children
        time.sleep(0.05)
    pytest.fail(f"it never had {num} children; its exit code is {process.poll()}")


def test_a_model_without_weights_is_made_up_and_one_with_weights_is_used(
    tiny_model: Callable[[str], Path], tmp_path: Path
) -> None:
    whole = tiny_model("lsd")
    found = prepare(str(whole), tmp_path)
    assert (found.model, found.is_made_up) == (str(whole), False)
    assert json.loads(Path(found.config).read_text())["weights_path"].startswith(str(whole))
    empty = tmp_path / "empty"
    empty.mkdir()
    config = (whole / "config.yaml").read_text()
    (empty / "config.yaml").write_text(config.replace("model.safetensors", "none.safetensors"))
    found = prepare(str(empty), tmp_path)
    assert found.is_made_up
    assert Path(found.model, "model.safetensors").exists()
    assert Path(found.state).exists()
