"""Respellings: what matches, what is said for it, and that no rule touches it on the way."""

import pickle
import time
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pocket_batch.data import Respelling
from pocket_batch.errors import UsageError
from pocket_batch.text.lexicon import Lexicon
from pocket_batch.text.normalize import normalize
from pocket_batch.text.respell import MAX_PIECE, compiled


def say(text: str, *entries: Respelling, language: str = "en", takes_ipa: bool = False) -> str:
    lexicon = Lexicon(entries, language, takes_ipa)
    return lexicon.resolve(lexicon.mark(text))


def word(written: str, spoken: str) -> Respelling:
    return Respelling(written, spoken)


@pytest.mark.parametrize(
    ("written", "spoken", "text", "said"),
    [
        ("lead", "leed", "lead, misled, leader and lead.", "leed, misled, leader and leed."),
        ("don", "DON", "I don't see Don or don.", "I don't see DON or DON."),
        ("brien", "X", "O'Brien and O’Brien", "O'Brien and O’Brien"),
        ("O'Brien", "oh-bry-en", "Miss O’Brien's hat", "Miss oh-bry-en's hat"),
        ("Ann", "an", "Ann’s and Ann'll, not Anna", "An’s and an'll, not Anna"),
        ("Jean-Luc", "zhon-luke", "by Jean‑Luc and Jean", "by zhon-luke and Jean"),
        ("sheikh", "shake", "a sheikh-like man", "a shake-like man"),
        ("Dr.", "doctor", "see Dr. Hill, Drs. and Dr.", "see doctor Hill, Drs. and doctor."),
        ("C++", "see plus plus", "C++ and C", "See plus plus and C"),
        ("Hermione", "her-MY-oh-nee", "_Hermione_ her", "_her-MY-oh-nee_ her"),
        ("3", "three only", "3, 3.5, 1,300 and 3rd", "three only, 3.5, 1,300 and 3rd"),
        ("Zoë", "zoh-ee", "with Zoe\u0308 here", "with zoh-ee here"),
        ("Hermione", "hi", "to Her\u00admi\u00adone go", "to hi go"),
        ("New York", "noo york", "in New\u00a0York state", "in noo york state"),
    ],
)
def test_an_entry_matches_whole_words_however_they_are_typed(
    written: str, spoken: str, text: str, said: str
) -> None:
    assert say(text, word(written, spoken)) == said


def test_an_elided_article_is_a_word_of_its_own_in_french_and_italian() -> None:
    entry = word("Agnès", "a-niesse")
    assert say("d'Agnès et l’Agnès", entry, language="fr") == "d'a-niesse et l’a-niesse"
    assert say("d'Agnès", entry, language="en") == "d'Agnès"


def test_a_word_in_small_letters_matches_in_any_case_and_one_with_a_capital_only_itself() -> None:
    assert say("the LEAD and Lead", word("lead", "leed")) == "the leed and leed"
    assert say("nice to be in Nice", word("Nice", "neese")) == "nice to be in neese"
    any_case = Respelling("Nice", "neese", match_case=False)
    assert say("so nice in NICE", any_case) == "so neese in neese"
    same_case = Respelling("us", "uss", match_case=True)
    assert say("us in the US", same_case) == "uss in the US"


def test_a_name_is_found_in_a_heading_that_is_all_in_capitals() -> None:
    entry = word("Will", "wyll")
    assert say("WILL’S SECRET", entry) == "Wyll’S SECRET"
    assert say("HOW WILL GOES ON", entry) == "HOW wyll GOES ON"
    assert say("You WILL go, Will, I will.", entry) == "You WILL go, wyll, I will."
    strict = Respelling("Will", "wyll", match_case=True)
    assert say("HOW WILL GOES ON", strict) == "HOW WILL GOES ON"


def test_a_respelling_keeps_the_capital_of_a_sentence() -> None:
    entry = word("Lead", "leed")
    text = "Lead. “Lead!” A pipe of Lead? (Lead)"
    assert say(text, entry) == "Leed. “Leed!” A pipe of leed? (Leed)"


def test_the_longest_entry_wins_and_a_respelling_is_not_respelled_again() -> None:
    entries = (word("york", "yawk"), word("New York", "york city"), word("city", "sitty"))
    assert say("York, New York, city", *entries) == "Yawk, york city, sitty"
    swap = (word("red", "blue"), word("blue", "red"))
    assert say("a red and blue flag", *swap) == "a blue and red flag"


def test_of_equal_entries_the_first_wins() -> None:
    assert say("a bow", word("bow", "bough"), word("bow", "boh")) == "a bough"


def test_an_entry_holds_in_its_language_alone() -> None:
    entries = [
        Respelling("chat", "shah", language="fr"),
        Respelling("chat", "tchat", language="en"),
    ]
    assert say("un chat", *entries, language="fr-CA") == "un shah"
    lexicon = Lexicon(entries, "en-GB")
    assert lexicon.resolve(lexicon.mark("a chat")) == "a tchat"
    french = lexicon.for_language("fr")
    assert french.resolve(french.mark("le chat")) == "le shah"
    assert Lexicon(entries, "de").is_empty


def test_a_regular_expression_has_groups_and_yields_to_longer_words() -> None:
    saint = Respelling(r"\bSt\. (\w+)", r"Saint \1", is_regex=True)
    assert say("at St. Ives and St. Mary's", saint) == "at Saint Ives and Saint Mary's"
    assert say("at St. Ives now", saint, word("St. Ives now", "here")) == "at here"
    volume = Respelling(r"vol\.\s*(\d+)", r"volume \1", is_regex=True)
    assert say("in VOL. 3", volume) == "in volume 3"


def test_a_word_after_a_match_of_a_regular_expression_is_still_found() -> None:
    pattern = Respelling(r"the new", "thuh new", is_regex=True)
    entries = (pattern, word("new york", "X"), word("york times", "Y"))
    assert say("read the new york times", *entries) == "read thuh new Y"


@pytest.mark.parametrize("bad", ["(", "a{2,1}", "[z-a]", "(?P<x>a)(?P<x>b)"])
def test_a_wrong_regular_expression_is_an_error_that_shows_it(bad: str) -> None:
    with pytest.raises(UsageError, match="not valid"):
        Lexicon([Respelling(bad, "x", is_regex=True)], "en")
    with pytest.raises(UsageError, match="group"):
        Lexicon([Respelling("a", r"\1", is_regex=True)], "en")


@pytest.mark.parametrize("bad", [r"(a+)+b", r"(a|ab)*c", r"(\w+\s?)*$", r".*.*.*x", r"((?:a?b*)+)"])
def test_a_regular_expression_that_could_run_forever_is_refused(bad: str) -> None:
    with pytest.raises(UsageError, match="forever"):
        compiled(Respelling(bad, "x", is_regex=True))


@pytest.mark.parametrize("good", [r"(\w+) (\w+)", r"(?:Mr|Mrs)\. (.+?) said", r"a{3}", r"(ab)?c+"])
def test_a_usual_regular_expression_is_taken(good: str) -> None:
    assert compiled(Respelling(good, "x", is_regex=True))


def test_a_regular_expression_sees_a_long_paragraph_in_pieces_cut_at_spaces() -> None:
    text = "gone and done " * MAX_PIECE
    said = say(text, Respelling(r"\bdone\b", "dun", is_regex=True))
    assert said == text.replace("done", "dun")


def test_an_empty_respelling_says_nothing() -> None:
    assert say("as he did [sic], so", word("[sic]", "")) == "as he did, so"


def test_ipa_is_said_to_engines_that_take_it_and_else_the_respelling_or_the_word() -> None:
    both = Respelling("Siobhan", "shi-vawn", ipa="ʃɪˈvɔːn")
    alone = Respelling("Siobhan", ipa="/ʃɪˈvɔːn/")
    assert say("to Siobhan go", both) == "to shi-vawn go"
    assert say("to Siobhan go", alone) == "to Siobhan go"
    for entry in (both, alone):
        assert say("to Siobhan go", entry, takes_ipa=True) == "to [Siobhan](/ʃɪˈvɔːn/) go"
        said = say("Siobhan’s hat", entry, takes_ipa=True)
        assert said == "[Siobhan’s](/ʃɪˈvɔːnz/) hat"
    place = Respelling("New York", ipa="nuː ˈjɔː.k")
    assert say("in New York", place, takes_ipa=True) == "in [New](/nuː/) [York](/ˈjɔːk/)"


def test_a_pronunciation_in_the_text_itself_is_said_to_engines_that_take_it() -> None:
    text = "then [Siobhan](/ʃɪˈvɔːn/) saw a [page](/wiki/)."
    respelled = word("siobhan", "shi-vawn")
    assert say(text) == "then Siobhan saw a [page](/wiki/)."
    assert say(text, respelled) == "then shi-vawn saw a [page](/wiki/)."
    for entries in ([], [respelled]):
        assert say(text, *entries, takes_ipa=True) == text
    said = say("[Jack](/dʒæk/)’s hat", takes_ipa=True)
    assert said == "[Jack’s](/dʒæks/) hat"


def test_no_rule_of_normalisation_changes_a_respelling() -> None:
    lexicon = Lexicon([word("Hermione", "her-MY-oh-nee 2 Dr."), word("NASA", "IT IS NASA")], "en")
    text = "At 5 o’clock NASA and Hermione’s 3 cats."
    said = lexicon.resolve(normalize(lexicon.mark(text), "en"))
    assert "IT IS NASA" in said
    assert "her-MY-oh-nee 2 Dr." in said
    assert "three cats" in said
    said = lexicon.resolve(normalize(lexicon.mark("“Hermione!”"), "en"))
    assert said == '"Her-MY-oh-nee 2 Dr.!"'


def test_a_book_with_more_respelled_words_than_placeholders_is_respelled_whole() -> None:
    num = 2 * (0xEFFF - 0xE0FF)
    lexicon = Lexicon([word(f"word{i}", f"spoken {i}") for i in range(num)], "en")
    for i in range(num):
        assert lexicon.resolve(lexicon.mark(f"a word{i} b")) == f"a spoken {i} b"
    text = " ".join(f"word{i}" for i in range(num))
    said = " ".join(f"spoken {i}" for i in range(num))
    assert lexicon.resolve(lexicon.mark(text)) == said


def test_placeholders_hold_over_a_few_paragraphs_however_many_came_before() -> None:
    num = 2_500
    lexicon = Lexicon([word(f"word{i}", f"spoken {i}") for i in range(num)], "en")
    marked = [lexicon.mark(f"word{i}") for i in range(num)][-200:]
    assert [lexicon.resolve(text) for text in marked] == [
        f"spoken {i}" for i in range(num - 200, num)
    ]


def test_ten_thousand_entries_are_no_slower_than_a_few() -> None:
    paragraph = "The fox jumped over word77's dogs, and it’s word9999 that led the way. " * 20
    few = Lexicon([word("word77", "x")], "en")
    many = Lexicon([word(f"word{i}", f"x {i}") for i in range(10_000)], "en")
    times = []
    for lexicon in (few, many):
        started = time.process_time()
        for _ in range(100):
            lexicon.resolve(lexicon.mark(paragraph))
        times.append(time.process_time() - started)
    assert times[1] < 10 * times[0]


def test_the_fingerprint_is_of_what_holds_and_a_lexicon_can_be_sent_to_a_worker() -> None:
    entries = [word("a", "b"), Respelling("c", "d", language="fr")]
    lexicon = Lexicon(entries, "en")
    assert lexicon.fingerprint == Lexicon(entries[:1], "en").fingerprint
    assert lexicon.fingerprint != Lexicon([word("a", "c")], "en").fingerprint
    copy = pickle.loads(pickle.dumps(lexicon))
    assert copy.resolve(copy.mark("a")) == "b"


TEXT = st.text(st.characters(exclude_categories=("Cs", "Co")))


@given(TEXT)
def test_without_entries_nothing_changes(text: str) -> None:
    assume("](/" not in text)
    assert say(text) == text


ENTRIES = st.lists(
    st.builds(
        Respelling, st.text("abc .'-é", min_size=1, max_size=6), st.text("xyzé ", max_size=5)
    ),
    max_size=8,
)


@given(st.text("abcABC .,'’é\u00ad\ue100\ue123\uefff", max_size=60), ENTRIES)
def test_placeholders_never_leak(text: str, entries: list[Respelling]) -> None:
    said = say(text, *entries)
    assert not any("\ue100" <= letter <= "\uefff" for letter in said)
    spoken = [replace(entry, spoken=f"\ue100{entry.spoken}") for entry in entries]
    assert not any("\ue100" <= letter <= "\uefff" for letter in say(text, *spoken))


WORDS = st.text("abé", min_size=1, max_size=3)


@given(st.lists(WORDS, max_size=30), st.dictionaries(WORDS, st.text("xyz", min_size=1), max_size=6))
def test_among_plain_words_each_is_respelled_by_itself(
    words: list[str], spoken: dict[str, str]
) -> None:
    said = say(" ".join(words), *(word(*entry) for entry in spoken.items()))
    assert said == " ".join(spoken.get(one, one) for one in words)
