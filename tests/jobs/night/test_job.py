"""A job file says what is made of what; what it cannot mean is refused with a sentence."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pocket_batch.config import json_schema, load_job
from pocket_batch.dataset_settings import DatasetPipeline
from pocket_batch.errors import UsageError
from pocket_batch.jobs.night.job import NightJob, open_job
from pocket_batch.settings import AudiobookPipeline

REPOSITORY = Path(__file__).parents[3]
LEAST = {"inbox": "in", "output": "out/{stem}.m4b"}
SET = {"pipeline": "dataset", "inputs": ["c.txt"], "output": "set"}


def write(folder: Path, text: str | dict[str, Any], name: str = "job.yaml") -> Path:
    path = folder / name
    path.write_text(text if isinstance(text, str) else yaml.safe_dump(text), encoding="utf-8")
    return path


def opened(folder: Path, text: str | dict[str, Any], **overrides: Any) -> NightJob:
    return open_job(write(folder, text), overrides)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "found none"),
        ("# only this\n", "found none"),
        ("- a\n- b\n", "found none"),
        ("just words", "found none"),
        ("inbox: in\n\toutput: x", "not valid YAML"),
        ("inbox: in\noutput: a\noutput: b", "`output` again"),
        ("inbox: [unclosed", "not valid YAML"),
        ("inbox: in\noutpt: 'out/{stem}.m4b'", "`outpt` is not a setting. Did you mean `output`"),
        ("inbox: in", "`output` is missing"),
        ("inbox: no\noutput: 'a/{stem}.m4b'", "quote them"),
        ("inbox: in\noutput: ~", "`output` is None"),
        ("inbox: in\noutput: ''", "`output` is empty"),
        ("inbox: in\noutput: {stem}.m4b", "not valid YAML"),
        ("inbox: in\noutput: {stem}", "`output` is {'stem': None}"),
        ("inputs: a.txt\noutput: 'a/{stem}.m4b'", "`inputs` is 'a.txt'"),
        ("inputs: [1984]\noutput: 'a/{stem}.m4b'", "`inputs.0` is 1984"),
        ("output: 'a/{stem}.m4b'", "nothing to do"),
        ("inputs: []\noutput: 'a/{stem}.m4b'", "nothing to do"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\nkeep_speech: maybe", "`keep_speech` is 'maybe'"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\nmax_hours: 0", "more than 0"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\nmax_hours: .nan", "more than 0"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\ndeadline: 24:30", "A deadline is a time of day"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\ndeadline: noon", "A deadline is a time of day"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\ndeadline: yes", "A deadline|quote them"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\ndeadline: 5", "A deadline is a time of day"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\ndeadline: 5.30", "`deadline"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\nhealth: {silent_s: -1}", "`health.silent_s` is -1"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\nexecutor: {wokers: 2}", "Did you mean `workers`"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\nexecutor: ray", "`executor` is 'ray'"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\nexecutor: {workers: 0}", "must be from 1"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\nset: {mastr.fade_ms: 3}", "Did you mean `master`"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\nset: {master: {fad_ms: 3}}", "Did you mean `fade_ms`"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\nset: {voice.name: x}", "`voice.name`"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\nset: [a]", "`set` is"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\non_finish: mail", "`on_finish` is 'mail'"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\nmetrics: {port: many}", "`metrics.port`"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\npipeline: audiobok", "must be audiobook or dataset"),
        ("inbox: in\noutput: 's3://b/{stem}.m4b'", "no URL"),
        ("inputs: [a]\nkeep_watching: true\noutput: 'a/{stem}.m4b'", "needs an `inbox`"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\nvoices: [a, b]", "`voices` is for data sets"),
        ("inbox: in\noutput: 'a/{stem}.m4b'\nexports: [nemo]", "`exports` is for data sets"),
        ("pipeline: dataset\ninbox: in\noutput: set", "`inbox` is for audiobooks|nothing"),
        ("pipeline: dataset\ninputs: [a]\ninbox: in\noutput: set", "`inbox` is for audiobooks"),
        ("pipeline: dataset\ninputs: [a]\nkeep_speech: false\noutput: set", "is for audiobooks"),
        ("pipeline: dataset\ninputs: [a]\noutput: 'set/{stem}'", "without fields"),
        ("a: " + "[" * 1500, "nested too deeply|not valid YAML"),
        ("inbox: &a in\noutput: *b", "not valid YAML"),
        ("inbox: !!python/object:os.system in\noutput: x", "not valid YAML"),
        ("inbox: 2026-13-45\noutput: x", "not valid YAML"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_sentence(
    tmp_path: Path, text: str, problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        opened(tmp_path, text)


def test_a_job_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        open_job(tmp_path / "none.yaml", {})
    with pytest.raises(UsageError, match="cannot be read"):
        open_job(tmp_path, {})
    (tmp_path / "x.yaml").write_bytes(b"inbox: \xff\xfe")
    with pytest.raises(UsageError, match="not valid YAML"):
        open_job(tmp_path / "x.yaml", {})


def test_the_least_job_has_its_run_folder_beside_its_results(tmp_path: Path) -> None:
    job = opened(tmp_path, "\ufeff" + yaml.safe_dump(LEAST))
    assert isinstance(job.pipeline, AudiobookPipeline)
    assert job.output == str(tmp_path / "out/{stem}.m4b")
    assert job.run_dir == tmp_path / "out/job.run"
    assert job.name == "job"


def test_paths_are_as_seen_from_the_job_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    folder = tmp_path / "my jobs"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    write(folder, {**LEAST, "output": "~/out/{stem}.m4b", "run_dir": "../runs"})
    job = open_job(Path("my jobs/job.yaml"), {})
    assert job.output == str(tmp_path / "me/out/{stem}.m4b")
    assert job.run_dir.resolve() == tmp_path / "runs"
    assert job.place("in") == folder / "in"
    assert job.place("~/in") == tmp_path / "me/in"
    assert job.place("/in") == Path("/in")


def test_settings_are_changed_flat_and_one_level_deep(tmp_path: Path) -> None:
    changed = {"master.fade_ms": 5, "write": {"format": "mp3", "bitrate_kbps": 96}, "seed": 7}
    pipeline = opened(tmp_path, {**LEAST, "set": {**changed, "read": {}}}).pipeline
    assert isinstance(pipeline, AudiobookPipeline)
    assert (pipeline.master.fade_ms, pipeline.master.keep_ms) == (5, 40)
    assert (pipeline.write.format, pipeline.write.bitrate_kbps, pipeline.seed) == ("mp3", 96, 7)
    with pytest.raises(UsageError):
        opened(tmp_path, {**LEAST, "set": {"segment": {"pauses": {"nothing_ms": 1}}}})


def test_what_executor_does_not_name_stays_as_the_pipeline_has_it(tmp_path: Path) -> None:
    shipped = yaml.safe_load((REPOSITORY / "pipelines/audiobook.yaml").read_text())
    shipped["executor"] = {"item_timeout_s": 600.0, "workers": 2}
    write(tmp_path, shipped, "mine.yaml")
    job = {**LEAST, "pipeline": "mine.yaml", "executor": {"workers": 1, "name": "local"}}
    executor = opened(tmp_path, job).pipeline.executor
    assert (executor.name, executor.workers, executor.item_timeout_s) == ("local", 1, 600.0)
    executor = opened(tmp_path, job, **{"executor.workers": 2}).pipeline.executor
    assert (executor.name, executor.workers) == ("local", 2)


def test_a_pipeline_file_must_say_what_it_is(tmp_path: Path) -> None:
    write(tmp_path, "stages: []", "mine.yaml")
    with pytest.raises(UsageError, match=r"mine\.yaml: `pipeline` is None"):
        opened(tmp_path, {**LEAST, "pipeline": "mine.yaml"})


def test_voices_are_names_or_files_beside_the_job(tmp_path: Path) -> None:
    (tmp_path / "me.wav").write_bytes(b"x")
    assert opened(tmp_path, {**LEAST, "voice": "tone"}).pipeline.voice == "tone"  # type: ignore[union-attr]
    found = opened(tmp_path, {**LEAST, "voice": "me.wav"}).pipeline
    assert found.voice == str(tmp_path / "me.wav")  # type: ignore[union-attr]
    found = opened(tmp_path, {**SET, "voice": "tone", "voices": ["heart", "me.wav"]}).pipeline
    assert isinstance(found, DatasetPipeline)
    assert found.voices.voices == {"tone": 1.0, "heart": 1.0, str(tmp_path / "me.wav"): 1.0}
    weights = {"voices": {"voices": {"tone": 2.0, "heart": 1.0}}}
    found = opened(tmp_path, {**SET, "set": weights}).pipeline
    assert found.voices.voices == {"tone": 2.0, "heart": 1.0}  # type: ignore[union-attr]


def test_limits_are_those_of_the_job(tmp_path: Path) -> None:
    from pocket_batch.jobs.deadline import Deadline

    job = opened(tmp_path, {**LEAST, "health": {"silent_s": 5, "warn_growth_mb_per_h": 7}})
    limits = job.limits(Deadline(after_s=10))
    assert (limits.silent_s, limits.warn_growth_mb_per_h) == (5, 7)
    assert limits.recycle_growth_mb_per_h == 500
    assert limits.is_late(60)


@pytest.mark.parametrize("kind", ["job", "audiobook", "dataset"])
def test_schemas_are_schemas_and_take_what_is_shipped(kind: str) -> None:
    schema = json.loads(json.dumps(json_schema(kind)))
    jsonschema.Draft202012Validator.check_schema(schema)
    if kind != "job":
        shipped = REPOSITORY / "pipelines" / f"{kind}.yaml"
        jsonschema.validate(yaml.safe_load(shipped.read_text()), schema)


def _examples() -> list[dict[str, Any]]:
    """All job files of this repository, and those in its documents."""
    found = []
    files = [p for p in (REPOSITORY / "jobs").rglob("*.yaml") if "schedulers" not in p.parts]
    texts = [path.read_text() for path in files]
    for path in [REPOSITORY / "README.md", *(REPOSITORY / "docs").glob("*.md")]:
        parts = path.read_text().split("```yaml\n")[1:]
        texts += [part.partition("```")[0] for part in parts]
    for text in texts:
        try:
            loaded = yaml.safe_load(text)
        except yaml.YAMLError:
            continue
        if isinstance(loaded, dict) and "output" in loaded and {"inputs", "inbox"} & set(loaded):
            found.append(loaded)
    return found


def test_the_examples_of_job_files_are_valid(tmp_path: Path) -> None:
    for example in _examples():
        jsonschema.validate(json.loads(json.dumps(example)), json_schema("job"))
        load_job(write(tmp_path, example))


WORDS = st.sampled_from(["in", "", "x.txt", "tone", "22:15", "~"])
ANY = st.none() | st.booleans() | st.integers(-2, 2000) | st.floats() | WORDS
KEYS = ["inbox", "voice", "deadline", "max_hours", "keep_speech", "run_dir", "pipeline", "inputs"]
VALUES = ANY | st.lists(ANY, max_size=2) | st.dictionaries(WORDS, ANY, max_size=2)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from([*KEYS, "executor", "set", "outputs", "health"]), VALUES))
def test_whatever_a_file_says_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, values: dict[str, Any]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    text = yaml.safe_dump({"output": "a/{stem}.m4b", **values})
    with suppress(UsageError):
        job = opened(folder, text)
        assert job.settings.inputs or job.settings.inbox


def test_a_wrong_setting_is_told_with_the_file_that_has_it(tmp_path: Path) -> None:
    wrong = {"check": {"liten": "all"}}
    with pytest.raises(UsageError, match=r"job\.yaml: `check\.liten` is not a setting"):
        opened(tmp_path, LEAST | {"set": wrong})
    with pytest.raises(UsageError, match=r"^settings: `check\.liten`"):
        opened(tmp_path, LEAST, **{"check.liten": "all"})
    (tmp_path / "mine.yaml").write_text("pipeline: audiobook\nchek: {}\n")
    with pytest.raises(UsageError, match=r"mine\.yaml: `chek` is not a setting"):
        opened(tmp_path, LEAST | {"pipeline": "mine.yaml", "set": wrong})


def test_models_that_listen_are_found_beside_the_job_file(tmp_path: Path) -> None:
    (tmp_path / "models" / "small").mkdir(parents=True)
    job = opened(tmp_path, LEAST | {"set": {"check": {"asr_model": "models/small"}}})
    assert isinstance(job.pipeline, AudiobookPipeline)
    assert job.pipeline.check.asr_model == str(tmp_path / "models" / "small")
    job = opened(tmp_path, LEAST | {"set": {"check.asr_model": "small"}})
    assert isinstance(job.pipeline, AudiobookPipeline)
    assert job.pipeline.check.asr_model == "small"


def test_the_name_of_a_file_is_refused_where_a_folder_is_made(tmp_path: Path) -> None:
    given = LEAST | {"output": "out/{stem}.mp3", "set": {"write.split_chapters": True}}
    with pytest.raises(UsageError, match=r"Leave \.mp3 away, and give `write\.format: mp3`"):
        opened(tmp_path, given)
    opened(tmp_path, given | {"output": "out/{stem}"})
