"""Files of models: found where they are, downloaded over cuts, refused when wrong."""

import hashlib
import os
import random
import socket
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from pocket_batch.errors import ModelUnavailableError, OutputError, UsageError
from pocket_batch.models import download, hub, integrity, mirror

REVISION = "0123456789abcdef" * 2 + "01234567"
REPOSITORY = "kyutai/some-model"
WEIGHTS = f"{REPOSITORY}/languages/x/model.safetensors"
TOKENIZER = f"{REPOSITORY}/languages/x/tokenizer.json"
LOCATION = f"hf://{WEIGHTS}@{REVISION}"


def _weights(seed: int, num_bytes: int) -> bytes:
    noise = random.Random(seed).randbytes(num_bytes)
    return bytes(save({"x": np.frombuffer(noise, np.uint8)}))


CONTENT = _weights(3, 3_000_000)


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "PAUSE_S", 0.01)


@pytest.fixture
def served(fake_hub: Any) -> Any:
    """A hub with weights of 3 MB and a tokenizer that is small enough for git."""
    fake_hub.files = {WEIGHTS: CONTENT, TOKENIZER: b'{"a": 1}'}
    fake_hub.small = {TOKENIZER}
    return fake_hub


def test_a_downloaded_file_is_in_the_cache_that_the_hub_shares(served: Any) -> None:
    assert hub.find(LOCATION) is None
    path = hub.fetch(LOCATION)
    assert path.read_bytes() == CONTENT
    assert hub.find(LOCATION) == path
    from huggingface_hub import hf_hub_download, try_to_load_from_cache

    file = "languages/x/model.safetensors"
    assert try_to_load_from_cache(REPOSITORY, file, revision=REVISION) == str(path)
    served.asked.clear()
    assert hf_hub_download(REPOSITORY, file, revision=REVISION) == str(path)
    assert hub.fetch(LOCATION) == path
    assert not served.asked


def test_a_branch_is_followed_and_remembered(served: Any) -> None:
    location = f"hf://{WEIGHTS}"
    path = hub.fetch(location)
    assert path.read_bytes() == CONTENT
    assert hub.find(location) == path


def test_a_file_that_another_program_downloaded_is_found(served: Any) -> None:
    from huggingface_hub import hf_hub_download

    theirs = hf_hub_download(REPOSITORY, "languages/x/model.safetensors", revision=REVISION)
    served.asked.clear()
    assert hub.fetch(LOCATION) == Path(theirs)
    assert not served.asked


def test_small_files_are_checked_by_their_git_blob_id(served: Any) -> None:
    location = f"hf://{TOKENIZER}@{REVISION}"
    path = hub.fetch(location)
    assert path.read_bytes() == b'{"a": 1}'
    assert mirror.expected_digest(location, path) == (integrity.git_blob_id_of(path), "")


def test_a_connection_that_breaks_is_taken_up_again_at_once(served: Any) -> None:
    served.cuts = [1_000_000, 500_000]
    assert hub.fetch(LOCATION).read_bytes() == CONTENT
    first, second, third = served.ranges
    assert first == ""
    starts = [int(r.removeprefix("bytes=").rstrip("-")) for r in (second, third)]
    assert 0 < starts[0] <= 1_000_000 < 1_500_000 >= starts[1] > starts[0]


def test_a_later_fetch_goes_on_where_the_last_one_was_cut(
    served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "MAX_RETRIES", 0)
    served.cuts = [2_000_000, 0, 0]
    with pytest.raises(ModelUnavailableError, match="models pull NAME"):
        hub.fetch(LOCATION)
    assert hub.find(LOCATION) is None
    served.cuts, served.asked = [], []
    assert hub.fetch(LOCATION).read_bytes() == CONTENT
    (wanted,) = served.ranges
    assert int(wanted.removeprefix("bytes=").rstrip("-")) > 1_000_000


def test_a_server_without_ranges_still_gives_the_right_file(served: Any) -> None:
    served.ignores_range = True
    served.cuts = [1_000_000]
    assert hub.fetch(LOCATION).read_bytes() == CONTENT


def test_progress_never_goes_back_and_ends_at_the_size(served: Any) -> None:
    calls: list[tuple[str, int, int]] = []
    served.cuts = [1_000_000]
    hub.fetch(LOCATION, lambda *call: calls.append(call))
    assert {(name, total) for name, _, total in calls} == {("model.safetensors", len(CONTENT))}
    counts = [done for _, done, _ in calls]
    assert counts == sorted(counts)
    assert counts[-1] == len(CONTENT)


def test_a_file_with_a_wrong_hash_is_removed_and_said_so(served: Any, tmp_path: Path) -> None:
    served.corrupt = {WEIGHTS}
    with pytest.raises(ModelUnavailableError, match="arrived damaged"):
        hub.fetch(LOCATION)
    assert hub.find(LOCATION) is None
    assert not [path for path in (tmp_path / "hf").rglob("*") if path.stat().st_size > 9000]
    served.corrupt = set()
    assert hub.fetch(LOCATION).read_bytes() == CONTENT


def test_a_hash_that_the_caller_knows_is_checked_too(served: Any) -> None:
    with pytest.raises(ModelUnavailableError, match="arrived damaged"):
        hub.fetch(LOCATION, sha256="0" * 64)
    right = hashlib.sha256(CONTENT).hexdigest()
    assert hub.fetch(LOCATION, sha256=right).read_bytes() == CONTENT


def test_a_damaged_blob_without_a_snapshot_is_downloaded_again(served: Any) -> None:
    path = hub.fetch(LOCATION)
    blob = path.resolve()
    blob.write_bytes(b"x" * len(CONTENT))
    path.unlink()
    assert hub.fetch(LOCATION).read_bytes() == CONTENT


@pytest.mark.parametrize("token", ["", "bad"])
def test_a_gated_repository_says_how_to_get_access(
    served: Any, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.gated = {REPOSITORY}
    if token:
        monkeypatch.setenv("HF_TOKEN", token)
    with pytest.raises(ModelUnavailableError) as caught:
        hub.fetch(LOCATION)
    for part in (REPOSITORY, "Accept the terms", "hf auth login", "HF_TOKEN", "without it"):
        assert part in str(caught.value)


def test_a_token_opens_the_gate_and_is_not_told_to_other_hosts(
    served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.gated = {REPOSITORY}
    monkeypatch.setenv("HF_TOKEN", "good")
    assert hub.fetch(LOCATION).read_bytes() == CONTENT
    assert served.tokens
    assert not any(served.tokens)


def test_a_file_that_the_repository_lacks_is_named(served: Any) -> None:
    with pytest.raises(ModelUnavailableError, match=r"no/such\.file of kyutai/some-model"):
        hub.fetch(f"hf://{REPOSITORY}/no/such.file@{REVISION}")


@pytest.mark.parametrize("status", [403, 404, 502])
def test_a_proxy_in_the_way_is_not_taken_for_the_hub(
    served: Any, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.status = status
    with pytest.raises(ModelUnavailableError, match=f"the server answered {status}") as caught:
        hub.fetch(LOCATION, model="english")
    _say_no_network(caught)


def test_a_login_page_is_not_taken_for_the_hub(served: Any) -> None:
    served.status = 200
    with pytest.raises(ModelUnavailableError, match="not as a hub does"):
        hub.fetch(LOCATION)


def test_a_server_in_trouble_is_quoted(served: Any) -> None:
    served.refuses_bodies = True
    with pytest.raises(ModelUnavailableError, match="answered 503"):
        hub.fetch(LOCATION)


def _say_no_network(caught: pytest.ExceptionInfo[ModelUnavailableError]) -> None:
    text = str(caught.value)
    assert "languages/x/model.safetensors of kyutai/some-model" in text
    for part in ("pocket-batch models pull english", "POCKET_BATCH_MIRROR", "--to FOLDER"):
        assert part in text


def test_a_refused_connection_is_reported_at_once(
    served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        _set_endpoint(monkeypatch, f"http://127.0.0.1:{unused.getsockname()[1]}")
        start = time.monotonic()
        with pytest.raises(ModelUnavailableError) as caught:
            hub.fetch(LOCATION, model="english")
    assert time.monotonic() - start < 3
    _say_no_network(caught)


def test_a_name_that_nobody_knows_is_reported_in_time(
    served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _set_endpoint(monkeypatch, "http://hub.invalid")
    start = time.monotonic()
    with pytest.raises(ModelUnavailableError) as caught:
        hub.fetch(LOCATION, model="english")
    assert time.monotonic() - start < 10
    _say_no_network(caught)


@pytest.mark.parametrize("kind", ["never answers", "never looked up"])
def test_a_network_that_swallows_everything_is_given_up_in_time(
    served: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "REACH_S", 1.0)
    monkeypatch.setattr(hub, "REACH_S", 1.0)
    served.is_silent = True
    if kind == "never looked up":
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(20))
    start = time.monotonic()
    with pytest.raises(ModelUnavailableError, match="no answer within 1 s") as caught:
        hub.fetch(LOCATION, model="english")
    assert time.monotonic() - start < 2
    _say_no_network(caught)


def test_the_time_to_reach_a_server_is_below_ten_seconds() -> None:
    assert download.REACH_S < 9


def test_offline_mode_of_the_hub_is_obeyed(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = hub.fetch(LOCATION)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    served.asked.clear()
    assert hub.fetch(LOCATION) == path
    with pytest.raises(ModelUnavailableError, match="HF_HUB_OFFLINE"):
        hub.fetch(f"hf://{TOKENIZER}@{REVISION}")
    assert not served.asked


def test_the_hub_writes_nothing_on_the_terminal(
    served: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    served.cuts = [1_000_000]
    hub.fetch(LOCATION)
    served.is_silent = False
    with pytest.raises(ModelUnavailableError):
        hub.fetch(f"hf://{REPOSITORY}/no.file@{REVISION}")
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


def test_a_mirror_folder_comes_first_whatever_the_revision(
    served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mirror" / WEIGHTS
    path.parent.mkdir(parents=True)
    path.write_bytes(b"mirrored")
    monkeypatch.setenv("POCKET_BATCH_MIRROR", str(tmp_path / "mirror"))
    assert hub.find(LOCATION) == hub.fetch(f"hf://{WEIGHTS}") == path
    assert not served.asked
    assert hub.fetch(f"hf://{TOKENIZER}").read_bytes() == b'{"a": 1}'  # not in it: downloaded


def test_a_url_is_downloaded_once_and_resumed(
    served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "MAX_RETRIES", 0)
    url = f"http://127.0.0.1:{served.port}/body/{WEIGHTS}"
    served.cuts = [2_000_000, 0]
    with pytest.raises(ModelUnavailableError, match="could not be downloaded"):
        hub.fetch(url)
    served.cuts, served.asked = [], []
    path = hub.fetch(url)
    assert path.read_bytes() == CONTENT
    assert path.suffix == ".safetensors"
    assert path.is_relative_to(tmp_path / "cache" / "pocket-batch")
    assert served.ranges[0].startswith("bytes=")
    assert list(path.parent.iterdir()) == [path]
    served.asked.clear()
    assert hub.fetch(url) == hub.find(url) == path
    assert not served.asked


def test_a_url_whose_content_changed_in_between_starts_over(
    served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "MAX_RETRIES", 0)
    url = f"http://127.0.0.1:{served.port}/body/{WEIGHTS}"
    served.cuts = [2_000_000, 0]
    with pytest.raises(ModelUnavailableError):
        hub.fetch(url)
    served.files[WEIGHTS] = changed = _weights(4, 2_500_000)
    served.cuts = []
    assert hub.fetch(url).read_bytes() == changed


def test_two_that_want_the_same_file_download_it_once(served: Any) -> None:
    paths: list[Path] = []
    threads = [threading.Thread(target=lambda: paths.append(hub.fetch(LOCATION))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(paths)) == 1
    assert paths[0].read_bytes() == CONTENT
    assert len(served.ranges) == 1


def test_a_full_disk_is_said_before_anything_is_asked(
    served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from collections import namedtuple

    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage(10, 10, 0))
    with pytest.raises(OutputError, match="no space is left"):
        hub.fetch(LOCATION)
    assert not served.ranges


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_cache_that_cannot_be_written_is_named(served: Any, tmp_path: Path) -> None:
    (tmp_path / "hf").mkdir(mode=0o500)
    with pytest.raises(OutputError, match="could not be written"):
        hub.fetch(LOCATION)


def test_a_cache_that_is_a_file_is_named(served: Any, tmp_path: Path) -> None:
    (tmp_path / "hf").write_text("in the way")
    with pytest.raises(OutputError, match="could not be written"):
        hub.fetch(LOCATION)


def test_a_path_is_itself_or_an_error(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    with pytest.raises(ModelUnavailableError, match="does not exist"):
        hub.fetch(str(path))
    path.write_bytes(b"")
    assert hub.find(str(path)) == hub.fetch(str(path)) == path


@pytest.mark.parametrize(
    "location", ["hf://a/b", "hf://a/b/../c", "hf:///b/c", "hf://a/b/", "hf://a/b/c@../../d"]
)
def test_a_malformed_location_is_refused(location: str) -> None:
    with pytest.raises(UsageError, match="is not a file on the hub"):
        hub.find(location)


def test_finding_needs_no_hub_code_and_no_network(served: Any) -> None:
    start = time.monotonic()
    for _ in range(100):
        assert hub.find(LOCATION) is None
    assert time.monotonic() - start < 1
    assert not served.asked


def test_a_name_that_no_disk_can_hold_is_not_found(served: Any) -> None:
    for name in ("x" * 5000, "\ud800", "a\0b", "~\ud800"):
        for location in (f"hf://{REPOSITORY}/{name}@{REVISION}", name, f"/{name}/model"):
            assert hub.find(location) is None
            with pytest.raises(ModelUnavailableError, match="does not exist"):
                hub.fetch(location)
    for url in ("https://[x/model.safetensors", "https://x/\ud800"):
        assert hub.find(url) is None
        with pytest.raises(ModelUnavailableError, match="does not exist"):
            hub.fetch(url)
    assert not served.asked


def test_a_cut_download_of_unknown_size_is_found_by_its_header(served: Any) -> None:
    url = f"http://127.0.0.1:{served.port}/body/{WEIGHTS}"
    served.hides_size = True
    served.files[WEIGHTS] = CONTENT[:2_000_000]
    with pytest.raises(ModelUnavailableError, match=r"has 2,000,000 bytes of 3,000,0\d\d"):
        hub.fetch(url)
    assert hub.find(url) is None
    served.files[WEIGHTS] = CONTENT
    assert hub.fetch(url).read_bytes() == CONTENT


def test_a_commit_that_is_none_is_not_believed(served: Any, tmp_path: Path) -> None:
    served.commit = "../../evil"
    with pytest.raises(ModelUnavailableError, match="not as a hub does"):
        hub.fetch(f"hf://{WEIGHTS}")
    assert not list(tmp_path.rglob("evil"))


def test_a_mirror_that_is_no_folder_is_said(
    served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served.status = 502
    monkeypatch.setenv("POCKET_BATCH_MIRROR", str(tmp_path / "no"))
    with pytest.raises(ModelUnavailableError, match=r"is set to .*no, and there is no such folder"):
        hub.fetch(LOCATION)


@pytest.mark.parametrize(
    ("path", "cloning", "command"),
    [
        ("model.safetensors", False, "models pull english`"),
        ("model.safetensors", True, "models pull english --cloning`"),
        ("embeddings/marius.safetensors", False, "models pull english --voice marius`"),
    ],
)
def test_the_command_that_is_recommended_gets_the_file(
    served: Any, path: str, cloning: bool, command: str
) -> None:
    served.status = 502
    location = f"hf://{REPOSITORY}/languages/x/{path}@{REVISION}"
    with pytest.raises(ModelUnavailableError) as caught:
        hub.fetch(location, model="english", cloning=cloning)
    assert command in str(caught.value)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("[Errno -2] Name or service not known", "no network"),
        ("[Errno 101] Network is unreachable", "no network"),
        ("[Errno 111] Connection refused", "connection refused"),
        ("Something else.", "Something else"),
    ],
)
def test_the_reason_of_a_failure_is_in_words(message: str, reason: str) -> None:
    def fail() -> None:
        raise OSError(message)

    with pytest.raises(download.TransferError) as caught:
        download.within(1, fail)
    assert str(caught.value) == reason


def _set_endpoint(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", url)
    template = url + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
