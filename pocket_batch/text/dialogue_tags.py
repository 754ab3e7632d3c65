"""Words that tell who speaks: verbs, pronouns and small words before a name, by language."""

import re

# Those of English that also keep a sentence together: `"No!" Tom said`.
SPEECH_VERBS = (
    "said|says|asked|asks|cried|replied|answered|exclaimed|whispered|shouted|muttered|murmured|"
    "added|began|continued|returned|repeated|remarked|observed|called|inquired|enquired|demanded|"
    "thought|told|snapped|growled|laughed|sighed|sobbed|screamed|yelled|agreed|insisted|"
    "interrupted|declared|went on|protested|admitted|explained|suggested|pleaded|breathed|gasped"
)
_VERBS = {
    "en": f"{SPEECH_VERBS}|ventured|rejoined|responded|announced|persisted|squeaked|grumbled|"
    "retorted|concluded|cautioned|warned|hissed|croaked|roared|stammered|panted|screeched|bellowed",
    "de": "sagte|sagt|sprach|fragte|fragt|rief|ruft|antwortete|erwiderte|entgegnete|meinte|"
    "flüsterte|schrie|murmelte|brummte|dachte|bemerkte|erklärte|versetzte|seufzte|begann|"
    "wiederholte|stammelte|fügte|fuhr|lachte|knurrte|zischte",
    "fr": "dit|disait|demanda|répondit|répliqua|cria|s['’]écria|murmura|reprit|ajouta|fit|"
    "continua|pensa|répéta|observa|déclara|soupira|chuchota|poursuivit|interrompit|hurla",
    "es": "dijo|decía|preguntó|respondió|contestó|gritó|exclamó|murmuró|añadió|replicó|susurró|"
    "pensó|repitió|continuó|prosiguió|observó|declaró|suspiró",
    "it": "disse|diceva|chiese|domandò|rispose|gridò|esclamò|mormorò|aggiunse|replicò|sussurrò|"
    "pensò|ripeté|continuò|riprese|osservò|dichiarò|sospirò|fece",
    "pt": "disse|dizia|perguntou|respondeu|gritou|exclamou|murmurou|acrescentou|replicou|"
    "sussurrou|pensou|repetiu|continuou|prosseguiu|observou|declarou|suspirou|tornou",
    "nl": "zei|zegt|vroeg|antwoordde|riep|schreeuwde|fluisterde|mompelde|dacht|vervolgde|"
    "herhaalde|zuchtte|hernam|voegde|begon|merkte",
}
_PRONOUNS = {
    "en": "he|she|they|it|I|we|you|who",
    "de": "er|sie|es|ich|wir|ihr|man|du",
    "fr": "-?t?-?il|-?t?-?elle|-?je|on|nous|vous|-?ils|-?elles",
    "es": "él|ella|yo|ellos|ellas|usted",
    "it": "egli|ella|lui|lei|io|essi|loro",
    "pt": "ele|ela|eu|eles|elas",
    "nl": "hij|zij|ze|ik|wij|we|het|men",
}
_ARTICLES = {
    "en": "the|a|an|his|her|my|their|our",
    "de": "der|die|das|ein|eine|sein|seine|ihr|ihre|mein|meine",
    "fr": "le|la|les|un|une|son|sa|mon|ma|l['’]",
    "es": "el|la|los|las|un|una|su|mi",
    "it": "il|lo|la|un|una|uno|l['’]|suo|sua",
    "pt": "o|a|os|as|um|uma|seu|sua",
    "nl": "de|het|een|zijn|haar|mijn",
}
# more than one, and so no role; German `sie` and Dutch `ze` may be one
_MANY = {
    "en": "they|we|both",
    "fr": "ils|elles|nous",
    "es": "ellos|ellas",
    "it": "essi|loro",
    "pt": "eles|elas",
}
# with which a cast may name a role: `The Queen`
_DEFINITE = {
    "en": "the",
    "de": "der|die|das",
    "fr": "le|la|les",
    "es": "el|la|los|las",
    "it": "il|lo|la",
    "pt": "o|a|os|as",
    "nl": "de|het",
}
# what may stand between verb and name (`said poor old Alice`), and what may not (`said to Alice`)
_NOT_BETWEEN = (
    "to|with|at|of|by|for|and|from|that|if|whether|about|as|when|while|but|in|on|like|after|before|"
    "zu|mit|von|und|dass|als|ob|à|avec|de|et|que|si|con|y|e|di|com|aan|tegen|en|dat"
)


# what may stand before a name: `poor Alice`, `Mr. Darcy`
_TITLES = (
    r"poor|little|old|young|dear|good|Mr|Mrs|Ms|Miss|Dr|Sir|Lady|Lord|Captain|Colonel|Major|Aunt|"
    r"Uncle|King|Queen|Prince|Princess|Father|Mother|Brother|Sister|Professor|Inspector|Herr|Frau|"
    r"Fräulein|Monsieur|Madame|Mademoiselle|Don|Doña|Señor|Señora|Signor|Signora|Senhor|Senhora|"
    r"Meneer|Mevrouw"
)
# `Alice thought so, and heard the Rabbit say,`: whoever is heard speaks, not whoever hears
_HEARD = (
    r"\b(?:heard|hears?|hearing)\b(?P<whom>[^.!?]{0,60}?)"
    r"\b(?:say|cry|ask|call|shout|whisper|mutter|exclaim|remark|reply|answer|add|scream|"
    r"saying|crying|asking|calling|shouting|whispering|muttering|screaming)\b[^.!?,]{0,40}[,:—]$"
)
# who speaks after all in `Tom came near, and she began,`
_SUBJECTS = "he|she|they|I|we|er|il|elle|él|ella|egli|lei|lui|ele|ela|hij"
# `He left. Then` -> the end of `He left.`, and none after `Mr.`
SENTENCE_END = re.compile(r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)[.!?…]\s+")


class Tags:
    """Finds who is said to speak in the narration beside a quoted line.

    `names` maps each name that the text may use to the role that it means. A name with a capital is
    found as it is written, one without in any case. An article before it tells nothing: the role
    `The Queen` is found in `said the Queen`.
    """

    def __init__(self, names: dict[str, str], language: str) -> None:
        definite = _DEFINITE.get(language, _DEFINITE["en"])
        names = {_without_article(name, definite): role for name, role in names.items()} | names
        self._roles = names
        known = "|".join(map(_as_written, sorted(names, key=len, reverse=True))) or "(?!)"
        name = rf"(?<!\w)(?:{known})(?!\w|['’]s\b)"
        self._names = re.compile(name)
        self._heard = re.compile(_HEARD if language == "en" else "(?!)")
        verb = rf"(?<![\w-])(?:{_VERBS.get(language, _VERBS['en'])})\b"
        pronoun = rf"(?:{_PRONOUNS.get(language, _PRONOUNS['en'])})\b"
        article = rf"(?:{_ARTICLES.get(language, _ARTICLES['en'])})\b"
        between = rf"(?:(?!(?:{_NOT_BETWEEN}|{pronoun})\b)[\w.'’]+,?\s+){{0,3}}?"
        titles = rf"(?:(?i:{article})\s*)?(?:(?i:{_TITLES})\.?\s+)*"
        space = r"[\s,;:—–-]*"
        # `he said`, `saying to herself`, `Alice cried in a low voice,`, and not `he called it`
        self.verb_last = re.compile(
            rf"(?:{verb}[^.!?]{{0,60}}[,:]"
            rf"|(?!called)(?:{verb}|\b(?:saying|crying|thinking|adding)\b)(?: to \w+)?)$"
        )
        # `said the White Rabbit`, `cried poor Alice`; `Alice said`, `the Rabbit hastily replied`
        self._after = re.compile(
            rf"{space}(?:{verb}\s+{between}(?P<last>{name})"
            rf"|{titles}(?P<first>{name})\s+(?:\w+\s+)?{verb})"
        )
        # `said the old man`, `said Tom`, `Mr. Brown said`, `they all said`: somebody else
        many = rf"\b(?i:{_MANY.get(language, '(?!)')})\b"
        other = rf"(?!(?i:{pronoun}))[A-ZÀ-Þ]\w+"
        self._somebody = re.compile(
            rf"{space}(?:{verb}\s+(?:{article}\s*\w|{other}|{many})"
            rf"|{titles}{other}\s+(?:\w+ly\s+)?{verb}|{many}\s+(?:\w+\s+){{0,2}}{verb})"
        )
        self._anybody = re.compile(
            rf"{space}(?:{verb}"
            rf"|(?i:{pronoun}|{article}(?:\s+\w+){{1,3}}?|{titles}\w+)\s+(?:\w+ly\s+)?{verb})"
        )
        # `Then Alice said, ` and `said Alice to herself, `
        self._before = re.compile(
            rf"(?P<first>{name})(?:(?!\b(?:{_SUBJECTS})\b)[^.!?]){{0,60}}?{verb}"
            rf"|{verb}\s+{between}(?P<last>{name})"
        )

    def after(self, text: str) -> str | None:
        """The role that begins `text` as the speaker of the line before it.

        Returns:
            Empty for somebody without a role, None when nobody is named.
        """
        match = self._after.match(text)
        if match:
            return self._role(match["last"] or match["first"])
        return "" if self._somebody.match(text) else None

    def before(self, text: str) -> str | None:
        """The role that `text` announces as the speaker of the line after it; see `after`."""
        heard = self._heard.search(text)
        if heard:
            names = list(self._names.finditer(heard["whom"]))
            return self._role(names[-1][0]) if names else ""
        found = list(self._before.finditer(text))
        if found:
            return self._role(found[-1]["last"] or found[-1]["first"])
        return "" if self._somebody.match(text) else None

    def roles_in(self, text: str) -> set[str]:
        """The roles that a text names, speaking or not."""
        return {self._role(match[0]) for match in self._names.finditer(text)}

    def is_tag(self, text: str) -> bool:
        """Whether `text` begins like `said he` or `he said`."""
        return self._anybody.match(text) is not None

    def _role(self, name: str) -> str:
        return self._roles[name] if name in self._roles else self._roles[name.lower()]


def _without_article(name: str, articles: str) -> str:
    """`The Queen` -> `Queen`; `the old man` stays, for `old man` is no name."""
    bare = re.sub(rf"^(?i:{articles})\s+", "", name)
    return bare if bare[:1].isupper() else name


def _as_written(name: str) -> str:
    """An expression for a name."""
    return re.escape(name) if name != name.lower() else rf"(?i:{re.escape(name)})"
