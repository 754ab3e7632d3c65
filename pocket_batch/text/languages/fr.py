"""French."""

import re

from num2words import num2words

from pocket_batch.text.languages.table import (
    Clock,
    Language,
    Noun,
    currencies,
    first_day,
    nouns,
    words,
)


def _cardinal(number: int) -> str:
    return str(num2words(number, lang="fr"))


def _ordinal(number: int, gender: str) -> str:
    if number < 2:
        return {0: "zéroième", 1: "première" if gender == "f" else "premier"}[number]
    if number == 2 and gender in {"second", "seconde"}:
        return gender
    said = str(num2words(number, lang="fr", to="ordinal"))
    # `quatre-vingtsième`, `deux centsième`, `un millionième`
    said = re.sub(r"(vingt|cent|million|milliard)sième$", r"\1ième", said)
    return re.sub(r"^un (?=milli)", "", said)


def _denominator(number: int, numerator: int) -> str:
    many = "s" if numerator > 1 else ""
    if number < 2:
        return ""
    if number < 5:
        return {2: "demi" + many, 3: "tiers", 4: "quart" + many}[number]
    return _ordinal(number, "m") + many


def _ruler(number: int, is_woman: bool, before: str) -> str:
    return _ordinal(1, "f" if is_woman else "m") if number == 1 else _cardinal(number)


FRENCH = Language(
    code="fr",
    cardinal=_cardinal,
    ordinal=_ordinal,
    year=_cardinal,
    agree={"f": ((r"\bun$", "une"),)},
    great=r"\b\w+illi(?:on|ard)s?\b|\bmilli(?:on|ard)s?\b",
    point="virgule",
    dot="point",
    decimals="number",
    minus="moins",
    plus="plus",
    until="à",
    between=("entre", "et"),
    versus="à",
    months="janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    short_months="janv,jan févr,fév mar avr mai jun juil août sept,sep oct nov déc",
    day=first_day("premier", _cardinal),
    before_month=" ",
    before_year=" ",
    day_mark=r"ers?|ᵉʳ|e",
    clock=Clock(
        hour=Noun("heure", "heures", "f"),
        join=" ",
        minute="",
        suffixes=r"\s?h(?:eures?)?\b|\s?min\b",
        marks=r"\s?[:hH]\s?",
        full="{hours} {minutes} {seconds}",
        hour_noun=Noun("heure", "heures", "f"),
        minute_noun=Noun("minute", "minutes", "f"),
        second_noun=Noun("seconde", "secondes", "f"),
        halves={"a": "du matin", "n": "de l'après-midi", "p": "de l'après-midi", "e": "du soir"},
    ),
    money=currencies(
        """€,EUR=m euro/euros + m centime/centimes; $=m dollar/dollars + m cent/cents; US$,USD=m
        dollar américain/dollars américains + m cent/cents; $ CA,CAD=m dollar canadien/dollars
        canadiens + m cent/cents; £,GBP=f livre/livres + m penny/pence; ¥,JPY=m yen/yens; CNY=m
        yuan/yuans; ₽,RUB=m rouble/roubles + m kopeck/kopecks; CHF=m franc suisse/francs suisses
        + m centime/centimes; F,fr.,frs,fr,FF=m franc/francs + m centime/centimes; ₩=m won/wons;
        ₹=f roupie/roupies; kr=f couronne/couronnes; ₣=m franc/francs + m centime/centimes;
        FCFA,XOF=m franc CFA/francs CFA; ₿,BTC=m bitcoin/bitcoins; ¢=m cent/cents"""
    ),
    magnitudes=nouns(
        """mille=m mille; million,millions=m million/millions; milliard,milliards=m
        milliard/milliards; billion,billions=m billion/billions; k=m mille; M,Mio=m
        million/millions; Md,Mds,Mrd=m milliard/milliards"""
    ),
    after_magnitude="de",
    before_part=" ",
    units=nouns(
        """km=m kilomètre/kilomètres; hm=m hectomètre/hectomètres; m=m mètre/mètres; dm=m
        décimètre/décimètres; cm=m centimètre/centimètres; mm=m millimètre/millimètres; μm=m
        micromètre/micromètres; nm=m nanomètre/nanomètres; km²,km2=m kilomètre carré/kilomètres
        carrés; m²,m2=m mètre carré/mètres carrés; cm²,cm2=m centimètre carré/centimètres carrés;
        m³,m3=m mètre cube/mètres cubes; cm³,cm3=m centimètre cube/centimètres cubes; ha=m
        hectare/hectares; t=f tonne/tonnes; kg=m kilogramme/kilogrammes; g=m gramme/grammes; mg=m
        milligramme/milligrammes; μg=m microgramme/microgrammes; l,L=m litre/litres; dl,dL=m
        décilitre/décilitres; cl,cL=m centilitre/centilitres; ml,mL=m millilitre/millilitres;
        hl=m hectolitre/hectolitres; h=f heure/heures; min,mn=f minute/minutes; s,sec=f
        seconde/secondes; ms=f milliseconde/millisecondes; W=m watt/watts; kW=m
        kilowatt/kilowatts; MW=m mégawatt/mégawatts; kWh=m kilowattheure/kilowattheures; V=m
        volt/volts; kV=m kilovolt/kilovolts; mV=m millivolt/millivolts; A=m ampère/ampères; Hz=m
        hertz; kHz=m kilohertz; MHz=m mégahertz; GHz=m gigahertz; ko,Ko=m kilooctet/kilooctets;
        Mo,MB=m mégaoctet/mégaoctets; Go,GB=m gigaoctet/gigaoctets; To,TB=m téraoctet/téraoctets;
        J=m joule/joules; kJ=m kilojoule/kilojoules; cal=f calorie/calories; kcal=f
        kilocalorie/kilocalories; ch,CV=m cheval/chevaux; dB=m décibel/décibels; hPa=m
        hectopascal/hectopascals; Pa=m pascal/pascals; ft=m pied/pieds; mph=m mile à
        l'heure/miles à l'heure; °C,° C=m degré Celsius/degrés Celsius; °F,° F=m degré
        Fahrenheit/degrés Fahrenheit; °=m degré/degrés; K=m kelvin/kelvins; %=m pour cent; ‰=m
        pour mille; Ω=m ohm/ohms"""
    ),
    per="par",
    per_hour="à l'heure",
    denominator=_denominator,
    mixed=" et ",
    over="sur",
    half="{words} et {half}",
    half_of={"f": "une demi-", "m": "un demi-"},
    of_fraction=" de ",
    ordinal_marks={
        r"(?:ers?|ᵉʳˢ?)\b": "m",
        r"(?:[èe]?res?|ʳᵉˢ?)\b": "f",
        r"(?:i?[èeé]mes?|es?|ᵉˢ?|ᵉᵐᵉ)(?!\w)": "m",
        r"nds?\b": "second",
        r"ndes?\b": "seconde",
    },
    ordinal_in=None,
    ruler=_ruler,
    rulers=r"Louis Charles Henri Philippe François Jean Robert Philippe-Auguste Napoléon Pie"
    r" Benoît Léon Grégoire Clément Urbain Innocent Boniface Alexandre Jules Sixte Paul Jean-Paul"
    r" Guillaume Georges Édouard Edouard Richard Jacques Frédéric Léopold Maximilien Joseph"
    r" Nicolas Ivan Pierre Gustave Christian Ramsès Ptolémée Darius Xerxès Ferdinand Alphonse"
    r" Albert Baudouin Othon Rodolphe Hugues Clovis Dagobert Childéric Chilpéric Théodose"
    r" Constantin Félix Thutmosis Hassan Mohammed Rainier",
    women="Élisabeth Elisabeth Catherine Marie Anne Christine Marguerite Cléopâtre Jeanne Isabelle",
    numbered="chapitre|chap\\.|tome|t\\.|vol\\.|volume|livre|partie|acte|scène|page|p\\.|article"
    "|art\\.|chant|section|titre|figure|fig\\.|annexe|planche|guerre mondiale|type|classe|an"
    "|lettre|leçon",
    numbered_after=r"siècles?|s\.|arrondissements?|République|Empire|Reich|Internationale|dynastie"
    r"|millénaires?|congrès|armée|corps",
    numbered_after_f=r"(?!)",
    endings=((r"(?<=[\dIVX]e )s\.(?!\w)", "siècle"),),
    century_word=r"(?!)",
    century=_cardinal,
    lone=_cardinal,
    titles=words(
        """M,Mr=monsieur; Mme,Mᵐᵉ,Mᵐᵉ.=madame; Mmes=mesdames; Mlle,Mˡˡᵉ=mademoiselle;
        Mlles=mesdemoiselles; MM=messieurs; Dr,Dʳ=docteur; Pr,Pʳ=professeur; Me,Mᵉ=maître;
        Mgr=monseigneur; St=saint; Ste=sainte; Vve=veuve; Cie,Cⁱᵉ=compagnie; Mrs=mistress;
        Cdt=commandant; Col=colonel; Gal=général; Cap=capitaine; Lt=lieutenant; Sgt=sergent;
        Bd,Bvd=boulevard; Av=avenue"""
    ),
    before_number=words(
        """n°,nº,no,num,N°,Nº=numéro; n°s,nºs=numéros; p,pg=page; pp=pages; chap=chapitre;
        vol=volume; op=opus; art=article; fig=figure; tél=téléphone; t=tome; éd=édition;
        env=environ; ca=circa; coll=collection; pl=planche; ch=chapitre; al=alinéa; l=ligne"""
    ),
    inner=words(
        """Cf=Confer; Tél=Téléphone; c.-à-d,c.à.d,càd=c'est-à-dire; p.ex,par ex=par exemple;
        i.e=c'est-à-dire; e.g=par exemple; cf=confer; env=environ; max=maximum; min=minimum;
        bd,boul=boulevard; av=avenue; dép=département; ex=exemple; N.B=nota bene; s.v.p=s'il vous
        plaît; r.-v=rendez-vous; tél=téléphone; a.m=du matin; p.m=de l'après-midi; hab=habitants;
        apr=après; éd=édition; not=notamment"""
    ),
    final=words(
        """etc,&c=et cetera; av.J.-C,av.J.C,av.J-C=avant Jésus-Christ; ap.J.-C,apr.J.-C,ap.J.C=après
        Jésus-Christ; S.A=société anonyme; S.M=sa majesté; S.A.R=son altesse royale;
        P.-S,P.S=post-scriptum; R.S.V.P=répondez s'il vous plaît; Jr=junior;
        J.-C,J.C=Jésus-Christ"""
    ),
    symbols={
        "&": "et", "+": "plus", "=": "égale", "@": "arobase", "%": "pour cent", "‰": "pour mille",
        "§": "paragraphe", "§§": "paragraphes", "°": "degrés", "€": "euros", "$": "dollars",
        "£": "livres", "¥": "yens", "₽": "roubles", "₩": "wons", "₹": "roupies", "¢": "cents",
        "©": "copyright", "#": "numéro", "×": "fois", "÷": "divisé par", "±": "plus ou moins",
        "<": "inférieur à", ">": "supérieur à", "≤": "inférieur ou égal à",
        "≥": "supérieur ou égal à", "≠": "différent de", "≈": "environ", "√": "racine de",
        "∞": "infini", "²": "au carré", "³": "au cube", "^": "puissance", "*": "fois", "→": "vers",
    },
    address_marks={
        ".": "point", "/": "barre oblique", "-": "tiret", "_": "tiret bas", "@": "arobase",
        ":": "deux-points", "?": "point d'interrogation", "=": "égal", "&": "et", "#": "dièse",
        "%": "pour cent", "+": "plus", "~": "tilde", "|": "barre verticale",
    },
    read_domains="com org net edu",
    extension="poste",
    code_as_number=True,
    feminine=r"(?:heure|minute|seconde|journée|année|semaine|page|fois|personne|femme|fille|livre"
    r"|lieue|chose|main|nuit|maison|lettre|tonne|rue|voix|ligne|partie|ville|tête|table|place"
    r"|porte|pièce|chambre|mère|sœur|dame|demoiselle|bouteille|tasse|goutte|note|image|carte"
    r"|étoile|île|force)s?|[a-zéèêàâîôûç]+(?:tion|sion|té|ette|ance|ence|ure|esse|euse|trice|ée|ie"
    r"|ère|elle)s?",
    no_noun=r"[A-ZÉÈÀ\W].*|de|et|ou|à|en|par|que|avec|est|sont|pour|pas|plus|moins|dans|sur|mais"
    r"|ni",
)  # fmt: skip
