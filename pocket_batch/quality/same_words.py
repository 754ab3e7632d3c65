"""Whether two words sound the same, however a listener wrote them down."""

from collections.abc import Sequence
from functools import lru_cache

SAME, ALIKE, UNLIKE = 0.0, 0.2, 1.0
MIN_SIMILARITY = 0.6  # of spelling, for words that may be the same name
SHORT = 3  # letters; words so short are the same or they are not

# Spelt in two ways: British, American. What follows a rule is in `_ENDINGS`.
_SPELLINGS = """axe ax|cheque check|cheques checks|cosy cozy|draught draft|draughts drafts|
gaol jail|grey gray|greyed grayed|jewellery jewelry|kerb curb|manoeuvre maneuver|mould mold|
moulds molds|moustache mustache|pyjamas pajamas|plough plow|ploughed plowed|programme program|
sceptic skeptic|sceptical skeptical|smoulder smolder|storey story|sulphur sulfur|tyre tire|
tyres tires|whisky whiskey|woollen woolen|aluminium aluminum|aeroplane airplane|defence defense|
offence offense|licence license|practise practice|judgement judgment|ageing aging|skilful skillful|
wilful willful|fulfil fulfill|enrol enroll|okay ok|mister mr|missus mrs|doctor dr|saint st|
alright allright|towards toward|afterwards afterward|backwards backward|learnt learned|burnt burned|
dreamt dreamed|spelt spelled|spoilt spoiled|leapt leaped|hallo hello|hullo hello|ohh oh|o oh|
hmm hm|mm mmm|uh ah|til till|cos cause|gonna goingto|wanna wantto|gotta gotto|thru through|
tho though|nite night|lite light|donut doughnut"""
# `Ive` -> `Ihave`, as these stand for each other in what a listener writes.
_CONTRACTED = """i:m am,ve have,ll will,d would|you we they:re are,ve have,ll will,d would|
he she it that there who what where:s is,ll will,d would|let:s us|
do does did is are was were has have had would could should must need:nt not|wo:nt willnot|
ca:nt cannot|would could should might must:ve have"""
# Words that are said the same and that a phonetic key does not tell to be.
_HOMOPHONES = """air heir ere|aisle isle ill|aunt ant|ate eight|aye eye i|be bee|bare bear|
beach beech|blew blue|board bored|bough bow|boy buoy|brake break|bread bred|buy by bye|
ceiling sealing|cell sell|cent scent sent|choir quire|chord cord|cite sight site|coarse course|
colonel kernel|days daze|dear deer|dew due do|die dye|ewe yew you|eyed ide|fair fare|feat feet|
find fined|fir fur|flea flee|flour flower|for four fore|forth fourth|foul fowl|gait gate|
great grate|guessed guest|hail hale|hair hare|hall haul|heal heel|hear here|heard herd|
higher hire|him hymn|hole whole|hour our|idle idol|in inn|key quay|knead need|knew new|
knight night|knot not|know no|knows nose|lead led|leak leek|loan lone|made maid|mail male|
main mane|meat meet|medal meddle|might mite|miner minor|missed mist|moan mown|morning mourning|
none nun|oar or ore|one won|paced paste|pail pale|pain pane|pair pear pare|passed past|
patience patients|pause paws|peace piece|peak peek|peal peel|peer pier|plain plane|poor pour pore|
pray prey|principal principle|profit prophet|rain reign rein|raise rays|rap wrap|read red|
read reed|right rite write|ring wring|road rode rowed|role roll|root route|rose rows|rough ruff|
sail sale|sauce source|scene seen|sea see|seam seem|sew so sow|shone shown|sole soul|some sum|
son sun|stair stare|stake steak|stationary stationery|steal steel|straight strait|suite sweet|
tail tale|taught taut|tea tee|team teem|tear tier|their there theyre|threw through|throne thrown|
tide tied|to too two|toe tow|vain vein vane|vary very|wade weighed|wail whale|waist waste|
wait weight|war wore|ware wear where|way weigh|weak week|weather whether|weve we|which witch|
wood would|yolk yoke|your youre|hes his|its it|an and|of have|then than|whos whose"""
_ENDINGS = (  # British -> American
    ("ogue", "og"),
    ("yse", "yze"),
    ("ysed", "yzed"),
    ("elled", "eled"),
    ("elling", "eling"),
    ("eller", "eler"),
    ("aeo", "eo"),
)


def difference(said: str, heard: str, language: str) -> float:
    """How unlike two words sound, 0 to 1.

    Args:
        said, heard: as `comparable` writes them: letters and digits, lower case.
        language: its primary subtag, such as `en`.

    Returns:
        SAME, ALIKE (a name or a mishearing, spelt as it sounds) or UNLIKE.
    """
    return SAME if said == heard else _difference(said, heard, language == "en")


def are_joined(said: Sequence[str], heard: Sequence[str], language: str) -> bool:
    """Whether words are the same letters, written in one or in several: `book shop`, `do not`."""
    ours, theirs = "".join(said), "".join(heard)
    return ours == theirs or (language == "en" and _american(ours) == _american(theirs))


@lru_cache(maxsize=20_000)
def _difference(said: str, heard: str, is_english: bool) -> float:
    if is_english:
        if _american(said) == _american(heard):
            return SAME
        if any(said in group and heard in group for group in _homophones()):
            return SAME
    return ALIKE if _sound_alike(said, heard, is_english) else UNLIKE


def _sound_alike(said: str, heard: str, is_english: bool) -> bool:
    """By edit distance, and in English by sound too."""
    from rapidfuzz.distance import Levenshtein

    shorter = min(len(said), len(heard))
    similarity = Levenshtein.normalized_similarity(said, heard)
    if not is_english:
        return shorter > SHORT and similarity >= MIN_SIMILARITY
    from jellyfish import metaphone

    sound, sound_heard = metaphone(said), metaphone(heard)
    if sound and sound == sound_heard and said[0] == heard[0]:
        return True
    if shorter < SHORT:
        return False
    by_sound = Levenshtein.normalized_similarity(sound, sound_heard)
    if shorter == SHORT:
        return by_sound >= MIN_SIMILARITY and similarity >= MIN_SIMILARITY
    return max(similarity, by_sound) >= MIN_SIMILARITY and similarity + by_sound >= 1


def _american(word: str) -> str:
    word = _spellings().get(word, word)
    for british, american in _ENDINGS:
        if word.endswith(british) and len(word) > len(british) + 2:
            return word.removesuffix(british) + american
    return word


@lru_cache(maxsize=1)
def _spellings() -> dict[str, str]:
    table = dict(pair.split() for pair in _SPELLINGS.split("|"))
    for pronoun, verbs in (pair.split(":") for pair in _CONTRACTED.split("|")):
        for one in pronoun.split():
            table |= {one + short: one + whole for short, whole in map(str.split, verbs.split(","))}
    return table


@lru_cache(maxsize=1)
def contractions() -> dict[str, tuple[str, ...]]:
    """What is written without its apostrophe: `youll` -> `you'll`."""
    found: dict[str, tuple[str, ...]] = {}
    for pronoun, verbs in (pair.split(":") for pair in _CONTRACTED.split("|")):
        for one in pronoun.split():
            for short in (verb.split()[0] for verb in verbs.split(",")):
                whole = f"{one}n't".replace("wonn", "won") if short == "nt" else f"{one}'{short}"
                found[one + short] = (whole,)
    return found


@lru_cache(maxsize=1)
def _homophones() -> tuple[frozenset[str], ...]:
    return tuple(frozenset(group.split()) for group in _HOMOPHONES.split("|"))
