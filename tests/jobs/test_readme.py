"""The program in README runs as it stands, on a random checkpoint in place of the released one."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pocket_batch.models.hub import parse_hub
from pocket_batch.models.presets import ModelSource, load_presets

REPOSITORY = Path(__file__).parents[2]


def link(mirror: Path, location: str, path: Path) -> None:
    """Put a file where a mirror has that location of the hub."""
    file = parse_hub(location)
    assert file
    place = mirror / file.repository / file.path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(path)


def fill_mirror(mirror: Path, source: ModelSource, folder: Path) -> None:
    """A mirror of one model, with a voice that is noise."""
    from pocket_batch.data import EngineSpec
    from pocket_batch.engine.pocket import PocketEngine
    from pocket_batch.engine.voice import write_state

    noise = 0.1 * np.random.default_rng(0).standard_normal(48_000).astype(np.float32)
    state = mirror / "alba.safetensors"
    mirror.mkdir()
    write_state(PocketEngine(EngineSpec("pocket", str(folder))).encode_prompt(noise), state)
    plain = source.config.weights_path_without_voice_cloning
    assert plain
    link(mirror, plain, folder / "model.safetensors")
    link(mirror, source.tokenizer, folder.with_name(f"{folder.name}-text") / "tokenizer.json")
    link(mirror, source.state("alba"), state)


@pytest.mark.slow
def test_the_program_in_readme_speaks(
    tiny_model: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POCKET_BATCH_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    fill_mirror(tmp_path / "mirror", load_presets()["english"], tiny_model("english"))
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
    names: dict[str, object] = {}
    exec(compile(program, "README.md", "exec"), names)
    audio = names["audio"]
    assert isinstance(audio, np.ndarray)
    assert audio.dtype == np.float32
    assert len(audio) > 24_000
    assert np.isfinite(audio).all()
