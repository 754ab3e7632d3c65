"""What the books of a run lack, as one stream of requests, and who waits for each of them."""

from collections import deque
from collections.abc import Callable, Iterator

from pocket_batch.data import Failure, Request
from pocket_batch.executors.base import Spoken
from pocket_batch.jobs.night.book import NightBook
from pocket_batch.jobs.night.speech import Variant


class Asking:
    """Asks for each text once, however many books lack it.

    Books that want other things of one key, such as another attempt, or what one of them has
    already to be checked, are served one after the other, so that none gets what depends on others.
    """

    def __init__(self, books: list[NightBook], more: Callable[[], list[NightBook]]) -> None:
        """`more` gives books that came since it was asked last, with something missing."""
        self._more = more
        self._owners: dict[str, list[NightBook]] = {}
        self._queue: deque[tuple[NightBook, Iterator[str]]] = deque()
        self._asked: dict[str, Variant] = {}  # and not answered
        self._waiting: dict[str, list[NightBook]] = {}
        self._is_read = False
        for book in books:
            self._add(book)

    @property
    def is_cut_short(self) -> bool:
        """Whether some of it was not asked for, or not answered."""
        return bool(self._asked) or not self._is_read

    def requests(self) -> Iterator[Request]:
        """What the books lack, then what those lack that came meanwhile."""
        while True:
            while self._queue:
                book, keys = self._queue[0]
                key = next(keys, None)
                if key is None:
                    self._queue.popleft()
                elif self._is_to_ask(book, key):
                    yield book.request(key)
            for book in self._more():
                self._add(book)
            if not self._queue:
                break
        self._is_read = True

    def take(self, result: Spoken | Failure) -> list[NightBook]:
        """The books that wait for a result."""
        key = result.utterance.key if isinstance(result, Spoken) else result.key
        variant = self._asked.pop(key, None)
        books = self._owners.pop(key, [])
        found = [book for book in books if variant and book.variant(key) == variant]
        rest = [book for book in books if book not in found]
        if rest:
            self._owners[key] = rest
        for book in self._waiting.pop(key, ()):
            self._queue.appendleft((book, iter((key,))))
        return found

    def add_round(self, book: NightBook) -> None:
        """A book lacks something again: that comes next, so that it is finished soon."""
        self._add(book, is_first=True)

    def _add(self, book: NightBook, is_first: bool = False) -> None:
        keys = list(book.missing)
        for key in keys:
            self._owners.setdefault(key, []).append(book)
        entry = (book, iter(keys))
        if is_first:
            self._queue.appendleft(entry)
        else:
            self._queue.append(entry)

    def _is_to_ask(self, book: NightBook, key: str) -> bool:
        """Whether nobody asks for it now."""
        variant = book.variant(key)
        if variant is None:
            return False  # it was asked for by another
        asked = self._asked.get(key)
        if asked is None:
            self._asked[key] = variant
            return True
        if asked != variant:
            self._waiting.setdefault(key, []).append(book)
        return False
