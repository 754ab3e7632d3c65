"""Every table of the package leads to what it promises, and importing starts nothing."""

import subprocess
import sys
from importlib import import_module

import pytest

from pocket_batch.cli.main import COMMANDS
from pocket_batch.engine.base import ENGINES
from pocket_batch.executors.base import EXECUTORS
from pocket_batch.sources.base import SOURCES
from pocket_batch.stages.base import STAGES


@pytest.mark.parametrize("entry", [*ENGINES.values(), *EXECUTORS.values(), *SOURCES.values()])
def test_every_entry_of_a_table_can_be_imported(entry: str) -> None:
    module, _, attribute = entry.partition(":")
    assert callable(getattr(import_module(module), attribute))


@pytest.mark.parametrize("name", STAGES)
def test_every_stage_is_named_as_in_the_table_and_runs(name: str) -> None:
    module, _, attribute = STAGES[name].partition(":")
    stage = getattr(import_module(module), attribute)
    assert stage.name == name
    assert callable(stage.run)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    from pocket_batch.cli.main import main

    with pytest.raises(SystemExit) as exit_info:
        main([name, "--help"])
    assert exit_info.value.code == 0
    assert "usage: pocket-batch" in capsys.readouterr().out


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from pocket_batch.cli.main import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'ray', 'torch', 'numpy', 'scipy', 'lxml', 'pydantic', 'rich', 'yaml', 'pydub'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
