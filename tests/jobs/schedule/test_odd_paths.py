"""A path of any characters arrives as it is, or is refused with a sentence."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pocket_batch.errors import UsageError
from pocket_batch.jobs.schedule.files import make_files
from pocket_batch.jobs.schedule.nightly import ScheduleOptions, plan_nightly
from pocket_batch.jobs.schedule.quoting import (
    MAX_NAME,
    job_name,
    systemd_word,
    yaml_block,
    yaml_text,
)

ODD = "my 'job' \"of\" $HOME `date` %h%% #1; a&b|c <d> *?[x] ~ \\t é日🎧 \u00a0!"
NAMES = st.text(
    st.one_of(
        st.sampled_from("$%\"'\\ `#;&|<>*?[]{}()~!@^=+-:,.\u00a0é日🎧"),
        st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters="/"),
    ),
    min_size=1,
    max_size=12,
).filter(lambda name: name.strip(".") and len(name.encode()) < 100)
SYSTEMD = Path("/lib/systemd/systemd")
FAST = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
JOB = "inputs: [in]\noutput: out/{stem}.m4b\n"
PutJob = Callable[[Path, str], Path]


def made_or_refused(kind: str, nightly: Any) -> str | None:
    """The first file, or None if the path is refused."""
    try:
        return next(iter(make_files(kind, nightly).files.values()))
    except UsageError as error:
        if re.search(r"backslash|would have|colon|ends in a space", str(error)):
            return None
        raise


@FAST
@given(folder=NAMES, name=NAMES)
def test_shells_get_the_path_of_the_job_as_it_is(
    new_stage: Callable[[], Any], put_job: PutJob, folder: str, name: str
) -> None:
    stage = new_stage()
    job = put_job(stage.bin.parent / folder / f"{name}.yaml", JOB)
    nightly = stage.plan(job)
    line = made_or_refused("cron", nightly)
    if line is None:
        assert "\\" in str(job)
    else:
        command = line.rstrip("\n").split(" ", 5)[5]
        assert not re.search(r"(?<!\\)%", command)
        stage.run("sh", "-c", command.replace(r"\%", "%"))
        assert stage.calls() == [["pocket-batch", "run", str(job), "--quiet"]]
    text = made_or_refused("k8s", nightly)
    if text is None:
        assert ":" in str(job)


@FAST
@given(names=st.lists(NAMES, min_size=1, max_size=3))
def test_other_shells_of_ray_and_slurm_get_it_too(
    new_stage: Callable[[], Any], put_job: PutJob, names: list[str]
) -> None:
    stage = new_stage()
    job = put_job(stage.bin.parent.joinpath(*names[:-1], f"{names[-1]}.yaml"), JOB)
    nightly = stage.plan(job)
    (script,) = make_files("ray", nightly).files.values()
    command = script.split("<<'COMMAND'\n")[1].split("\nCOMMAND\n")[0]
    stage.run("sh", "-c", command)
    assert stage.calls() == [["pocket-batch", "run", str(job), "--address", "auto"]]


def test_ray_runs_the_path_of_a_job_as_it_is_though_it_joins_words(
    stage: Any, put_job: PutJob
) -> None:
    job = put_job(stage.bin.parent / ODD / f"{ODD}.yaml", JOB)
    ((name, text),) = make_files("ray", stage.plan(job)).files.items()
    stage.program(name, text)
    stage.program(  # what `ray job submit` does with words, in Ray 2.60, and the shell of its head
        "ray",
        "#!/usr/bin/env python3\nimport os, subprocess, sys\n"
        "if 'status' in sys.argv: sys.exit(1)\n"
        "words = sys.argv[sys.argv.index('--') + 1:]\n"
        "os.execvp('sh', ['sh', '-c', subprocess.list2cmdline(words)])\n",
    )
    done = stage.run(str(stage.bin / name))
    assert (done.returncode, done.stderr) == (0, "")
    assert stage.calls() == [["pocket-batch", "run", str(job), "--address", "auto"]]


@pytest.fixture
def systemd_reads(tmp_path: Path) -> Callable[[dict[str, str]], str]:
    """What systemd itself makes of units: its own dump of them."""
    if not SYSTEMD.exists():
        pytest.skip("systemd is not on this machine")

    def read(units: dict[str, str]) -> str:
        folder = tmp_path / "units"
        folder.mkdir()
        for name, text in units.items():
            (folder / name).write_text(text, encoding="utf-8")
        wants = "".join(f"Wants={name}\n" for name in units)
        (folder / "all.target").write_text(f"[Unit]\nDefaultDependencies=no\n{wants}")
        for path in (folder, *folder.parents):  # systemd tests units as a user other than root
            if path.stat().st_uid == os.getuid() and path.is_relative_to(tmp_path.parents[1]):
                path.chmod(path.stat().st_mode | 0o755)
        env = {
            "SYSTEMD_UNIT_PATH": f"{folder}:",
            "XDG_RUNTIME_DIR": str(folder),
            "LC_ALL": "C.UTF-8",
        }
        words = [str(SYSTEMD), "--test", "--system", "--unit=all.target", "--log-target=console"]
        user = 65534 if os.getuid() == 0 else None
        done = subprocess.run(
            [*words, "--no-pager"], env=env, capture_output=True, user=user, timeout=30
        )
        text = done.stdout.decode("utf-8", "replace")
        if "-> Unit all.target" not in text:
            pytest.skip(f"systemd cannot test units here: {done.stderr[:200]!r}")
        return text

    return read


def test_systemd_itself_reads_each_path_as_it_is(
    systemd_reads: Callable[[dict[str, str]], str],
    tmp_path: Path,
    put_job: PutJob,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")  # may be written to as it is, too
    jobs = [put_job(tmp_path / name / f"{name}.yaml", JOB) for name in odd_names()]
    units, wanted = {}, {}
    for job in jobs:
        nightly = plan_nightly(job, ScheduleOptions())
        service = made_or_refused("systemd", nightly)
        if service is None:
            assert job.parent.name[-1] in " \\"
        else:
            units[f"{nightly.name}.service"] = service
            wanted[f"{nightly.name}.service"] = job
    assert len(units) > 30
    dump = systemd_reads(units)
    for name, job in wanted.items():
        unit = dump.split(f"-> Unit {name}:")[1].split("-> Unit ")[0]
        assert f"\tWorkingDirectory: {job.parent}\n" in unit
        assert f"\tReadWritePaths: {job.parent}/out /" in unit
        (command,) = re.findall(r"Command Line: (.*)\n", unit)
        word = re.sub(r"\\(.)", r"\1", command.partition(" run ")[2].strip('"'))
        assert word.replace("$$", "$") == str(job)  # $$ becomes $ when it is run


def odd_names() -> list[str]:
    """Names with every printable character of ASCII but the slash, and some others."""
    every = [f"a {chr(c)}b {chr(c)}{chr(c)} c" for c in range(0x20, 0x7F) if chr(c) != "/"]
    return [
        *every,
        ODD,
        "%h and %%n",
        "$HOME ${HOME} $$",
        "a\\x41 \\n",
        "'a' \"b\"",
        "end\\",
        "end ",
    ]


@pytest.mark.parametrize("kind", ["systemd", "cron", "slurm", "k8s", "ray"])
@pytest.mark.parametrize("bad", ["a\nb", "a\x1bb", "a\u2028b", "a\udcffb"])
def test_a_path_that_lines_cannot_hold_is_refused(
    kind: str, bad: str, tmp_path: Path, put_job: PutJob
) -> None:
    with pytest.raises(UsageError, match="line break, a control character"):
        plan_nightly(put_job(tmp_path / bad / "a.yaml", JOB), ScheduleOptions())


def test_a_line_too_long_for_cron_is_refused(tmp_path: Path, put_job: PutJob) -> None:
    job = put_job(tmp_path / ("long" * 50) / "a.yaml", JOB)
    with pytest.raises(UsageError, match="cron takes 1,000"):
        make_files("cron", plan_nightly(job, ScheduleOptions()))


def test_a_path_with_a_colon_cannot_be_mounted(tmp_path: Path, put_job: PutJob) -> None:
    job = put_job(tmp_path / "a:b" / "a.yaml", JOB)
    with pytest.raises(UsageError, match="colon"):
        make_files("k8s", plan_nightly(job, ScheduleOptions()))


@given(st.text(st.characters(exclude_categories=("Cs",))))
def test_yaml_gives_back_any_text(text: str) -> None:
    if not re.search("[\ufffe\uffff]", text):
        assert yaml.safe_load(yaml_text(text)) == text
        assert (
            yaml.safe_load(f"a:\n  b: {yaml_block(text + chr(10), 4)}\n")["a"]["b"] == text + "\n"
        )


@given(NAMES, NAMES)
def test_names_are_short_valid_everywhere_and_never_the_same_for_two_jobs(
    one: str, other: str
) -> None:
    for stem in (one, one * 20):
        name = job_name(stem)
        assert re.fullmatch("pocket-batch-[a-z0-9]([a-z0-9-]*[a-z0-9])?", name)
        assert len(name) <= MAX_NAME
    assert (job_name(one) == job_name(other)) == (one == other)


@given(NAMES)
def test_a_word_for_systemd_is_one_word(text: str) -> None:
    word = systemd_word(text)
    assert re.fullmatch(r'[\w@%+=:,./-]+|"(?:[^"\\]|\\.)*"', word)
