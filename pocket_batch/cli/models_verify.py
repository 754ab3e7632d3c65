"""Check the files of models on this machine against their hashes and their formats."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pocket_batch.errors import ModelUnavailableError, PocketBatchError
from pocket_batch.models import hub, mirror
from pocket_batch.models.advice import pull_command
from pocket_batch.models.integrity import is_intact, safetensors_problem
from pocket_batch.models.location import mirror_remark
from pocket_batch.models.tokenizer import load_tokenizer

if TYPE_CHECKING:
    from pocket_batch.cli.models import File
    from pocket_batch.models.presets import ModelSource


def verify(files: Iterable[tuple["ModelSource", "File"]]) -> None:
    """Print a line about each of these files that is here.

    Raises:
        ModelUnavailableError: one is damaged; the message says what to do.
    """
    damaged: list[str] = []
    seen: set[Path] = set()
    for source, file in files:
        path = hub.find(file.location)
        if not path or path in seen:
            continue
        seen.add(path)
        digest, why = mirror.expected_digest(
            file.location, path, source.sha256.get(file.location, "")
        )
        problem = _damage(source, file, path, digest)
        state = "DAMAGED" if problem else "ok" if digest else "no usable hash"
        remark = problem or why
        note = f" ({remark})" * bool(remark)
        print(f"{state:<15}{source.name} {file.kind}: {path}{note}", flush=True)
        if problem:
            damaged.append(_advice(source, file, path))
    if not seen:
        print(f"Nothing to check: no file of these models is on this machine.{mirror_remark()}")
    if damaged:
        raise ModelUnavailableError(" ".join(damaged))


def _damage(source: "ModelSource", file: "File", path: Path, digest: str) -> str:
    """What is wrong with a file, empty if nothing; its format is looked at too."""
    try:
        if not is_intact(path, digest):
            return "its hash is another"
        if file.kind == "tokenizer":
            table = source.config.flow_lm.lookup_table
            load_tokenizer(path, table.tokenizer, table.n_bins)
            return ""
        return safetensors_problem(path)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    except PocketBatchError as error:
        return str(error).removeprefix(f"{path}: ").rstrip(".")


def _advice(source: "ModelSource", file: "File", path: Path) -> str:
    """What to do about a damaged file."""
    voice = file.kind.removeprefix("voice ")
    voices = [voice] if voice != file.kind else []  # the default voice needs no option
    command = pull_command(source.name, voices, file.kind == "cloning weights")
    folder = mirror.in_mirror(file.location, path)
    if folder:
        return (
            f"{path} in the mirror is damaged. Copy it again from where the mirror was made, or "
            f"delete it and run `{command} --to {folder}` while online."
        )
    if "://" in file.location:
        return f"{path.resolve()} is damaged. Delete it and run `{command}`."
    return f"{path} is damaged. Copy it again from where you have it."
