"""Dutch."""

import re

from num2words import num2words

from pocket_batch.text.languages.table import Clock, Language, Noun, currencies, nouns, words


def _cardinal(number: int) -> str:
    # `honderdéén` -> `honderdeen`; alone the accent tells `één` from the article
    return re.sub(r"(?<=\w)éé|éé(?=n\w)", "ee", str(num2words(number, lang="nl")))


def _year(number: int) -> str:
    if not 1100 <= number < 2000 or number % 1000 < 100:
        return _cardinal(number)
    hundreds, rest = divmod(number, 100)
    return _cardinal(hundreds) + "honderd" + (_cardinal(rest) if rest else "").replace("éé", "ee")


def _ordinal(number: int, gender: str) -> str:
    if number == 0:
        return "nulde"
    said = re.sub(r"^een (?=milj)", "", str(num2words(number, lang="nl", to="ordinal")))
    return said.replace("éé", "ee")


def _denominator(number: int, numerator: int) -> str:
    if number < 2:
        return ""
    if number in (2, 4):
        return {2: "half" if numerator == 1 else "halve", 4: "kwart"}[number]
    return _ordinal(number, "")


def _day(number: int, before: str) -> str:
    return _cardinal(number)


def _ruler(number: int, is_woman: bool, before: str) -> str:
    return "de " + _ordinal(number, "").capitalize()


DUTCH = Language(
    code="nl",
    cardinal=_cardinal,
    ordinal=_ordinal,
    year=_year,
    agree={"m": ((r"^één$", "een"),)},
    great=r"\b\w*(?:iljoen|iljard)\b",
    point="komma",
    dot="punt",
    decimals="digits",
    minus="min",
    plus="plus",
    until="tot",
    between=("tussen", "en"),
    versus="",
    months=r"januari februari maart april mei juni juli augustus september oktober november"
    r" december",
    short_months="jan feb,febr mrt apr mei jun jul aug sep,sept okt nov dec",
    day=_day,
    before_month=" ",
    before_year=" ",
    day_mark=r"\.|e|ste|de",
    clock=Clock(
        hour=Noun("uur", "uur", "n"),
        join=" ",
        minute="",
        suffixes=r"\s?(?:uur|u\.?|h)(?!\w)",
        marks=r"[:uh]",
        full="{hours} {minutes} {seconds}",
        hour_noun=Noun("uur", "uur", "n"),
        minute_noun=Noun("minuut", "minuten"),
        second_noun=Noun("seconde", "seconden"),
        halves={"a": "'s ochtends", "n": "'s middags", "p": "'s middags", "e": "'s avonds"},
    ),
    money=currencies(
        """€,EUR=m euro + m cent; $=m dollar + m cent; US$,USD=m Amerikaanse dollar + m cent;
        £,GBP=n pond + m penny/pence; ¥,JPY=m yen; ₽,RUB=m roebel + m kopeke/kopeken; CHF=m
        Zwitserse frank + m rappen; ₩=m won; ₹=f roepie; kr=f kroon/kronen; ƒ,fl.,f.,NLG=m gulden
        + m cent; BEF,fr.=m frank; CAD=m Canadese dollar + m cent; ₿,BTC=m bitcoin; ¢,ct=m cent"""
    ),
    magnitudes=nouns(
        """duizend=n duizend; miljoen,mln.,mln=n miljoen; miljard,mld.,mld,mrd=n miljard; biljoen=n
        biljoen; mio=n miljoen"""
    ),
    after_magnitude="",
    before_part=" ",
    units=nouns(
        """km=m kilometer; hm=m hectometer; m=m meter; dm=m decimeter; cm=m centimeter; mm=m
        millimeter; μm=m micrometer; nm=m nanometer; km²,km2=m vierkante kilometer; m²,m2=m
        vierkante meter; cm²,cm2=m vierkante centimeter; m³,m3=m kubieke meter; cm³,cm3,cc=m
        kubieke centimeter; ha=m hectare; t=f ton; kg=n kilo; g,gr=n gram; mg=n milligram; l,L=m
        liter; dl=m deciliter; cl=m centiliter; ml=m milliliter; hl=m hectoliter; h=n uur; min=f
        minuut/minuten; s,sec=f seconde/seconden; ms=f milliseconde/milliseconden; W=m watt; kW=m
        kilowatt; MW=m megawatt; kWh=n kilowattuur; V=m volt; kV=m kilovolt; mV=m millivolt; A=m
        ampère; Hz=m hertz; kHz=m kilohertz; MHz=m megahertz; GHz=m gigahertz; kB,KB=m kilobyte;
        MB=m megabyte; GB=m gigabyte; TB=m terabyte; J=m joule; kJ=m kilojoule; cal=f
        calorie/calorieën; kcal=f kilocalorie/kilocalorieën; pk=f paardenkracht; dB=m decibel;
        hPa=m hectopascal; Pa=m pascal; ft=m voet; mph=f mijl per uur; °C,° C=m graad
        Celsius/graden Celsius; °F,° F=m graad Fahrenheit/graden Fahrenheit; °=m graad/graden;
        K=m kelvin; %=n procent; ‰=n promille; Ω=m ohm"""
    ),
    per="per",
    per_hour="per uur",
    denominator=_denominator,
    mixed=" en ",
    over="gedeeld door",
    half="{words} en een half",
    half_of={},
    glued=r"-?(?=[a-zë]{2})",
    of_fraction=" ",
    ordinal_marks={r"(?:e|ste|de)(?!\w)": "", r"ᵉ|ᵈᵉ|ˢᵗᵉ": ""},
    ordinal_in=None,
    ruler=_ruler,
    rulers="Willem Karel Filips Lodewijk Hendrik Frans Jan Johannes Napoleon Pius Benedictus Leo"
    " Gregorius Clemens Urbanus Innocentius Bonifatius Alexander Julius Sixtus Paulus George"
    " Eduard Richard Jacobus Frederik Leopold Maximiliaan Jozef Nicolaas Ivan Peter Gustaaf"
    " Christiaan Ramses Ptolemaeus Darius Xerxes Ferdinand Alfons Albert Boudewijn Otto Rudolf"
    " Floris Dirk Reinoud Arnold Robrecht Philips Constantijn Theodosius",
    women="Elizabeth Catharina Maria Anna Christina Margaretha Cleopatra Johanna Isabella"
    " Wilhelmina",
    numbered="hoofdstuk|hfst\\.|deel|dl\\.|boek|akte|bedrijf|scène|toneel|pagina|bladzijde|blz\\."
    "|p\\.|artikel|art\\.|zang|sectie|figuur|fig\\.|bijlage|band|wereldoorlog|type|klasse|brief"
    "|nummer|nr\\.",
    numbered_after=r"eeuw|arrondissement|dynastie|legioen",
    numbered_after_f=r"(?!)",
    endings=((r"(?<=[a-zë])str\.", "straat"),),
    century_word=r"(?!)",
    century=_cardinal,
    lone=_cardinal,
    titles=words(
        """dhr=de heer; Dhr=De heer; mevr,mw=mevrouw; Mevr,Mw=Mevrouw; mej=mejuffrouw;
        Mej=Mejuffrouw; dr=dokter; Dr=Dokter; drs=doctorandus; Drs=Doctorandus; prof=professor;
        Prof=Professor; ir=ingenieur; ing=ingenieur; mr=meester; Mr=Meester; ds=dominee;
        Ds=Dominee; St=Sint; st=sint; gebr=gebroeders; Gebr=Gebroeders; mgr=monseigneur;
        Mgr=Monseigneur; kol=kolonel; kapt=kapitein; gen=generaal; Mrs=missis; Mme=madame"""
    ),
    before_number=words(
        """nr,no,Nr,No=nummer; nrs=nummers; p,pag,blz=bladzijde; pp=bladzijden; hfst=hoofdstuk;
        dl=deel; op=opus; art=artikel; fig=figuur; tel=telefoon; ca,Ca,±=circa; afb=afbeelding;
        jg=jaargang; vs=vers; r=regel; geb=geboren; gest=gestorven"""
    ),
    inner=words(
        """Vgl=Vergelijk; Bv=Bijvoorbeeld; Tel=Telefoon; bijv,bv=bijvoorbeeld; d.w.z=dat wil zeggen;
        d.i=dat is; o.a=onder andere; m.a.w=met andere woorden; t.a.v=ten aanzien van; t.o.v=ten
        opzichte van; i.p.v=in plaats van; n.a.v=naar aanleiding van; m.b.t=met betrekking tot;
        z.g,zgn=zogenaamd; vgl=vergelijk; evt=eventueel; resp=respectievelijk; incl=inclusief;
        excl=exclusief; max=maximaal; min=minimaal; i.v.m=in verband met; o.l.v=onder leiding
        van; t/m=tot en met; ca=circa; jl=jongstleden; a.s=aanstaande; i.e=dat wil zeggen;
        e.g=bijvoorbeeld; e.v=en volgende; v.l.n.r=van links naar rechts; t.w=te weten; z.o.z=zie
        ommezijde; s.v.p=alstublieft; a.u.b=alstublieft; m.n=met name; o.m=onder meer; i.h.a=in
        het algemeen"""
    ),
    final=words(
        """enz=enzovoort; etc=et cetera; e.d=en dergelijke; v.Chr,v.C=voor Christus; n.Chr,n.C=na
        Christus; N.V=naamloze vennootschap; B.V=besloten vennootschap; Z.M=zijne majesteit;
        H.M=hare majesteit; jr=junior; sr=senior; P.S=postscriptum; str=straat"""
    ),
    symbols={
        "&": "en", "+": "plus", "=": "is gelijk aan", "@": "apenstaartje", "%": "procent",
        "‰": "promille", "§": "paragraaf", "§§": "paragrafen", "°": "graden", "€": "euro",
        "$": "dollar", "£": "pond", "¥": "yen", "₽": "roebel", "₩": "won", "₹": "roepie",
        "¢": "cent", "©": "copyright", "#": "nummer", "×": "keer", "÷": "gedeeld door",
        "±": "plus of min", "<": "kleiner dan", ">": "groter dan", "≤": "kleiner dan of gelijk aan",
        "≥": "groter dan of gelijk aan", "≠": "ongelijk aan", "≈": "ongeveer", "√": "wortel van",
        "∞": "oneindig", "²": "kwadraat", "³": "tot de derde", "^": "tot de macht", "*": "keer",
        "→": "naar",
    },
    address_marks={
        ".": "punt", "/": "slash", "-": "streepje", "_": "laag streepje", "@": "apenstaartje",
        ":": "dubbele punt", "?": "vraagteken", "=": "is gelijk aan", "&": "en", "#": "hekje",
        "%": "procent", "+": "plus", "~": "tilde", "|": "verticale streep",
    },
    read_domains="com org net edu",
    extension="toestel",
    code_as_number=True,
    feminine=r"(?!)",
    no_noun=r".*",
)  # fmt: skip
