"""Run the commands of README.md as a newcomer would: each in a clean copy, with nothing installed.

The commands are the ```sh blocks under the heading "Two commands".
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path


def main(root: Path, scratch: Path) -> None:
    """Copy the committed tree, run each block with a PATH that has no virtual environment."""
    text = (root / "README.md").read_text(encoding="utf-8")
    section = text.split("## Two commands", 1)[1].split("\n## ", 1)[0]
    blocks = re.findall(r"```sh\n(.*?)```", section, re.S)
    if len(blocks) != 2:
        sys.exit(f"README.md: expected two commands, found {len(blocks)}.")
    scratch.mkdir(parents=True)
    if (root.parent / "shared").is_dir():  # the corpus, for the tests that want it
        (scratch / "shared").symlink_to(root.parent / "shared")
    for number, block in enumerate(blocks, 1):
        copy = scratch / str(number)
        subprocess.run(["git", "clone", "--quiet", str(root), str(copy)], check=True)
        print(f"$ {block.strip()}", flush=True)
        subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block], cwd=copy, env=clean_env(), check=True
        )
    sample = scratch / "1" / "jobs" / "samples" / "tide-clock.m4b"
    if not sample.stat().st_size > 500_000:
        sys.exit(f"{sample} is too small to be the sample audiobook.")
    shutil.rmtree(scratch)


def clean_env() -> dict[str, str]:
    """The environment without the virtual environment of this script."""
    here = str(Path(sys.executable).parent)
    path = os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if p != here)
    return {**os.environ, "PATH": path}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
