"""What books lack is asked for once, and none gets what depends on another."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import cast

from pocket_batch.data import Failure, Request, Voice
from pocket_batch.jobs.night.asking import Asking
from pocket_batch.jobs.night.book import NightBook

VOICE = Voice("tone", "fake", "en", "CC0-1.0")


@dataclass(eq=False)
class Book:
    """As much of a `NightBook` as `Asking` sees; `tried` is that of what it asks for, by key."""

    tried: dict[str, int]
    got: list[str] = field(default_factory=list)

    @property
    def missing(self) -> dict[str, int]:
        return self.tried

    def variant(self, key: str) -> tuple[int, int, int] | None:
        return (self.tried[key], 0, 0) if key in self.tried else None

    def request(self, key: str) -> Request:
        return Request(key, "1", key, VOICE, 0, tried=self.tried[key])


def ask(*books: Book, more: Callable[[], list[Book]] = list) -> Asking:
    return Asking(
        [cast(NightBook, book) for book in books], cast(Callable[[], list[NightBook]], more)
    )


def answer(asking: Asking, key: str) -> list[Book]:
    found = [cast(Book, book) for book in asking.take(Failure(key, "", "", "", 1))]
    for book in found:
        del book.tried[key]
        book.got.append(key)
    return found


def asked(requests: Iterator[Request]) -> list[tuple[str, int]]:
    return [(request.key, request.tried) for request in requests]


def test_a_text_of_two_books_is_asked_for_once_and_both_get_it() -> None:
    one, two = Book({"a": 0, "b": 0}), Book({"b": 0, "c": 0})
    asking = ask(one, two)
    assert asked(asking.requests()) == [("a", 0), ("b", 0), ("c", 0)]
    assert answer(asking, "b") == [one, two]
    assert (one.got, two.got) == (["b"], ["b"])
    assert answer(asking, "b") == []


def test_books_that_want_other_things_of_one_text_are_served_one_after_the_other() -> None:
    """Or the audio that one has already, or another attempt, would be given to the other."""
    one, two = Book({"a": 2}), Book({"a": 0, "b": 0})
    asking = ask(one, two)
    requests = asking.requests()
    assert next(requests).tried == 2
    assert next(requests).key == "b"
    assert answer(asking, "a") == [one]
    assert asked(requests) == [("a", 0)]
    assert answer(asking, "a") == [two]


def test_what_is_answered_after_the_last_was_asked_for_is_left_missing() -> None:
    one, two = Book({"a": 2}), Book({"a": 0})
    asking = ask(one, two)
    assert asked(asking.requests()) == [("a", 2)]
    answer(asking, "a")
    assert two.missing == {"a": 0}
    assert not asking.is_cut_short


def test_what_a_book_lacks_again_comes_before_what_others_lack() -> None:
    one, two = Book({"a": 0}), Book({"b": 0, "c": 0, "d": 0})
    asking = ask(one, two)
    requests = asking.requests()
    assert [next(requests).key for _ in range(2)] == ["a", "b"]
    answer(asking, "a")
    one.tried = {"a": 1}
    asking.add_round(cast(NightBook, one))
    assert asked(requests) == [("a", 1), ("c", 0), ("d", 0)]
    assert answer(asking, "a") == [one]


def test_books_that_come_meanwhile_are_asked_for_too_and_get_what_is_on_its_way() -> None:
    one, late = Book({"a": 0}), Book({"a": 0, "b": 0})
    coming = [[late], []]
    asking = ask(one, more=lambda: coming.pop(0))
    assert asked(asking.requests()) == [("a", 0), ("b", 0)]
    assert answer(asking, "a") == [one, late]


def test_a_run_that_is_cut_short_is_told_from_one_that_ended() -> None:
    one = Book({"a": 0, "b": 0})
    asking = ask(one)
    requests = asking.requests()
    next(requests)
    answer(asking, "a")
    assert asking.is_cut_short  # `b` was not asked for
    list(requests)
    assert asking.is_cut_short  # nor answered
    answer(asking, "b")
    assert not asking.is_cut_short
