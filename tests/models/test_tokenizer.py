"""Tokenizers of both formats load, and prompts become the ids that the reference makes of them."""

import importlib.util
import json
import random
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pocket_batch.errors import ModelUnavailableError, UsageError
from pocket_batch.models.architecture import load_model_config
from pocket_batch.models.tokenizer import load_tokenizer
from pocket_batch.text.prompt import PromptRules, prepare_prompt
from pocket_batch.text.sentences import split_sentences

KINDS = ("tokenizers", "sentencepiece")
SIZES = (300, 600, 4000)  # without bytes, with bytes, and as large as the released ones
NUM_SENTENCES = 2000
TEXTS = [
    "Hello there, how are you?",
    "        Hi.",
    "Three   spaces, \ttab.",
    "Perché no? «Là», 3.000 €…",
    "日本語 and ☃☃ snow",
    "",
]

Make = Callable[[Path, int, str], Path]
make_tokenizer: Make = runpy.run_path(str(Path(__file__).with_name("make_tokenizer.py")))[
    "make_tokenizer"
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, int], Path]:
    """Made tokenizers by kind and size."""
    return {
        (kind, size): make_tokenizer(tmp_path_factory.mktemp("made"), size, kind)
        for kind in KINDS
        for size in SIZES
    }


Files = dict[tuple[str, int], Path]


@pytest.mark.parametrize("size", SIZES)
def test_both_formats_of_one_tokenizer_give_the_same_ids(files: Files, size: int) -> None:
    ours = [load_tokenizer(files[kind, size], kind, size) for kind in KINDS]
    sample = (Path(__file__).parents[2] / "jobs" / "samples" / "tide-clock.txt").read_text("utf-8")
    for text in [*TEXTS, *sample.splitlines()]:
        ids = [tokenizer.encode(text) for tokenizer in ours]
        assert ids[0] == ids[1], text
        assert all(0 <= token < size for token in ids[0])
        assert bool(ids[0]) == bool(text)
    assert {tokenizer.vocab_size for tokenizer in ours} == {size}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_arguments_make_the_same_file(files: Files, tmp_path: Path, kind: str) -> None:
    again = make_tokenizer(tmp_path, 600, kind)
    assert again.read_bytes() == files[kind, 600].read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_eight_spaces_are_eight_more_tokens(files: Files, kind: str) -> None:
    tokenizer = load_tokenizer(files[kind, 600], kind, 600)
    assert len(tokenizer.encode(" " * 8 + "Hi.")) == len(tokenizer.encode("Hi.")) + 8


@pytest.mark.parametrize("kind", KINDS)
def test_half_a_surrogate_pair_is_no_crash(files: Files, kind: str) -> None:
    tokenizer = load_tokenizer(files[kind, 600], kind, 600)
    assert tokenizer.encode("so\ud83d") == tokenizer.encode("so?")


def test_a_file_that_ends_in_json_is_read_as_such_whatever_the_kind_says(files: Files) -> None:
    path = files["tokenizers", 300]
    for kind in (*KINDS, "json"):
        assert load_tokenizer(path, kind, 300).vocab_size == 300


@pytest.mark.parametrize("kind", KINDS)
def test_a_tokenizer_of_another_size_is_refused_with_both_sizes(files: Files, kind: str) -> None:
    with pytest.raises(ModelUnavailableError, match=r"tokenizer\..* has 300 pieces.* wants 4000"):
        load_tokenizer(files[kind, 300], kind, 4000)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", ["missing", "empty", "half", "other", "folder"])
def test_a_missing_or_damaged_file_is_named_and_nothing_else_is_printed(
    files: Files, tmp_path: Path, capfd: pytest.CaptureFixture[str], kind: str, part: str
) -> None:
    whole = files[kind, 300].read_bytes()
    path = tmp_path / "its-file"
    contents = {"empty": b"", "half": whole[: len(whole) // 2], "other": b'{"model": 7}'}
    if part in contents:
        path.write_bytes(contents[part])
    if part == "folder":
        path.mkdir()
    with pytest.raises(ModelUnavailableError, match="its-file"):
        load_tokenizer(path, kind, 300)
    assert capfd.readouterr() == ("", "")


def test_an_unknown_kind_is_refused_with_those_that_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"`noop` is no kind of tokenizer.*sentencepiece"):
        load_tokenizer(tmp_path / "tokenizer.model", "noop", 300)


def test_nothing_is_imported_before_a_file_is_loaded_and_a_fork_is_silent(files: Files) -> None:
    program = """
import os, sys
from pathlib import Path
from pocket_batch.models.tokenizer import load_tokenizer
import pocket_batch.text.prompt
assert not {"torch", "tokenizers", "sentencepiece"} & set(sys.modules)
for kind, path in zip(("tokenizers", "sentencepiece"), sys.argv[1:]):
    tokenizer = load_tokenizer(Path(path), kind, 300)
    ids = tokenizer.encode("so it is")
    child = os.fork()
    if not child:
        os._exit(tokenizer.encode("so it is") != ids)
    assert os.waitpid(child, 0)[1] == 0
assert "torch" not in sys.modules
"""
    paths = [str(files[kind, 300]) for kind in KINDS]
    done = subprocess.run([sys.executable, "-c", program, *paths], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.fixture(scope="module")
def sentences(corpus: Path) -> list[str]:
    """Sentences in many languages: all or much of each list of the corpus, the rest a novel's."""

    def lines(name: str) -> list[str]:
        return (corpus / "text" / name).read_text(encoding="utf-8-sig").splitlines()

    draw = random.Random(3)
    listed = [
        *lines("harvard_sentences.txt"),
        *(line for line in lines("qwen3_dataset_generator_sentences_it.txt") if line[:1] != "#"),
        *(line.split("\t")[2] for line in lines("common_voice_sample.tsv")[1:]),
        *(line.split("|")[1] for line in lines("ljspeech_metadata_8.csv")),
        *(json.loads(line)["text"] for line in lines("lhotse_mini_librispeech_supervisions.jsonl")),
        *draw.sample([json.loads(line)["written"] for line in lines("nemo_tn_cases.jsonl")], 200),
        *draw.sample([json.loads(line)["text"] for line in lines("pysbd_golden.jsonl")], 200),
    ]
    novel = "\n".join(lines("pg1342_pride_and_prejudice.txt"))
    spoken = [s for part in re.split(r"\n\s*\n", novel) for s in split_sentences(part, "en")]
    listed = [line for line in listed if line.strip()]
    return listed + draw.sample(spoken, NUM_SENTENCES - len(listed))


@pytest.fixture(scope="module")
def rule_sets() -> list[PromptRules]:
    """The distinct ways in which the 27 released models want their text."""
    spec = importlib.util.find_spec("pocket_tts")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("pocket-tts is not installed")
    paths = sorted(Path(spec.submodule_search_locations[0]).glob("config/*.yaml"))
    assert len(paths) == 27
    configs = map(load_model_config, paths)
    rules = [
        PromptRules(
            config.pad_with_spaces_for_short_inputs,
            config.remove_semicolons,
            config.append_terminal_punctuation,
            config.capitalize_first_letter,
            config.replace_characters,
        )
        for config in configs
    ]
    return [one for i, one in enumerate(rules) if one not in rules[:i]]


def _settings(rules: PromptRules) -> tuple[object, ...]:
    """The rules as the reference's functions take them."""
    return (
        rules.pad_short,
        rules.remove_semicolons,
        rules.append_punctuation,
        rules.capitalize,
        dict(rules.replacements),
    )


def test_sentences_of_a_corpus_become_the_text_and_ids_of_the_reference(
    files: Files, sentences: list[str], rule_sets: list[PromptRules]
) -> None:
    chunking = pytest.importorskip("pocket_tts.models.text_chunking")
    conditioner = pytest.importorskip("pocket_tts.modules.text_conditioner")
    assert len(sentences) == NUM_SENTENCES
    assert len(rule_sets) == 7
    prepared = set()
    for rules in rule_sets:
        for sentence in sentences:
            text, frames = chunking.prepare_text_prompt(sentence, *_settings(rules))
            ours = prepare_prompt(sentence, rules)
            assert (ours.text, ours.frames_after_eos) == (text, frames + 2)
            prepared.add(text)
    for (kind, size), path in files.items():
        tokenizer = load_tokenizer(path, kind, size)
        reference = conditioner.build_tokenizer(size, str(path), kind)
        for text in prepared:
            assert tokenizer.encode(text) == reference(text)[0].tolist(), text


def test_a_chunk_that_the_reference_cut_and_joined_differs_only_by_spaces_after_stops(
    files: Files, sentences: list[str], rule_sets: list[PromptRules]
) -> None:
    """It joins what it cut after each stop with a space, even where the text has none: `so.”` is
    spoken as `so. ”`, `U.S.` as `U. S.`. That is no part of how the model wants its text.
    """
    chunking = pytest.importorskip("pocket_tts.models.text_chunking")
    conditioner = pytest.importorskip("pocket_tts.modules.text_conditioner")
    reference = conditioner.build_tokenizer(600, str(files["tokenizers", 600]), "tokenizers")
    num_same = num_spaced = 0
    for rules in rule_sets:
        for sentence in sentences[::5]:
            chunks = chunking.split_into_best_sentences(
                reference, sentence, 1000, *_settings(rules)
            )
            assert len(chunks) == 1
            spoken, _ = chunking.prepare_text_prompt(chunks[0], *_settings(rules))
            ours = prepare_prompt(sentence, rules).text
            is_glued = re.search(r"[.!?][^ .!?]", ours) is not None
            assert spoken == ours or (is_glued and spoken.replace(" ", "") == ours.replace(" ", ""))
            num_same += spoken == ours
            num_spaced += spoken != ours
    assert num_same > 5 * num_spaced > 0
