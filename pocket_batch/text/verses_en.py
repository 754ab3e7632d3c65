"""English readings of places in the Bible: `1 Cor. 13:4`."""

import re

from pocket_batch.text.numbers_en import cardinal
from pocket_batch.text.patterns import roman_value

_BOOKS = {
    "Gen": "Genesis", "Ex": "Exodus", "Exod": "Exodus", "Lev": "Leviticus", "Num": "Numbers",
    "Deut": "Deuteronomy", "Josh": "Joshua", "Judg": "Judges", "Sam": "Samuel", "Kgs": "Kings",
    "Chr": "Chronicles", "Chron": "Chronicles", "Neh": "Nehemiah", "Esth": "Esther", "Ps": "Psalm",
    "Pss": "Psalms", "Prov": "Proverbs", "Eccl": "Ecclesiastes", "Eccles": "Ecclesiastes",
    "Cant": "Canticles", "Isa": "Isaiah", "Jer": "Jeremiah", "Lam": "Lamentations",
    "Ezek": "Ezekiel", "Dan": "Daniel", "Hos": "Hosea", "Obad": "Obadiah", "Mic": "Micah",
    "Nah": "Nahum", "Hab": "Habakkuk", "Zeph": "Zephaniah", "Hag": "Haggai", "Zech": "Zechariah",
    "Mal": "Malachi", "Matt": "Matthew", "Mt": "Matthew", "Mk": "Mark", "Lk": "Luke",
    "Jn": "John", "Rom": "Romans", "Cor": "Corinthians", "Gal": "Galatians", "Eph": "Ephesians",
    "Phil": "Philippians", "Col": "Colossians", "Thess": "Thessalonians", "Tim": "Timothy",
    "Tit": "Titus", "Philem": "Philemon", "Heb": "Hebrews", "Jas": "James", "Pet": "Peter",
    "Rev": "Revelation",
}  # fmt: skip
_WHOLE = (
    "Genesis|Exodus|Leviticus|Numbers|Deuteronomy|Joshua|Judges|Ruth|Samuel|Kings|Chronicles|Ezra|"
    "Nehemiah|Esther|Job|Psalms?|Proverbs|Ecclesiastes|Isaiah|Jeremiah|Lamentations|Ezekiel|"
    "Daniel|Hosea|Joel|Amos|Obadiah|Jonah|Micah|Nahum|Habakkuk|Zephaniah|Haggai|Zechariah|Malachi|"
    "Matthew|Mark|Luke|John|Acts|Romans|Corinthians|Galatians|Ephesians|Philippians|Colossians|"
    "Thessalonians|Timothy|Titus|Philemon|Hebrews|James|Peter|Jude|Revelation"
)
_PLACES = {"1": "First", "2": "Second", "3": "Third", "I": "First", "II": "Second", "III": "Third"}

# `Gen. 1:1`, `John 3:16-18`, `1 Cor. 13:4` -> the book's name, chapter and verse
_VERSE = re.compile(
    rf"\b(?:(?P<place>[123]|I{{1,3}}) )?(?:(?P<whole>{_WHOLE})|(?P<short>{'|'.join(_BOOKS)})\.?) "
    r"(?P<chapter>\d{1,3}):(?P<verse>\d{1,3})(?:\s?[-–]\s?(?P<last>\d{1,3}))?(?![\w:-])"
)
# `Ps. xxiii. 4`, `Matt. v. 3` -> `Ps. 23:4`, `Matt. 5:3`
_OLD_VERSE = re.compile(
    rf"\b((?:{_WHOLE}|{'|'.join(_BOOKS)})\.?) ([ivxlc]{{1,7}})\. ?(?=\d{{1,3}}(?!\w))"
)


def write_out_verses(text: str) -> str:
    """Say places in the Bible, before `Gen.` is a general and `3:16` a time of day."""
    if ". " in text:
        text = _OLD_VERSE.sub(lambda m: f"{m[1]} {roman_value(m[2])}:", text)
    return _VERSE.sub(_say_verse, text) if ":" in text else text


def _say_verse(match: re.Match[str]) -> str:
    chapter, verse, last = match["chapter"], int(match["verse"]), match["last"]
    place = f"{_PLACES[match['place']]} " if match["place"] else ""
    book = match["whole"] or _BOOKS[match["short"]]
    joint = " " if 10 <= verse < 60 and len(chapter) < 3 else " verse "
    until = f" to {cardinal(int(last))}" if last else ""
    return f"{place}{book} {cardinal(int(chapter))}{joint}{cardinal(verse)}{until}"
