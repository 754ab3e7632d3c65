"""`pocket-batch schema` prints what an editor needs to check a job file."""

import json
from collections.abc import Callable

import jsonschema
import pytest

Command = Callable[..., int]


@pytest.fixture
def schema(command: Command, capsys: pytest.CaptureFixture[str]) -> jsonschema.Draft202012Validator:
    assert command("schema") == 0
    return jsonschema.Draft202012Validator(json.loads(capsys.readouterr().out))


@pytest.mark.parametrize("kind", ["job", "audiobook", "dataset"])
def test_every_kind_is_printed_as_one_object(
    command: Command, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    assert command("schema", kind) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(found)
    assert found["additionalProperties"] is False
    assert found["description"]


def test_an_unknown_kind_is_refused(command: Command) -> None:
    with pytest.raises(SystemExit) as ended:
        command("schema", "jobb")
    assert ended.value.code == 2


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"inbox": "in", "deadline": "05:30"},
        {"deadline": 1335},
        {"inputs": ["a", "b/*.epub"], "voice": "heart", "max_hours": 7.5},
        {"set": {"master.fade_ms": 3, "write": {"format": "mp3"}}},
        {"executor": {"name": "ray", "workers": 4}, "keep_speech": False},
        {"on_finish": {"command": "mail"}, "on_failure": {"webhook": "https://h/x"}},
        {"metrics": {"port": 9100}, "health": {"silent_s": 5}},
    ],
)
def test_what_a_job_may_say_is_valid(
    schema: jsonschema.Draft202012Validator, settings: dict[str, object]
) -> None:
    schema.validate({"output": "out/{stem}.m4b", **settings})


@pytest.mark.parametrize(
    "settings",
    [
        {"outpt": "x"},
        {"inputs": "a.txt"},
        {"inputs": [1]},
        {"inbox": 7},
        {"keep_watching": "maybe"},
        {"executor": {"wokers": 1}},
        {"executor": {"name": "dask"}},
        {"executor": "ray"},
        {"health": {"silent": 1}},
        {"on_finish": "mail"},
        {"set": ["a"]},
        {"metrics": {"port": "many"}},
        {"max_hours": "long"},
        {"output": None},
    ],
)
def test_what_a_job_may_not_say_is_not_valid(
    schema: jsonschema.Draft202012Validator, settings: dict[str, object]
) -> None:
    assert not schema.is_valid({"output": "out/{stem}.m4b", **settings})
