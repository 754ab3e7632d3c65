"""How words are written for shells, systemd, cron and YAML, and names that all of them take."""

import hashlib
import json
import re
import shlex
import unicodedata
from collections.abc import Iterable

from pocket_batch.errors import UsageError

PREFIX = "pocket-batch-"
MAX_NAME = 38  # a RayJob may have 47, and Kubernetes adds a dash and 8 digits for the night
MAX_CRON_COMMAND = 990  # of 1,000: MAX_COMMAND of Vixie cron, which Debian has

_NOT_IN_TEXT = ("Cc", "Cs", "Zl", "Zp")  # line breaks, other controls, bytes that are not UTF-8
_NOT_IN_YAML = "\ufeff\ufffe\uffff"


def job_name(stem: str) -> str:
    """A name for units, jobs and files: `Bücher 2` -> `pocket-batch-bucher-2-` and a short hash.

    The hash keeps apart what would else be one name; a stem of `a-z`, `0-9` and `-` needs none.

    Returns:
        At most `MAX_NAME` characters of `a-z`, `0-9` and `-`.
    """
    plain = unicodedata.normalize("NFKD", stem).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")  # `my_job (2)` -> `my-job-2`
    room = MAX_NAME - len(PREFIX)
    if slug != stem or len(slug) > room:
        mark = hashlib.sha256(stem.encode(errors="surrogateescape")).hexdigest()[:6]
        slug = f"{slug[: room - 7].strip('-')}-{mark}".lstrip("-")
    return PREFIX + slug


def check_text(text: str, what: str) -> None:
    """Refuse text that a file of lines cannot hold.

    Raises:
        UsageError: it has a line break, another control character, or bytes that are not UTF-8.
    """
    if any(unicodedata.category(c) in _NOT_IN_TEXT or c in _NOT_IN_YAML for c in text):
        raise UsageError(
            f"{what} is {text!a}: a scheduler cannot be given a line break, a control "
            "character or a byte that is not UTF-8. Rename it, or make a link with another name."
        )


def shell(words: Iterable[str]) -> str:
    """Words as a command of a POSIX shell."""
    return shlex.join(words)


def cron(command: str) -> str:
    """A command as cron takes it: a percent sign would be a line break.

    Raises:
        UsageError: it has a backslash, which crons read differently, or is too long for cron.
    """
    if "\\" in command:
        raise UsageError(
            f"cron cannot be given a backslash: {command:.200}. Rename the folder, or use systemd."
        )
    command = command.replace("%", r"\%")
    if len(command.encode()) > MAX_CRON_COMMAND:
        raise UsageError(
            f"The line for cron would have {len(command.encode()):,} bytes, and cron takes 1,000. "
            "Put the job under a shorter path, or use systemd."
        )
    return command


def systemd(value: str) -> str:
    """A value that systemd takes as it is, such as a working folder.

    Raises:
        UsageError: systemd would cut or join it.

    Source: systemd.unit(5), specifiers, and systemd.syntax(7).
    """
    if value != value.strip() or value.endswith("\\"):
        raise UsageError(
            f"systemd cannot be given {value!r}, which ends in a space or a backslash. "
            "Rename the folder, or use cron."
        )
    return value.replace("%", "%%")


def systemd_word(word: str) -> str:
    """A word of a list, such as a path of ReadWritePaths=; in quotes where it needs them."""
    escaped = word.replace("%", "%%").replace("\\", "\\\\").replace('"', '\\"')
    return escaped if re.fullmatch(r"[\w@%+=:,./-]+", escaped, re.ASCII) else f'"{escaped}"'


def systemd_command(words: Iterable[str]) -> str:
    """A command for ExecStart=, where a dollar sign would stand for a variable.

    Raises:
        UsageError: the program's path has a character that systemd refuses there.

    Source: systemd.service(5), command lines.
    """
    program, *rest = words
    if set(program) & set("$'\"\\"):
        raise UsageError(
            f"systemd cannot start {program!r}: its path has a quote, a dollar sign or a "
            "backslash. Install pocket-batch under another path, or use cron."
        )
    quoted = [systemd_word(program), *(systemd_word(word.replace("$", "$$")) for word in rest)]
    return " ".join(quoted)


def yaml_text(text: str) -> str:
    """Text as a YAML scalar in double quotes: a JSON string, of characters that YAML allows."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() or c > "\uffff" else f"\\u{ord(c):04x}" for c in quoted)


def yaml_block(text: str, indent: int) -> str:
    """A file as a YAML value: lines one can read where YAML takes them, else in double quotes."""
    lines = text.split("\n")
    is_plain = all(line.isprintable() and (line.strip() or not line) for line in lines)
    if not is_plain or lines[0][:1] in ("", " ") or lines[-1] or not lines[-2]:
        return yaml_text(text)
    return "|\n" + "\n".join(f"{' ' * indent}{line}" if line else "" for line in lines[:-1])
