"""The samples of a book on their way to an encoder: counted, scaled, limited, measured."""

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence

from pocket_batch.audio.mastering import gained
from pocket_batch.audio.measure import Measurement, Measuring, combined
from pocket_batch.audio.metadata import ChapterSpan
from pocket_batch.audio.pcm import Pcm
from pocket_batch.errors import OutputError

ChapterPcm = Callable[[int], Iterable[Pcm]]  # index of a chapter -> its pieces in order
Progress = Callable[[int], None]


class FinishedPcm:
    """Gives parts of a book as finished samples, to several threads at once if need be.

    `progress` is called with the number of samples since its last call, by one thread at a time;
    the number is negative when work has to be done again. An exception from it stops the writing.
    """

    def __init__(
        self,
        chapter_pcm: ChapterPcm,
        spans: Sequence[ChapterSpan],
        sampling_rate_hz: int,
        gain: float,
        ceiling_dbtp: float,
        progress: Progress,
    ) -> None:
        assert math.isfinite(gain), gain
        self.spans = tuple(spans)
        self.num_samples = spans[-1].end if spans else 0
        self.sampling_rate_hz = sampling_rate_hz
        self._chapter_pcm = chapter_pcm
        self._gain, self._ceiling_dbtp = gain, ceiling_dbtp
        self._progress = progress
        self._lock = threading.Lock()
        self._measured: list[Measurement] = []
        self._num_done = 0

    def raw(self, first: int, end: int) -> Iterator[Pcm]:
        """The pieces of the chapters `first` up to, not including, `end`, as they were joined.

        Raises:
            OutputError: a chapter is not as long as it was when it was measured.
        """
        for index in range(first, end):
            span, num_samples = self.spans[index], 0
            for piece in self._chapter_pcm(index):
                num_samples += len(piece)
                yield piece
            if num_samples != span.end - span.begin:
                raise OutputError(
                    f"Chapter {index + 1} ({span.title}) has {num_samples} samples, and "
                    f"{span.end - span.begin} were measured before: its audio was changed "
                    "meanwhile. Run the same command again."
                )

    def finished(self, pieces: Iterable[Pcm]) -> Iterator[Pcm]:
        """Scale, limit and measure raw pieces; as many samples come out as go in."""
        measuring = Measuring(self.sampling_rate_hz)
        for piece in gained(pieces, self.sampling_rate_hz, self._gain, self._ceiling_dbtp):
            measuring.add(piece)
            yield piece
            with self._lock:
                self._num_done += len(piece)
                self._progress(len(piece))
        with self._lock:
            self._measured.append(measuring.result())

    def everything(self) -> Iterator[Pcm]:
        """All chapters, finished."""
        return self.finished(self.raw(0, len(self.spans)))

    def forget(self) -> None:
        """Start anew: what `finished` gave so far was in vain. Progress goes back to zero."""
        with self._lock:
            self._measured.clear()
            self._progress(-self._num_done)
            self._num_done = 0

    def measured(self) -> Measurement:
        """What was measured on all that `finished` gave so far."""
        return combined(self._measured)
