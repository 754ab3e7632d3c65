"""What the readers of documents produce: pieces of text with what the chapters need to know."""

from dataclasses import dataclass, field

from pocket_batch.data import BlockKind
from pocket_batch.sources.omit import Omission


@dataclass(slots=True)
class Piece:
    """A block with what the cut into chapters needs: heading rank (0 for none) and omissions.

    `omissions` are the reasons not to speak it, that of the outermost element first; `is_inline`
    marks text taken out of the middle of a block, which cannot be put back.
    """

    kind: BlockKind
    text: str
    where: str
    rank: int = 0
    omissions: tuple[Omission, ...] = ()
    is_inline: bool = False

    @property
    def omission(self) -> Omission | None:
        """The reason that counts, None for text that is spoken."""
        return self.omissions[0] if self.omissions else None


@dataclass(slots=True)
class Pieces:
    """The pieces of one document, and the index of the piece at which each anchor stands."""

    items: list[Piece] = field(default_factory=list)
    anchors: dict[str, int] = field(default_factory=dict)
