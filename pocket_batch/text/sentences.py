"""Sentences of a paragraph: a library finds the stops, thin rules for prose correct it.

The library is asked about a copy of the text in which quotation marks are blanks, so that a long
speech is cut at its own full stops; which stops end a sentence despite the marks is decided here.
"""

import re

from sentencex import get_sentence_boundaries

SPEECH_VERBS = (
    "said|says|asked|asks|cried|replied|answered|exclaimed|whispered|shouted|muttered|murmured|"
    "added|began|continued|returned|repeated|remarked|observed|called|inquired|enquired|demanded|"
    "thought|told|snapped|growled|laughed|sighed|sobbed|screamed|yelled|agreed|insisted|"
    "interrupted|declared|went on|protested|admitted|explained|suggested|pleaded|breathed|gasped"
)
TITLES = "Mr|Mrs|Ms|Dr|St|Prof|Rev|Capt|Col|Gen|Lt|Sgt|Maj|Hon|Messrs|Mme|Mlle|Fr|Sr|Jr|Gov|Sen"

# `Tom's “Yes.”` -> `Tom's  Yes. `: equal length, apostrophes in words kept
_QUOTES = re.compile(r"[\"“”„«»‹›]|(?<!\w)['‘’‚]|['‘’‚](?!\w)")
# the rest of `Now!" he said` after the stop -> `"`
_CLOSERS = re.compile(r"[\"“”»›'’)\]}]*")
# `(He left.) Then`, `so… Then`, `so…" Then` -> the space before `Then`, which the library misses
_MISSED = re.compile(
    r"(?:(?<=[.!?…][)\]])|(?<=…)|(?<=…[\"'”’)])) (?=[\"'“‘(]{0,2}[^\W\d_a-zà-öø-ÿ])"
)
# `went away` -> yes, `"and` -> yes, `— but` -> yes, `He` -> no
_GOES_ON_LOWER = re.compile(r"[^\w]*(?:(?=[^\W\d_])(?-i:[a-zà-öø-ÿа-яё]))")
# `Yes!"` -> `!"`
_QUOTED_STOP = re.compile(r"[!?…—][\"”'’»]+$")
# `Tom said`, `Mister Darcy replied`, `I asked`, `the old man said` -> yes
_SPEECH_TAG = re.compile(rf"(?:[\w.'-]+ ){{1,4}}?(?:{SPEECH_VERBS})\b")
# `Then came—Mr.` -> yes; `12.` -> yes; `IV.` -> yes; `J.` -> yes; `was I.` -> no
_OPEN_END = re.compile(
    rf"(?:(?:^|\W)(?:{TITLES})\.|^\(?\d{{1,3}}\.\)?|^[IVXLC]{{1,6}}\.|(?:^|[A-Z]\. )[A-HJ-Z]\.)$"
)


def split_sentences(text: str, language: str) -> list[str]:
    """Cut a paragraph into sentences; closing quotes and brackets stay with theirs.

    Args:
        text: one paragraph; its white space is folded to single spaces first.
        language: BCP 47 tag; a language that the library does not know is cut by general rules.

    Returns:
        The sentences, none empty; joined by single spaces they equal the folded text.
    """
    text = " ".join(text.split())
    if not text:
        return []
    bare = _QUOTES.sub(" ", text)
    code = language.replace("_", "-").split("-")[0].lower() or "en"
    sentences: list[str] = []
    start = 0
    places = [boundary["end_index"] for boundary in get_sentence_boundaries(code, bare)]
    if ")" in text or "]" in text or "…" in text:
        places = sorted({*places, *(match.end() for match in _MISSED.finditer(text))})
    for place in places:
        end = _end_of_sentence(text, bare, place)
        if end <= start or (end < len(text) and text[end] != " "):
            continue
        if end < len(text) and _goes_on(text[start:end], text[end + 1 :][:80]):
            continue
        sentences.append(text[start:end])
        start = end + 1
    if start < len(text):
        sentences.append(text[start:])
    return sentences


def _end_of_sentence(text: str, bare: str, boundary: int) -> int:
    """Move a boundary back before the white space, then over what closes the sentence."""
    end = len(bare[:boundary].rstrip())
    closers = _CLOSERS.match(text, end)
    assert closers is not None
    return closers.end()


def _goes_on(sentence: str, rest: str) -> bool:
    """Tell whether the library cut where an English reader would not stop."""
    if _GOES_ON_LOWER.match(rest) or _OPEN_END.search(sentence):
        return True
    return bool(_QUOTED_STOP.search(sentence) and _SPEECH_TAG.match(rest))
