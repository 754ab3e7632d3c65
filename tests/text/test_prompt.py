"""A chunk of text is brought into the typography that a model was trained on."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocket_batch.errors import InputError, UsageError
from pocket_batch.text.prompt import Prompt, PromptRules, prepare_prompt

PLAIN = PromptRules()
ENGLISH = PromptRules(replacements={"’": "'", "‘": "'"})
GERMAN = PromptRules(
    remove_semicolons=True,
    replacements={
        **dict.fromkeys('"“”„«»()[]', ""),
        **dict.fromkeys("’‘", "'"),
        **dict.fromkeys("–—", ","),
    },
)
PADDED = PromptRules(pad_short=True)

EXAMPLES = [
    (PLAIN, "hello there", "Hello there."),
    (PLAIN, "  Hello\nthere!\r\n", "Hello there!"),
    (PLAIN, "what is it?", "What is it?"),
    (PLAIN, "élan vital", "Élan vital."),
    (PLAIN, "ß", "SS."),
    (PLAIN, "7 of them", "7 of them."),
    (PLAIN, "he paused,", "He paused."),
    (PLAIN, "he paused –", "He paused."),
    (PLAIN, "a list: -;", "A list."),
    (PLAIN, 'he said "no"', 'He said "no".'),
    (PLAIN, 'he said "no!"', 'He said "no!"'),
    (PLAIN, "“so,” he said, “then—”", "“so,” he said, “then.”"),
    (PLAIN, "and so…", "And so…"),
    (PLAIN, "”", "”"),
    (PLAIN, "one; two", "One; two."),
    (PLAIN, "one  two    three", "One two three."),
    (PLAIN, "tab\tkept", "Tab\tkept."),
    (ENGLISH, "it’s ‘so’", "It's 'so'."),
    (ENGLISH, "tab\tgone", "Tab gone."),
    (GERMAN, "„wirklich?“, fragte sie; er nickte", "Wirklich? fragte sie, er nickte."),
    (GERMAN, "er kam – zu spät", "Er kam , zu spät."),
    (PADDED, "hello", "        Hello."),
    (PADDED, "one two three four", "        One two three four."),
    (PADDED, "one two three four five", "One two three four five."),
    (PromptRules(capitalize=False), "salAm", "salAm."),
    (PromptRules(append_punctuation=False), "hello,", "Hello,"),
]


@pytest.mark.parametrize(
    ("rules", "text", "prepared"), EXAMPLES, ids=lambda value: repr(value)[:40]
)
def test_text_begins_and_ends_as_the_model_was_trained(
    rules: PromptRules, text: str, prepared: str
) -> None:
    assert prepare_prompt(text, rules).text == prepared


@pytest.mark.parametrize(
    ("text", "frames"),
    [("Yes.", 5), ("One two three four.", 5), ("One two three four five.", 3), ("A b c d -", 5)],
)
def test_speech_goes_on_longer_after_up_to_four_words(text: str, frames: int) -> None:
    assert prepare_prompt(text, PLAIN).frames_after_eos == frames


@pytest.mark.parametrize(("text", "rules"), [("", PLAIN), (" \n\t", PLAIN), ("„“ ()", GERMAN)])
def test_a_text_with_nothing_left_to_speak_is_refused_in_a_sentence(
    text: str, rules: PromptRules
) -> None:
    with pytest.raises(InputError, match="has no text to speak"):
        prepare_prompt(text, rules)


def test_a_replacement_of_more_than_one_character_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match="`--` is 2 of them"):
        PromptRules(replacements={"--": "—"})


TEXTS = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="aB é.!?…\"'“”’)]»(,;:-–—\n\r\t\u00a0ßǆ7", max_size=40),
)
RULES = st.builds(
    PromptRules,
    pad_short=st.booleans(),
    remove_semicolons=st.booleans(),
    append_punctuation=st.booleans(),
    capitalize=st.booleans(),
    replacements=st.one_of(
        st.just({}),
        st.just(ENGLISH.replacements),
        st.just(GERMAN.replacements),
        st.dictionaries(st.sampled_from("aB.,;:-–\"' "), st.text("a.,- ", max_size=2), max_size=4),
    ),
)


@pytest.fixture(scope="module")
def reference() -> Callable[[str, PromptRules], Prompt | None]:
    """What the reference makes of a text that is one chunk; None when it refuses it."""
    prepare = pytest.importorskip("pocket_tts.models.text_chunking").prepare_text_prompt

    def run(text: str, rules: PromptRules) -> Prompt | None:
        settings = (
            rules.pad_short,
            rules.remove_semicolons,
            rules.append_punctuation,
            rules.capitalize,
            dict(rules.replacements),
        )
        try:
            # Before it looks for chunks, then each chunk; it adds 2 to the frames that it guesses.
            once, _ = prepare(text, *settings)
            twice, frames = prepare(once.strip(), *settings)
        except ValueError:
            return None
        return Prompt(twice, frames + 2)

    return run


@given(text=TEXTS, rules=RULES)
def test_any_text_is_prepared_as_the_reference_does(
    reference: Callable[[str, PromptRules], Prompt | None], text: str, rules: PromptRules
) -> None:
    try:
        ours = prepare_prompt(text, rules)
    except InputError:
        ours = None
    assert ours == reference(text, rules)
