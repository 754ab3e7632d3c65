"""The tokenizer of a model: text to ids of its embedding table, from either format it comes in."""

from collections.abc import Callable
from pathlib import Path

from pocket_batch.errors import ModelUnavailableError, UsageError

_JSON_KINDS = ("tokenizers", "json")
_KINDS = (*_JSON_KINDS, "sentencepiece")

_Encode = Callable[[str], list[int]]


class Tokenizer:
    """Text to ids; safe to use from several threads, and after a fork.

    Attributes:
        vocab_size: ids are from 0 to `vocab_size` - 1.
    """

    def __init__(self, vocab_size: int, encode: _Encode) -> None:
        """Wrap the function of a library; use `load_tokenizer` instead."""
        self.vocab_size = vocab_size
        self._encode = encode

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, of any length; none of begin or end that the file does not add."""
        # Half a surrogate pair, as JSON can spell one, would be an error of the libraries.
        return self._encode(text.encode("utf-8", "replace").decode("utf-8"))


def load_tokenizer(path: Path, kind: str, vocab_size: int) -> Tokenizer:
    """Read a tokenizer file and check that it belongs to the model.

    Args:
        path: `tokenizer.json` or a SentencePiece model; one that ends in `.json` is the former
            whatever `kind` says.
        kind: as in the model's configuration: `tokenizers` (or `json`), or `sentencepiece`.
        vocab_size: the number of ids that the model has embeddings for (`n_bins`).

    Raises:
        UsageError: there is no such kind.
        ModelUnavailableError: the file is missing, damaged, or of another size.
    """
    if kind not in _KINDS:
        raise UsageError(f"`{kind}` is no kind of tokenizer. Known are {', '.join(_KINDS)}.")
    is_json = kind in _JSON_KINDS or path.name.partition("@")[0].endswith(".json")
    content = _read(path)
    try:
        found, encode = (_load_json if is_json else _load_sentencepiece)(content)
    except (ValueError, RuntimeError) as error:
        wanted = "a tokenizer.json" if is_json else "a SentencePiece model"
        raise ModelUnavailableError(
            f"{path}: wanted {wanted}, found {len(content)} bytes that are none "
            f"({' '.join(str(error).split()):.100}). Fetch the file again."
        ) from error
    if found != vocab_size:
        raise ModelUnavailableError(
            f"{path}: this tokenizer has {found} pieces, but the model wants {vocab_size}. "
            "Take the file that belongs to this model."
        )
    return Tokenizer(found, encode)


def _read(path: Path) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelUnavailableError(
            f"{path}: the tokenizer of the model cannot be read ({error.strerror}). "
            "Fetch the model again."
        ) from error
    if not content:  # which sentencepiece takes for no file at all, and complains on the terminal
        raise ModelUnavailableError(f"{path}: the tokenizer is an empty file. Fetch it again.")
    return content


def _load_json(content: bytes) -> tuple[int, _Encode]:
    from tokenizers import Tokenizer as Library

    library = Library.from_buffer(content)

    def encode(text: str) -> list[int]:
        ids: list[int] = library.encode(text).ids
        return ids

    return library.get_vocab_size(), encode


def _load_sentencepiece(content: bytes) -> tuple[int, _Encode]:
    from sentencepiece import SentencePieceProcessor

    library = SentencePieceProcessor(model_proto=content)

    def encode(text: str) -> list[int]:
        ids: list[int] = library.encode(text, out_type=int)
        return ids

    return library.vocab_size(), encode
