"""Italian."""

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
    """Long numbers are cut where a speaker could breathe: `tremila cinquecento quaranta`."""
    said = str(num2words(number, lang="it")).replace(",", "").replace("centott", "centoott")
    said = re.sub(r"(?<=ion[ei]) e |(?<=ard[oi]) e ", " ", said)
    said = re.sub(r"(mila|mille|cento)(?!mila)(?=[a-z])", r"\1 ", said)
    said = re.sub(r"\btré\b", "tre", said.replace("dicotto", "diciotto"))
    return re.sub(r"(?<=nt[ia])tre\b", "tré", said)  # `ventitre` -> `ventitré`


def _ordinal(number: int, gender: str) -> str:
    said = str(num2words(number, lang="it", to="ordinal")).removeprefix("un ")
    said = said.replace("dicott", "diciott")
    return said[:-1] + "a" if gender == "f" else said


def _denominator(number: int, numerator: int) -> str:
    if number < 2:
        return ""
    if number == 2:
        return "mezzo" if numerator == 1 else "mezzi"
    stem = _ordinal(number, "m")
    return stem if numerator == 1 else stem[:-1] + "i"


def _ruler(number: int, is_woman: bool, before: str) -> str:
    return _ordinal(number, "f" if is_woman else "m")


ITALIAN = Language(
    code="it",
    cardinal=_cardinal,
    ordinal=_ordinal,
    year=_cardinal,
    agree={"m": ((r"^uno$", "un"),), "f": ((r"^uno$", "una"),)},
    great=r"\b\w*(?:ilion[ei]|iliard[oi])\b",
    point="virgola",
    dot="punto",
    decimals="number",
    minus="meno",
    plus="più",
    until="a",
    between=("[tf]ra", "e"),
    versus="a",
    months="gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre"
    " dicembre",
    short_months="genn,gen febbr,feb mar apr magg,mag giu,giugn lug,lugl ago sett,set ott nov dic",
    day=first_day("primo", _cardinal),
    before_month=" ",
    before_year=" ",
    day_mark=r"\.?[º°]",
    clock=Clock(
        hour=Noun("", "", "f"),
        join=" e ",
        minute="minuti",
        parts={15: "un quarto", 30: "mezza"},
        suffixes=r"\s?h\b",
        marks=r"[:h]",
        before=r"(?:alle|dalle|ore|le|verso)",
        full="{hours} {minutes} e {seconds}",
        hour_noun=Noun("ora", "ore", "f"),
        minute_noun=Noun("minuto", "minuti"),
        second_noun=Noun("secondo", "secondi"),
        halves={"a": "del mattino", "n": "del pomeriggio", "p": "del pomeriggio", "e": "di sera"},
    ),
    money=currencies(
        """€,EUR,eur=m euro + m centesimo/centesimi; $=m dollaro/dollari + m centesimo/centesimi;
        US$,USD=m dollaro statunitense/dollari statunitensi + m centesimo/centesimi; £,GBP=f
        sterlina/sterline + m penny; ¥,JPY=m yen; CNY=m yuan; ₽,RUB=m rublo/rubli + m
        copeca/copechi; CHF=m franco svizzero/franchi svizzeri + m centesimo/centesimi; ₩=m won;
        ₹=f rupia/rupie; kr=f corona/corone; L.,Lit.,₤=f lira/lire; ₿,BTC=m bitcoin; ¢=m
        centesimo/centesimi; fr.=m franco/franchi"""
    ),
    magnitudes=nouns(
        """mila=m mila; milione,milioni,mln,Mio=m milione/milioni; miliardo,miliardi,mld=m
        miliardo/miliardi; bilione,bilioni=m bilione/bilioni; M=m milione/milioni"""
    ),
    after_magnitude="di",
    before_part=" ",
    units=nouns(
        """km=m chilometro/chilometri; hm=m ettometro/ettometri; m=m metro/metri; dm=m
        decimetro/decimetri; cm=m centimetro/centimetri; mm=m millimetro/millimetri; μm=m
        micrometro/micrometri; nm=m nanometro/nanometri; km²,km2=m chilometro quadrato/chilometri
        quadrati; m²,m2,mq=m metro quadrato/metri quadrati; cm²,cm2=m centimetro
        quadrato/centimetri quadrati; m³,m3,mc=m metro cubo/metri cubi; cm³,cm3=m centimetro
        cubo/centimetri cubi; ha=m ettaro/ettari; t=f tonnellata/tonnellate; q=m
        quintale/quintali; kg=m chilogrammo/chilogrammi; hg=m ettogrammo/ettogrammi; g,gr=m
        grammo/grammi; mg=m milligrammo/milligrammi; l,L=m litro/litri; dl=m decilitro/decilitri;
        cl=m centilitro/centilitri; ml=m millilitro/millilitri; hl=m ettolitro/ettolitri; h=f
        ora/ore; min=m minuto/minuti; s,sec=m secondo/secondi; ms=m millisecondo/millisecondi;
        d,gg=m giorno/giorni; W=m watt; kW=m chilowatt; MW=m megawatt; kWh=m chilowattora; V=m
        volt; kV=m chilovolt; mV=m millivolt; A=m ampere; Hz=m hertz; kHz=m chilohertz; MHz=m
        megahertz; GHz=m gigahertz; kB,KB=m kilobyte; MB=m megabyte; GB=m gigabyte; TB=m
        terabyte; J=m joule; kJ=m chilojoule; cal=f caloria/calorie; kcal=f
        chilocaloria/chilocalorie; CV=m cavallo/cavalli; dB=m decibel; hPa=m ettopascal; Pa=m
        pascal; ft=m piede/piedi; mi=m miglio/miglia; mph=m miglio all'ora/miglia all'ora; °C,°
        C,ºC,º C=m grado Celsius/gradi Celsius; °F,° F=m grado Fahrenheit/gradi Fahrenheit; °=m
        grado/gradi; K=m kelvin; %=m per cento; ‰=m per mille; Ω=m ohm"""
    ),
    per="per",
    per_hour="all'ora",
    denominator=_denominator,
    mixed=" e ",
    over="su",
    half="{words} e {half}",
    half_of={"f": "mezza", "m": "mezzo"},
    of_fraction=" di ",
    ordinal_marks={r"\.?[º°]|o\b": "m", r"\.?ª|a\b": "f"},
    ordinal_in=None,
    ruler=_ruler,
    rulers="Luigi Carlo Enrico Filippo Francesco Giovanni Roberto Napoleone Pio Benedetto Leone"
    " Gregorio Clemente Urbano Innocenzo Bonifacio Alessandro Giulio Sisto Paolo Guglielmo Giorgio"
    " Edoardo Riccardo Giacomo Federico Leopoldo Massimiliano Giuseppe Nicola Ivan Pietro Gustavo"
    " Cristiano Ramses Ramsete Tolomeo Dario Serse Ferdinando Alfonso Alberto Umberto Emanuele"
    " Amedeo Cosimo Lorenzo Ottone Rodolfo Teodosio Costantino Manfredi Eugenio Niccolò Celestino"
    " Adriano Ranieri",
    women="Elisabetta Caterina Maria Anna Cristina Margherita Cleopatra Giovanna Isabella Vittoria",
    titles_f={"S": "Santa"},
    numbered="capitolo|cap\\.|tomo|vol\\.|volume|libro|parte|atto|scena|pagina|pag\\.|p\\."
    "|articolo|art\\.|canto|sezione|anno|titolo|figura|fig\\.|allegato|tavola|tipo|grado|classe"
    "|guerra mondiale",
    numbered_after=r"secolo|sec\.|capitolo|canto|atto|libro|municipio|millennio",
    numbered_after_f=r"(?i:guerra|internazionale|dinastia|edizione|legislatura)",
    endings=((r"(?<=[IVXº] )sec\.", "secolo"),),
    century_word=r"secol[oi]|sec\.",
    century=lambda number: _ordinal(number, "m"),
    lone=_cardinal,
    titles=words(
        """Sig=Signor; sig=signor; Sig.ra,Sigra=Signora; sig.ra=signora; Sig.na=Signorina;
        sig.na=signorina; Sigg=Signori; Dott,Dr=Dottor; dott,dr=dottor; Dott.ssa=Dottoressa;
        dott.ssa=dottoressa; Prof=Professor; prof=professor; Prof.ssa=Professoressa;
        prof.ssa=professoressa; Ing=Ingegner; ing=ingegner; Avv=Avvocato; avv=avvocato;
        Arch=Architetto; arch=architetto; Geom=Geometra; Rag=Ragionier; On=Onorevole;
        on=onorevole; Cav=Cavalier; Comm=Commendator; Gen=Generale; Col=Colonnello; Cap=Capitano;
        Ten=Tenente; Mons=Monsignor; mons=monsignor; Rev=Reverendo; S=San; SS=Santi; Mr=mister;
        Mrs=missis; P.za,P.zza=Piazza; p.za,p.zza=piazza; V.le=Viale; v.le=viale; C.so=Corso;
        c.so=corso"""
    ),
    before_number=words(
        """n,N,nr,num,n°,nº,N°=numero; nn=numeri; pag,p,pg=pagina; pagg,pp=pagine; cap=capitolo;
        capp=capitoli; vol=volume; op=opera; voll=volumi; art=articolo; artt=articoli;
        fig=figura; tel=telefono; ed=edizione; t=tomo; ca=circa; tav=tavola; sec=secolo;
        int=interno"""
    ),
    inner=words(
        """Cfr=Confronta; Tel=Telefono; pag=pagina; pagg=pagine; num=numero; vol=volume;
        art=articolo; p.es,per es,ad es=per esempio; cioè=cioè; i.e=cioè; e.g=per esempio;
        cfr=confronta; ca=circa; dip=dipartimento; max=massimo; min=minimo; tel=telefono;
        c.d=cosiddetto; a.m=del mattino; p.m=del pomeriggio; fig=figurato; es=esempio; u.s=ultimo
        scorso; p.v=prossimo venturo; c.m=corrente mese; v=vedi; abbr=abbreviazione;
        spett=spettabile; egr=egregio; gent=gentile; ind=indirizzo"""
    ),
    final=words(
        """ecc,etc=eccetera; a.C=avanti Cristo; d.C=dopo Cristo; S.p.A=società per azioni; S.M=sua
        maestà; S.E=sua eccellenza; S.S=sua santità; P.S=poscritto; S.r.l=società a
        responsabilità limitata; jr=junior; f.lli=fratelli; F.lli=Fratelli"""
    ),
    symbols={
        "&": "e", "+": "più", "=": "uguale", "@": "chiocciola", "%": "per cento", "‰": "per mille",
        "§": "paragrafo", "§§": "paragrafi", "°": "gradi", "€": "euro", "$": "dollari",
        "£": "sterline", "¥": "yen", "₽": "rubli", "₩": "won", "₹": "rupie", "¢": "centesimi",
        "©": "copyright", "#": "numero", "×": "per", "÷": "diviso", "±": "più o meno",
        "<": "minore di", ">": "maggiore di", "≤": "minore o uguale a", "≥": "maggiore o uguale a",
        "≠": "diverso da", "≈": "circa", "√": "radice di", "∞": "infinito", "²": "al quadrato",
        "³": "al cubo", "^": "elevato a", "*": "per", "→": "a",
    },
    address_marks={
        ".": "punto", "/": "slash", "-": "trattino", "_": "trattino basso", "@": "chiocciola",
        ":": "due punti", "?": "punto interrogativo", "=": "uguale", "&": "e commerciale",
        "#": "cancelletto", "%": "per cento", "+": "più", "~": "tilde", "|": "barra verticale",
    },
    read_domains="com org net edu it",
    extension="interno",
    code_as_number=True,
    feminine=r"(?!(?:problema|sistema|poema|tema|programma|artista|poeta|turista"
    r"|giorno)$)[a-zàèéìòù]{2,}(?:a|zione|sione|tà|tù)|notte|volta|mano|voce|luce|croce|parte"
    r"|classe|legge|torre",
    no_noun=r"[A-ZÈÀ\W].*|di|e|o|a|in|per|che|con|è|sono|più|meno|ma|da|al|alla|del|della|su|tra"
    r"|fra|non|era|la|una|mila|virgola|punto|ogni|ha|va|fa|sta|dà|già|là|sarà|finora|ancora|allora"
    r"|senza|contro|sopra|prima|circa|e|ed|se|si|lo|gli|le|il|un",
)  # fmt: skip
