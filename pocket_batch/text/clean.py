"""Clean-up of text in any language: characters, quotes, ellipses, dashes, marks of layout."""

import re
import unicodedata

# Nothing to hear: soft hyphen, zero-width space and joiners, direction marks, word joiner, BOM,
# variation selectors, the mark that the rules for figures use.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ue000\x00-\x08"
    "\x0e-\x1b\x7f]"
)
# the few of them that are ASCII
_HAS_CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x7f]")
# Ornaments and marks of printers that nobody reads aloud.
DECORATION = "†‡¶•‣▪●■◦❦☙⁂※™®⁃∙◆◇◊○□▲△▼▽►▶◄◀▸▹★☆✦✧✪✫✯❧❡❖✠✻✽✿❀❁❂❃❉❊℠℗❥⸙♪♫♩♬═─━│┃"

_ONE_FOR_ONE = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»〝〞＂", '"'),
        **dict.fromkeys("‘’‚‛ʼ‹›´`＇", "'"),
        **dict.fromkeys("‐‑﹣－", "-"),
        **dict.fromkeys("―⸺⸻﹘", "—"),
        **dict.fromkeys("⋯‥", "…"),
        **dict.fromkeys("⁄∕", "/"),
        "ﬀ": "ff",
        "ﬁ": "fi",
        "ﬂ": "fl",
        "ﬃ": "ffi",
        "ﬄ": "ffl",
        "ﬅ": "st",
        "ﬆ": "st",
        "℃": "°C",
        "℉": "°F",
        **dict.fromkeys(DECORATION, " "),
    }
)

# `` ``Yes,'' `` -> `"Yes,"`
_TEX_QUOTES = re.compile(r"``|''")
# `a _very_ odd **thing**` -> `a very odd thing`; `snake_case` stays
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|_{1,3})(?=[^\s*_])([^*_]*[^\s*_])\1(?![\w*])")
# `## Title` -> `Title`
_HEADING_MARK = re.compile(r"^#{1,6} ")
# a cheap first look
_HAS_MARK = re.compile(r"[*_#~=+]")
# `* * *` and `~~~` -> nothing; a star between digits is a product and stays
_ORNAMENTS = re.compile(r"(?<!\d)\*+(?!\d)|[~=#+](?:\s?[~=#+]){2,}")
# `15_th_`, `_and so` -> without; `snake_case` stays
_LOOSE_UNDERSCORE = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])|(?<=\d)_(?=[a-z])")
# `then . . . .` -> `then…`, `so…?` stays
_ELLIPSIS = re.compile(r"\s?(?:…|\.(?:\s?\.){2,})(?:\s?[.…])*")
# `paused…and` -> `paused… and`; `"…and` stays
_TIGHT_ELLIPSIS = re.compile(r"(?<=\w…)(?=\w)")
# `so , that` -> `so, that`
_SPACE_BEFORE_STOP = re.compile(r"\s+([,;.]|(?<=[\w)\"'] )[!?]+)(?=[\s\"')]|$)")

# the sign of minus: `−5` -> `-5`, and where it stands for a hyphen or a dash; `x − y` stays
_MINUS = re.compile(
    r"(?<![^\W\d_])(?<!\))−(?=[.$£€¥]?\d)|(?<=[^\W\d_]{2})−(?=[^\W\d_]{2})"
    r"|(?<=[^\W\d_]{2} )−(?= [^\W\d_]{2})"
)

# `no---never` -> `no—never`, `Mr. ----` -> `Mr. ——`
_HYPHEN_RUN = re.compile(r"-{2,}")
# `so – or - thus` -> dashes
_SPACED_DASH = re.compile(r"(?<=\s)[–-](?=\s)|^[–-](?=\s)|(?<=\s)[–-]$")
# `—And so` -> `And so`, `"—and` -> `"and`, `(—that` -> `(that`
_DASH_AT_START = re.compile(r"(?:^|(?<=[(\[])|(?<=\s[\"'])|(?<=^[\"']))\s?—[—\s]*")
# `I never—"` -> `I never…"`; `so—` -> `so…`
_DASH_AT_END = re.compile(r"(?<=[^\s,;:.!?…—])\s?—[—\s]*(?=[\"')\]]+(?!\w)|$)")
# `Sir,—I` -> `Sir, I`; `said:—"Go` -> `said: "Go`; `no!—no` -> `no! no`; `so—?` -> `so?`
_DASH_BESIDE_STOP = re.compile(
    r"(?<=[,;:.!?…])(?P<closed>[\"')\]]*)\s?—[—\s]*(?P<end>$|[\"')\]]+(?!\w))?|\s?—[—\s]*(?=[,;:.!?…])"
)
# `the mill — and home` -> `the mill, and home`
_DASH = re.compile(r"\s?—[—\s]*")


def clean(text: str) -> str:
    """Remove what is not heard and give each quote, ellipsis and dash one form.

    Dashes become `—` here; `dashes_to_pauses` writes them out after the number rules, which
    need to know a range from a pause. White space is folded to single spaces.
    """
    if not text.isascii():
        text = _INVISIBLE.sub("", text).translate(_ONE_FOR_ONE)
        text = _MINUS.sub("-", text) if "−" in text else text
        text = unicodedata.normalize("NFC", text)
    else:
        text = _HAS_CONTROL.sub("", text)
        if "`" in text:
            text = _TEX_QUOTES.sub('"', text).replace("`", "'")
    if _HAS_MARK.search(text):
        text = _HEADING_MARK.sub("", _EMPHASIS.sub(r"\2", text))
        text = _LOOSE_UNDERSCORE.sub("", _ORNAMENTS.sub(" ", text))
    if "--" in text:
        text = _HYPHEN_RUN.sub(lambda run: "——" if len(run[0]) > 3 else "—", text)
    text = " ".join(text.split())
    if " -" in text or "- " in text or "–" in text:
        text = _SPACED_DASH.sub("—", text)
    if "…" in text or ".." in text or ". ." in text:
        text = _TIGHT_ELLIPSIS.sub(" ", _ELLIPSIS.sub("…", text))
    return text


def dashes_to_pauses(text: str) -> str:
    """Write each dash as what a reader does there: mostly a comma, `…` where speech breaks off.

    Engines make the same pause at a comma, while some skip the words that a dash joins.
    """
    if "—" in text:
        text = _DASH_AT_START.sub("", text)
        text = _DASH_AT_END.sub("…", text)
        text = _DASH_BESIDE_STOP.sub(_keep_stop, text)
        text = _DASH.sub(", ", text)
    return text.replace("–", "-")


def _keep_stop(match: re.Match[str]) -> str:
    """Keep the stop beside a dash, and a space when more text follows."""
    if match["closed"] is None:
        return ""
    return match["closed"] + (" " if match["end"] is None else match["end"])


def fold(text: str) -> str:
    """Fold white space and drop it before a stop; empty when there is nothing to say."""
    text = " ".join(text.split())
    text = _SPACE_BEFORE_STOP.sub(r"\1", text)
    return text if any(map(str.isalnum, text)) else ""
