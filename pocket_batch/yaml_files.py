"""YAML files, read strictly. Nothing else in the package reads YAML."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pocket_batch.errors import UsageError

T = TypeVar("T")

# What the YAML reader lets through for dates, numbers and nesting that make no sense.
BAD_SCALARS = (ValueError, TypeError, KeyError, OverflowError, RecursionError)


def parse_assignment(text: str) -> tuple[str, Any]:
    """`write.format=mp3` -> `("write.format", "mp3")`; the value is read as YAML.

    Raises:
        UsageError: there is no `=`.
    """
    import yaml

    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UsageError(f"--set wants KEY=VALUE, such as write.format=mp3, not `{text:.60}`.")
    try:
        return key.strip(), yaml.safe_load(value)
    except (yaml.YAMLError, *BAD_SCALARS) as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"--set {key}: the value `{value:.60}` is not YAML ({reason}).") from error


@dataclass(frozen=True, slots=True)
class YamlNode:
    """A value of a YAML file as written: nothing is taken for a number, a date or a truth value.

    `line` counts from 1. `text`, `items` of a list or `pairs` of a map is set, or none of them.
    """

    line: int
    text: str | None = None
    items: "tuple[YamlNode, ...] | None" = None
    pairs: "tuple[tuple[YamlNode, YamlNode], ...] | None" = None


def read_words(path: Path) -> YamlNode:
    """Read a YAML file of words: `no`, `1984` and `12:30` stay what they are.

    Raises:
        UsageError: the file is missing or not YAML, or has aliases.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return _parsed(path, lambda text: _node(yaml.compose(text, Loader=loader), set()))


def _node(node: Any, seen: set[int]) -> YamlNode:
    if node is None:
        return YamlNode(1)
    if id(node) in seen:  # a file of ten lines could stand for a million words
        raise ValueError(f"line {node.start_mark.line + 1} has an alias (*name), not read here")
    seen.add(id(node))
    line = node.start_mark.line + 1
    if node.id == "mapping":
        return YamlNode(line, pairs=tuple((_node(k, seen), _node(v, seen)) for k, v in node.value))
    if node.id == "sequence":
        return YamlNode(line, items=tuple(_node(item, seen) for item in node.value))
    return YamlNode(line, text=node.value if node.value or node.style else None)


def read_yaml(path: Path) -> dict[str, Any]:
    """The settings of a file; of equal keys, none is silently taken.

    Raises:
        UsageError: the file is missing, not YAML, or holds no settings.
    """
    raw = _parsed(path, _with_keys_once)
    if not isinstance(raw, dict):
        raise UsageError(f"{path.name}: expected settings, one `key: value` a line, found none.")
    return raw


def _with_keys_once(text: str) -> Any:
    """What YAML says. Of equal keys it would silently take the last: they are an error."""
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_mapping_node(self, anchor: Any) -> Any:
            node, known = super().compose_mapping_node(anchor), set()
            for key in (key for key, _ in node.value if key.id == "scalar"):
                if key.value in known:
                    raise ValueError(f"line {key.start_mark.line + 1} has `{key.value}` again")
                known.add(key.value)
            return node

    return yaml.load(text, Loader)


def _parsed(path: Path, parse: Callable[[str], T]) -> T:
    """What a parser of YAML makes of a file."""
    import yaml

    try:
        return parse(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror}).") from error
    except (yaml.YAMLError, *BAD_SCALARS) as error:
        reason = " ".join(str(error).split())
        raise UsageError(f"{path}: not valid YAML ({reason}).") from error
