"""German."""

import re

from num2words import num2words

from pocket_batch.text.languages.table import Clock, Language, Noun, currencies, nouns, words


def _cardinal(number: int) -> str:
    return str(num2words(number, lang="de"))


def _year(number: int) -> str:
    return str(num2words(number, lang="de", to="year"))


def _ordinal(number: int, ending: str) -> str:
    """Ordinal with a declined ending: 3 and `n` -> `dritten`; without one `dritter`."""
    stem = str(num2words(number, lang="de", to="ordinal"))
    stem = re.sub(r"^(hundert|tausend)", r"ein\1", re.sub(r"^million", "einmillion", stem))
    return stem + {"e": "", "n": "n", "m": "m", "s": "s"}.get(ending, "r")


_WITH_N = re.compile(
    r"(?:\b(?:de[mns]|am|im|vom|zum|zur|beim|(?:[msdk]?ein|ihr|unser|eur|dies|jen|jed|welch)e[rmns]"
    r"|ab|seit|bis|(?:in|an|auf|aus|bei|mit|nach|von|vor|zu|unter|hinter|neben|seit|zwischen"
    r"|während|wegen|trotz|statt) der|[a-zäöü]+ten (?:und|oder|bis|,))) \Z",
    re.IGNORECASE,
)
_WITH_E = re.compile(
    r"\b(?:d(?:er|ie|as)|ans|aufs|fürs|ins|ums|(?:[msdk]?ein|ihr|unser|eur|dies|jen|jed|welch)e"
    r"|diese[rs]|jede[rs]|[a-zäöü]+te (?:und|oder|bis|,)) \Z",
    re.IGNORECASE,
)
_MASCULINE = re.compile(
    r" (?:Geburtstag|Tag|Akt|Stock|Weltkrieg|Platz|Preis|Band|Teil|Rang|Satz|Versuch|Monat"
    r"|Kreuzzug)\b"
)
_NEUTER = re.compile(
    r" (?:Kapitel|Buch|Jahrhundert|Jahrtausend|Mal|Jahr|Quartal|Bataillon|Lied|Lebensjahr"
    r"|Semester|Regiment|Gebot)\b"
)
_FEMININE = re.compile(
    r" (?:Szene|Auflage|Klasse|Etage|Person|Seite|Strophe|Woche|Reihe|Sinfonie|Symphonie"
    r"|Armee|Division|Kompanie|Liga|Runde|Stunde|Etappe)\b"
)
_OPENER = (
    r"(?:D(?:er|ie|as|em|en|es|ann|a|ort|iese[rsnm]?)|Ein(?:e[rnms]?)?|E[rs]|Sie|Wir|Ich|Man|Wie|Was"
    r"|Wer|Wo|Warum|Im|In|Am|An|Auf|Aus|Bei|Mit|Nach|Von|Vor|Zu|Als|Und|Aber|Doch|Es|So|Nun|Jetzt"
    r"|Hier|Wenn|Weil|Da|Über|Unter)\b"
)


def _case(before: str) -> str:
    """The ending of an ordinal behind this text: `am ` -> `n`, `der ` -> `e`, else empty."""
    before = re.sub(r"(?:\d{1,3}\.,? (?:(?:und|oder|bis) )?)+\Z", "", before[-40:])  # `am 1. und `
    return "n" if _WITH_N.search(before) else "e" if _WITH_E.search(before) else ""


def _ordinal_in(before: str, after: str) -> str | None:
    """Tell the ending of `3.` between two texts, or None where the stop ends a sentence."""
    case = _case(before)
    if re.match(r" ?[a-zäöü]", after) and not re.match(r" (?:und|oder) ", after):
        return case
    if case and not re.match(r"[\"')]?(?:\s[A-Z]|$)", after):
        return case
    if not after.strip() and re.fullmatch(r"\W*", before):
        return case
    is_noun = re.match(r" (?:[A-ZÄÖÜ]|und |oder |bis )", after) and not re.match(
        " " + _OPENER, after
    )
    if not is_noun:
        return case or None
    if case:
        return case
    if _NEUTER.match(after):
        return "s"
    if _FEMININE.match(after):
        return "e"
    if _MASCULINE.match(after):
        return ""
    alone = re.fullmatch(r"\W*", before) and len(after.split()) == 1
    return "" if alone else None


def _day(number: int, before: str) -> str:
    return _ordinal(number, _case(before))


def _ruler(number: int, is_woman: bool, before: str) -> str:
    """`Ludwig XIV.` -> `der Vierzehnte`, after a preposition `dem Vierzehnten`."""
    title = r"(?:(?:König(?:in|s)?|Kaiser(?:in|s)?|Papst(?:es)?|Zar(?:in)?|Herzog|Fürst|Graf) )?\Z"
    word = _ordinal(number, "e").capitalize()
    if re.search(r"\b(?:von|mit|bei|unter|nach|zu|vor|seit|aus) " + title, before):
        return f"{'der' if is_woman else 'dem'} {word}n"
    if re.search(r"\b(?:für|gegen|durch|ohne|um) " + title, before) and not is_woman:
        return f"den {word}n"
    if re.search(r"\b(?:König|Kaiser|Papste?)s \Z|\bdes " + title, before):
        return f"des {word}n"
    return f"{'die' if is_woman else 'der'} {word}"


def _denominator(number: int, numerator: int) -> str:
    if number == 2:
        return "halb" if numerator == 1 else "halbe"
    if number == 0:
        return "Nulltel"
    stem = str(num2words(number, lang="de", to="ordinal"))
    return stem[:-1].capitalize() + "el"


GERMAN = Language(
    code="de",
    cardinal=_cardinal,
    ordinal=_ordinal,
    year=_year,
    agree={
        "m": ((r"^eins$", "ein"),),
        "n": ((r"^eins$", "ein"),),
        "f": ((r"^eins$", "eine"),),
    },
    great=r"\b[mbt]r?illi(?:on(?:en)?|arden?)\b|(?i:\b(?:M|B|Tr)illi(?:on(?:en)?|arden?)\b)",
    point="Komma",
    dot="Punkt",
    decimals="digits",
    minus="minus",
    plus="plus",
    until="bis",
    between=("zwischen", "und"),
    versus="zu",
    months=r"Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    short_months="jan,jän,jänner feb,febr mär,mrz apr mai jun jul aug sep,sept okt nov dez",
    day=_day,
    before_month=" ",
    before_year=" ",
    day_mark=r"\.",
    clock=Clock(
        hour=Noun("Uhr", "Uhr", "m"),
        join=" ",
        minute="",
        suffixes=r"\s?(?:[Uu]hr|h)\b",
        full="{hours} {minutes} {seconds}",
        minute_noun=Noun("Minute", "Minuten", "f"),
        hour_noun=Noun("Uhr", "Uhr"),
        second_noun=Noun("Sekunde", "Sekunden", "f"),
    ),
    money=currencies(
        """€,EUR,Euro=m Euro + m Cent; $=m Dollar + m Cent; US$,USD=m US-Dollar + m Cent; £,GBP=n
        Pfund + m Penny/Pence; ¥,JPY=m Yen; ₽,RUB=m Rubel + f Kopeke/Kopeken; CHF,Fr.,sFr.=m
        Franken + m Rappen; DM=f D-Mark + m Pfennig; Mk.=f Mark + m Pfennig; ₩=m Won; ₹=f
        Rupie/Rupien; ¢,ct=m Cent; zł,PLN=m Złoty; kr=f Krone/Kronen"""
    ),
    magnitudes=nouns(
        """Tsd.=n Tausend; Mio.,Mio,Mill.,Million,Millionen=f Million/Millionen; million,millionen=f
        Million/Millionen; milliarde,milliarden=f Milliarde/Milliarden;
        Mrd.,Mrd,Milliarde,Milliarden=f Milliarde/Milliarden; Bio.=f Billion/Billionen;
        Billion,Billionen=f Billion/Billionen; Billiarde,Billiarden=f Billiarde/Billiarden"""
    ),
    after_magnitude="",
    before_part=" ",
    units=nouns(
        """km=m Kilometer; m=m Meter; dm=m Dezimeter; cm=m Zentimeter; mm=m Millimeter; μm=m
        Mikrometer; nm=m Nanometer; km²,km2,qkm=m Quadratkilometer; m²,m2,qm=m Quadratmeter;
        cm²,cm2=m Quadratzentimeter; mm²,mm2=m Quadratmillimeter; m³,m3,cbm=m Kubikmeter;
        cm³,cm3,ccm=m Kubikzentimeter; ha=m Hektar; t=f Tonne/Tonnen; kg=n Kilogramm; g=n Gramm;
        mg=n Milligramm; μg=n Mikrogramm; Pfd.=n Pfund; Ztr.=m Zentner; l,L=m Liter; hl=m
        Hektoliter; cl=m Zentiliter; ml=m Milliliter; h,Std.=f Stunde/Stunden; min,Min.=f
        Minute/Minuten; s,sec,Sek.,sek=f Sekunde/Sekunden; ms=f Millisekunde/Millisekunden; W=n
        Watt; kW,kw=n Kilowatt; MW=n Megawatt; GW=n Gigawatt; Wh=f Wattstunde/Wattstunden;
        kWh,kwh=f Kilowattstunde/Kilowattstunden; V=n Volt; kV=n Kilovolt; mV,mv=n Millivolt; A=n
        Ampere; mA=n Milliampere; Hz=n Hertz; kHz=n Kilohertz; MHz=n Megahertz; GHz=n Gigahertz;
        kB,KB=n Kilobyte; MB=n Megabyte; GB=n Gigabyte; TB=n Terabyte; kbit=n Kilobit; Mbit=n
        Megabit; J=n Joule; kJ=n Kilojoule; kcal=f Kilokalorie/Kilokalorien; PS=n PS; dB=n
        Dezibel; hPa=n Hektopascal; Pa=n Pascal; bar=n Bar; N=n Newton; ft=m Fuß; mph=f Meile pro
        Stunde/Meilen pro Stunde; °C,° C=n Grad Celsius; °F,° F=n Grad Fahrenheit; °=n Grad; K=n
        Kelvin; %=n Prozent; ‰=n Promille; Ω=n Ohm; Jh.,Jhdt.=n Jahrhundert/Jahrhunderte"""
    ),
    per="pro",
    per_hour="pro Stunde",
    denominator=_denominator,
    mixed=" ",
    over="durch",
    half="{words}einhalb",
    half_of={"f": "eine halbe", "m": "ein halbes"},
    of_fraction=" ",
    ordinal_marks={
        rf"s?te{ending}\b(?!\w)": form
        for ending, form in {"r": "", "n": "n", "s": "s", "m": "m", "": "e"}.items()
    },
    ordinal_in=_ordinal_in,
    ruler=_ruler,
    rulers="Ludwig Friedrich Wilhelm Karl Heinrich Otto Konrad Leopold Joseph Josef Franz"
    " Maximilian Ferdinand Rudolf Philipp Georg Eduard Jakob Richard Peter Alexander Nikolaus Iwan"
    " Paul Pius Johannes Benedikt Gregor Innozenz Urban Leo Klemens Clemens Bonifatius Sixtus"
    " Julius Napoleon Gustav Christian Erich Olaf Harald August Albert Albrecht Ernst Ramses"
    " Ptolemaios Xerxes Darius Lothar Sigismund Charles Louis Umberto Alfons Johann",
    women="Elisabeth Katharina Margarethe Margrethe Maria Anna Christina Kleopatra Isabella"
    " Johanna",
    numbered="Kapitel|Kap\\.|Band|Bd\\.|Teil|Akt|Szene|Buch|Seite|S\\.|Abschnitt|Artikel|Art\\."
    "|Gesang|Strophe|Tafel|Abteilung|Abt\\.|Weltkrieg|Brief|Nummer|Nr\\.|Heft|Stufe|Klasse|Typ",
    numbered_after="Jahrhunderts?|Jh\\.|Jahrtausends?|Kapitels?|Akte?s?|Szene|Buche?s?|Teile?s?"
    "|Bande?s?|Abschnitte?s?|Gesange?s?|Armee|Korps|Weltkrieges?|Internationale|Reiche?s?",
    numbered_after_f=r"(?!)",
    century_word=r"(?!)",
    century=_cardinal,
    lone=_cardinal,
    titles=words(
        """Dr=Doktor; Prof=Professor; Hr=Herr; Hrn=Herrn; Fr=Frau; Frl=Fräulein; St=Sankt;
        Sr=Seiner; Dipl.-Ing=Diplomingenieur; Ing=Ingenieur; Mag=Magister; Gebr=Gebrüder;
        Hptm=Hauptmann; Lt=Leutnant; Mr=Mister; Mrs=Missis; Ms=Miss; Mme=Madame;
        Mlle=Mademoiselle; Hl=Heiliger; hl=heilige"""
    ),
    before_number=words(
        """Nr=Nummer; op,Op=Opus; No=Nummer; S=Seite; Bd=Band; Bde=Bände; Kap=Kapitel;
        Abb=Abbildung; Tab=Tabelle; Art=Artikel; Abs=Absatz; Tel=Telefon; Aufl=Auflage;
        Anm=Anmerkung; Z=Zeile; Str=Straße; Jg=Jahrgang; ca=zirka; Ca=Zirka; geb=geboren;
        gest=gestorben; Ziff=Ziffer; H=Heft"""
    ),
    inner=words(
        """Vgl=Vergleiche; lt=laut; Lfd=Laufende; Tel=Telefon; z.B=zum Beispiel; d.h=das heißt;
        d.i=das ist; u.a=unter anderem; u.U=unter Umständen; z.T=zum Teil; z.Z=zur Zeit; z.Zt=zur
        Zeit; s.o=siehe oben; s.u=siehe unten; i.d.R=in der Regel; i.A=im Auftrag; o.g=oben
        genannt; bzw=beziehungsweise; vgl=vergleiche; sog=sogenannt; ca=zirka; evtl=eventuell;
        ggf=gegebenenfalls; bes=besonders; inkl=inklusive; exkl=exklusive; max=maximal;
        min=minimal; insb=insbesondere; m.E=meines Erachtens; a.a.O=am angegebenen Ort;
        hrsg=herausgegeben; Hrsg=Herausgeber; dgl=dergleichen; jd=jemand; etw=etwas; gem=gemäß;
        bspw=beispielsweise; beisp=beispielsweise; entspr=entsprechend; usf=und so fort;
        a.D=außer Dienst; a.M=am Main; a.d=an der; v.a=vor allem; d.J=des Jahres; d.M=des Monats;
        i.e=das heißt; e.g=zum Beispiel; o.ä=oder ähnliches"""
    ),
    final=words(
        """usw=und so weiter; etc=et cetera; u.s.w=und so weiter; u.s.f=und so fort; v.Chr=vor
        Christus; n.Chr=nach Christus; u.dgl=und dergleichen; Jh=Jahrhundert; Jhdt=Jahrhundert;
        Mio=Millionen; Mrd=Milliarden; Tsd=Tausend; Std=Stunden; ff=folgende; Str=Straße"""
    ),
    symbols={
        "&": "und", "+": "plus", "=": "gleich", "@": "at", "%": "Prozent", "‰": "Promille",
        "§": "Paragraph", "§§": "Paragraphen", "°": "Grad", "€": "Euro", "$": "Dollar",
        "£": "Pfund", "¥": "Yen", "₽": "Rubel", "₩": "Won", "₹": "Rupien", "¢": "Cent",
        "©": "Copyright", "#": "Nummer", "×": "mal", "÷": "geteilt durch", "±": "plus minus",
        "<": "kleiner als", ">": "größer als", "≤": "kleiner oder gleich",
        "≥": "größer oder gleich", "≠": "ungleich", "≈": "ungefähr", "√": "Wurzel aus",
        "∞": "unendlich", "²": "hoch zwei", "³": "hoch drei", "^": "hoch", "*": "mal", "→": "zu",
    },
    address_marks={
        ".": "Punkt", "/": "Slash", "-": "Bindestrich", "_": "Unterstrich", "@": "at",
        ":": "Doppelpunkt", "?": "Fragezeichen", "=": "Gleichheitszeichen", "&": "und",
        "#": "Raute", "%": "Prozent", "+": "plus", "~": "Tilde", "|": "senkrechter Strich",
    },
    read_domains="com org net edu",
    extension="Durchwahl",
    code_as_number=True,
    feminine=r"[A-ZÄÖÜ][\wäöüß-]*(?:ung|heit|keit|schaft|tät|ion|ei|ie|in)|Stunde|Minute|Sekunde"
    r"|Woche|Seite|Frau|Person|Million|Milliarde|Mark|Meile|Nacht|Hand|Stadt|Tasse|Flasche|Zeile"
    r"|Unze|Tonne|Kugel",
    no_noun=r"[^A-ZÄÖÜ].*|Uhr",
    endings=((r"(?<=[a-zäöüß])str\.", "straße"), (r"(?<=\d\. )(?:Jhdt|Jh|Jhd)\.", "Jahrhundert")),
    opener=_OPENER,
    glued=r"-?(?=[a-zäöüß]{2})",
)  # fmt: skip
