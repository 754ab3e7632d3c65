"""What the readers of documents produce: pieces of text with what the chapters need to know."""

from dataclasses import dataclass, field

from pocket_batch.data import BlockKind, Respelling
from pocket_batch.sources.reasons import Omission

Place = tuple[str, str]  # document, id


@dataclass(frozen=True, slots=True)
class NoteMark:
    """Where a mark stood in the text of a piece, as an offset, and the note that it leads to."""

    offset: int
    target: Place
    text: str


@dataclass(slots=True)
class Piece:
    """A block with what the cut into chapters needs: heading rank (0 for none) and omissions.

    `omissions` are the reasons not to speak it, that of the outermost element first; `is_inline`
    marks text taken out of the middle of a block, which cannot be put back. `language`,
    `pause_after_ms` and `continues` are those of `Block`. `marks` are filled where notes are to be
    spoken, and `notes` names the notes that the piece is a part of.
    """

    kind: BlockKind
    text: str
    where: str
    rank: int = 0
    omissions: tuple[Omission, ...] = ()
    is_inline: bool = False
    language: str = ""
    pause_after_ms: int | None = None
    continues: bool = False
    marks: tuple[NoteMark, ...] = ()
    notes: tuple[Place, ...] = ()

    @property
    def omission(self) -> Omission | None:
        """The reason that counts, None for text that is spoken."""
        return self.omissions[0] if self.omissions else None


@dataclass(slots=True)
class Pieces:
    """The pieces of one document, and the index of the piece at which each anchor stands.

    `lexicon` holds the pronunciations that the document gives for its words.
    """

    items: list[Piece] = field(default_factory=list)
    anchors: dict[str, int] = field(default_factory=dict)
    lexicon: list[Respelling] = field(default_factory=list)
