"""Makes small tokenizers of the kind that the released models have, in both of their formats.

Unigram pieces with byte fallback, ids 0 to 3 for <unk> <s> </s> <pad>, white space kept as it is
(some models are prompted with eight spaces). Without room for 256 bytes and the letters there is no
byte fallback, and an unknown character is <unk>.
"""

import io
import random
from collections import Counter
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
NUM_SPECIAL = 4
NUM_BYTES = 256
MIN_PIECES_WITH_BYTES = 512  # below, bytes would leave hardly any pieces of text
LETTERS = (
    "".join(map(chr, range(33, 127))) + "àâäáãçèéêëìíîïñòóôõöùúûüßœ“”‘’„«»¡¿–—…"
)  # what the languages of the released models are written with
SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo yu za cha she thi".split()


def make_tokenizer(folder: Path, vocab_size: int, kind: str) -> Path:
    """Train a tokenizer on the sample texts; the same arguments make the same file.

    Args:
        folder: where it is written, as `tokenizer.json` or `tokenizer.model`.
        vocab_size: its number of pieces, from 64.
        kind: `tokenizers` or `sentencepiece`; both give the same ids.

    Returns:
        The file.
    """
    model = _train(vocab_size)
    if kind == "sentencepiece":
        path = folder / "tokenizer.model"
        path.write_bytes(model)
    else:
        path = folder / "tokenizer.json"
        path.write_text(_as_json(model), encoding="utf-8")
    return path


def _train(vocab_size: int) -> bytes:
    from sentencepiece import SentencePieceTrainer

    has_bytes = vocab_size >= MIN_PIECES_WITH_BYTES
    num_letters = vocab_size // 2 - NUM_SPECIAL
    if has_bytes:
        num_letters = (vocab_size - NUM_BYTES) // 2
    model = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(_lines(vocab_size, num_letters)),
        model_writer=model,
        model_type="unigram",
        vocab_size=vocab_size,
        byte_fallback=has_bytes,
        pad_id=3,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        character_coverage=1.0,
        num_threads=1,
        minloglevel=2,
    )
    return model.getvalue()


def _lines(vocab_size: int, num_letters: int) -> list[str]:
    """A text in its most frequent characters; made-up words where it has too few pieces.

    Not README.md, which changes often: whatever was computed with a tokenizer would change too.
    """
    texts = sorted((REPOSITORY / "jobs" / "samples").glob("*.txt"))
    lines = [line for path in texts for line in path.read_text(encoding="utf-8").splitlines()]
    counts = Counter("".join([*lines, LETTERS]))
    kept = set(sorted(counts, key=lambda letter: (-counts[letter], letter))[:num_letters])
    lines = ["".join(c for c in line if c in kept).strip() for line in [*lines, LETTERS]]
    draw = random.Random(1)
    words = ["".join(draw.choices(SYLLABLES, k=draw.randint(2, 4))) for _ in range(2 * vocab_size)]
    lines += [" ".join(draw.choices(words, k=10)) for _ in range(4 * max(vocab_size - 300, 0))]
    return [line for line in lines if line]


def _as_json(model: bytes) -> str:
    """The same pieces and scores for the package `tokenizers`."""
    from sentencepiece import SentencePieceProcessor
    from tokenizers import Tokenizer, decoders, normalizers
    from tokenizers.models import Unigram

    source = SentencePieceProcessor(model_proto=model)
    pieces = [(source.id_to_piece(i), source.get_score(i)) for i in range(source.vocab_size())]
    has_bytes = source.is_byte(NUM_SPECIAL)
    result = Tokenizer(Unigram(pieces, unk_id=0, byte_fallback=has_bytes))
    # Not Metaspace: it puts no "▁" before a text that begins with a space, and SentencePiece does.
    result.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    result.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    return result.to_str()
