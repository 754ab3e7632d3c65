"""Portuguese, with the numbers and spellings of Brazil: `dezesseis`, `bilhão`, `quilômetro`."""

import re

from num2words import num2words

from pocket_batch.text.languages.table import (
    Clock,
    Language,
    Noun,
    currencies,
    first_day,
    nouns,
    ordinal_to_ten,
    ruler_to_ten,
    words,
)

_UNITS = "|primeiro|segundo|terceiro|quarto|quinto|sexto|sétimo|oitavo|nono".split("|")
_TENS = (
    "|décimo|vigésimo|trigésimo|quadragésimo|quinquagésimo|sexagésimo|septuagésimo|octogésimo"
    "|nonagésimo"
).split("|")
_HUNDREDS = (
    "|centésimo|ducentésimo|trecentésimo|quadringentésimo|quingentésimo|sexcentésimo"
    "|septingentésimo|octingentésimo|nongentésimo"
).split("|")
_GREAT = (
    ("", ""), ("mil", "mil"), ("milhão", "milhões"), ("bilhão", "bilhões"),
    ("trilhão", "trilhões"), ("quatrilhão", "quatrilhões"), ("quintilhão", "quintilhões"),
    ("sextilhão", "sextilhões"),
)  # fmt: skip


def _cardinal(number: int) -> str:
    """`e` stands before the last group when it is small or even hundreds: `mil e dez`."""
    if number < 1000:
        return str(num2words(number, lang="pt_BR"))
    groups = []
    place = 0
    while number:
        number, group = divmod(number, 1000)
        if group:
            one, many = _GREAT[place]
            count = "" if group == 1 and place == 1 else str(num2words(group, lang="pt_BR"))
            groups.append((group, f"{count} {one if group == 1 else many}".strip()))
        place += 1
    groups.reverse()
    last, said = groups[-1]
    joint = " e " if len(groups) > 1 and (last <= 100 or last % 100 == 0) else " "
    return joint.join(filter(None, [" ".join(name for _, name in groups[:-1]), said]))


def _ordinal(number: int, gender: str) -> str:
    if not 0 < number < 1_000_000:
        return _cardinal(number)
    thousands, rest = divmod(number, 1000)
    said = [] if not thousands else ["milésimo"]
    if thousands > 1:
        said = [_cardinal(thousands) + " milésimo"]
    said += [_HUNDREDS[rest // 100], _TENS[rest % 100 // 10], _UNITS[rest % 10]]
    name = " ".join(filter(None, said))
    return re.sub(r"o\b", "a", name) if gender == "f" else name


def _denominator(number: int, numerator: int) -> str:
    many = "s" if numerator != 1 else ""
    if number < 2:
        return ""
    if number in (2, 3):
        return {2: "meio", 3: "terço"}[number] + many
    if number <= 10 or number in (100, 1000):
        return _ordinal(number, "m") + many
    if number == 1_000_000:
        return "milionésimo" + many
    return _cardinal(number) + " avos"


PORTUGUESE = Language(
    code="pt",
    cardinal=_cardinal,
    ordinal=_ordinal,
    year=_cardinal,
    agree={
        "f": ((r"\bum$", "uma"), (r"\bdois\b", "duas"), (r"(zent|cent|hent)os\b", r"\1as")),
    },
    great=r"\b\w+ilh(?:ão|ões)\b",
    point="vírgula",
    dot="ponto",
    decimals="digits",
    minus="menos",
    plus="mais",
    until="a",
    between=("entre", "e"),
    versus="a",
    months="janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro"
    " dezembro",
    short_months="jan fev mar abr mai jun jul ago set out nov dez",
    day=first_day("primeiro", _cardinal),
    before_month=" de ",
    before_year=" de ",
    day_mark=r"\.?[ºo°]",
    clock=Clock(
        hour=Noun("hora", "horas", "f"),
        join=" e ",
        minute="",
        suffixes=r"\s?h(?:oras|s)?\b|\s?min\b",
        marks=r"[:hH]",
        before=r"(?:às|as|das|desde)",
        full="{hours} e {minutes} e {seconds}",
        hour_noun=Noun("hora", "horas", "f"),
        minute_noun=Noun("minuto", "minutos"),
        second_noun=Noun("segundo", "segundos"),
        twelve=((r" da tarde\b", 13, 19), (r" da noite\b", 18, 23)),
        halves={"a": "da manhã", "n": "da tarde", "p": "da tarde", "e": "da noite"},
    ),
    money=currencies(
        """R$,BRL=m real/reais + m centavo/centavos; €,EUR=m euro/euros + m cêntimo/cêntimos; $=m
        dólar/dólares + m centavo/centavos; US$,USD=m dólar/dólares + m centavo/centavos; £,GBP=f
        libra/libras + m penny/pence; ¥,JPY=m iene/ienes; CNY=m yuan/yuans; ₽,RUB=m rublo/rublos
        + m copeque/copeques; ₩=m won/wons; ₹=f rupia/rupias; CHF=m franco suíço/francos suíços +
        m cêntimo/cêntimos; kr=f coroa/coroas; ARS=m peso argentino/pesos argentinos; MXN=m peso
        mexicano/pesos mexicanos; CAD=m dólar canadense/dólares canadenses; ₿,BTC=m
        bitcoin/bitcoins; ¢=m centavo/centavos"""
    ),
    magnitudes=nouns(
        """mil=m mil; milhão,milhões,mi=m milhão/milhões; bilhão,bilhões,bi=m bilhão/bilhões;
        trilhão,trilhões,tri=m trilhão/trilhões; mil milhões=m mil milhões"""
    ),
    after_magnitude="de",
    before_part=" e ",
    units=nouns(
        """km=m quilômetro/quilômetros; m=m metro/metros; dm=m decímetro/decímetros; cm=m
        centímetro/centímetros; mm=m milímetro/milímetros; μm=m micrômetro/micrômetros; nm=m
        nanômetro/nanômetros; km²,km2=m quilômetro quadrado/quilômetros quadrados; m²,m2=m metro
        quadrado/metros quadrados; cm²,cm2=m centímetro quadrado/centímetros quadrados; m³,m3=m
        metro cúbico/metros cúbicos; cm³,cm3=m centímetro cúbico/centímetros cúbicos; ha=m
        hectare/hectares; t=f tonelada/toneladas; kg=m quilo/quilos; g=m grama/gramas; mg=m
        miligrama/miligramas; lb=f libra/libras; oz=f onça/onças; l,L=m litro/litros; cl=m
        centilitro/centilitros; ml,mL=m mililitro/mililitros; h,hs=f hora/horas; min=m
        minuto/minutos; s,seg=m segundo/segundos; ms=m milissegundo/milissegundos; W=m
        watt/watts; kW=m quilowatt/quilowatts; MW=m megawatt/megawatts; kWh=m
        quilowatt-hora/quilowatts-hora; V=m volt/volts; kV=m quilovolt/quilovolts; mV=m
        milivolt/milivolts; A=m ampere/amperes; Hz=m hertz; kHz=m quilohertz; MHz=m megahertz;
        GHz=m gigahertz; kB,KB=m quilobyte/quilobytes; MB=m megabyte/megabytes; GB=m
        gigabyte/gigabytes; TB=m terabyte/terabytes; J=m joule/joules; cal=f caloria/calorias;
        kcal=f quilocaloria/quilocalorias; dB=m decibel/decibéis; hPa=m hectopascal/hectopascais;
        ft=m pé/pés; mi=f milha/milhas; mph=f milha por hora/milhas por hora; kmh=m quilômetro
        por hora/quilômetros por hora; °C,° C,ºC,º C=m grau celsius/graus celsius; °F,° F,ºF=m
        grau fahrenheit/graus fahrenheit; °=m grau/graus; K=m kelvin; %=m por cento; ‰=m por mil;
        Ω=m ohm/ohms"""
    ),
    per="por",
    per_hour="por hora",
    denominator=_denominator,
    mixed=" e ",
    over="sobre",
    half="",
    half_of={"f": "meia", "m": "meio"},
    of_fraction=" de ",
    ordinal_marks={r"\.?[ºo°]": "m", r"\.?(?:ª|a\b)": "f"},
    ordinal_in=None,
    ruler=ruler_to_ten(_ordinal, _cardinal),
    rulers="João Pedro Afonso Sancho Dinis Fernando Duarte Manuel Sebastião Henrique Filipe Felipe"
    " José Miguel Luís Luiz Carlos Paulo Pio Bento Leão Gregório Clemente Urbano Inocêncio"
    " Bonifácio Alexandre Júlio Sisto Napoleão Guilherme Jorge Eduardo Ricardo Jaime Frederico"
    " Francisco Leopoldo Maximiliano Nicolau Ivan Gustavo Ramsés Ptolomeu Dario Xerxes Constantino"
    " Teodósio",
    women="Isabel Elizabeth Maria Catarina Joana Cristina Margarida Cleópatra Ana Vitória",
    titles_f={"D": "dona"},
    numbered="capítulo|cap\\.|tomo|vol\\.|volume|livro|parte|ato|cena|página|pág\\.|p\\.|artigo"
    "|art\\.|canto|seção|ano|título|figura|anexo|fase|tipo|grau|classe|guerra mundial",
    numbered_after=r"(?i:milénio|milênio|centenário|congresso)",
    numbered_after_f=r"(?i:guerra|república|internacional|dinastia|edição)",
    century_word="séculos?|séc\\.",
    century=ordinal_to_ten(_ordinal, _cardinal),
    lone=_cardinal,
    titles=words(
        """Sr=senhor; Sra,Srª,Sr.ª=senhora; Srta=senhorita; Srs=senhores; Sras=senhoras; Dr=doutor;
        Dra,Drª=doutora; D=dom; Dª,D.ª=dona; Prof=professor; Profa,Profª=professora;
        Eng,Engº=engenheiro; Gen=general; Cel=coronel; Cap=capitão; Ten=tenente; Sto=santo;
        Sta=santa; Pe,Pᵉ=padre; Fr=frei; Mons=monsenhor; Exmo=excelentíssimo;
        Exma=excelentíssima; Ilmo=ilustríssimo; Mr=míster; Av=avenida; Pça=praça"""
    ),
    before_number=words(
        """nº,n.º,n°,n,núm=número; nºs=números; pág,p,pg=página; págs,pp=páginas; cap=capítulo;
        caps=capítulos; vol=volume; op=opus; art=artigo; arts=artigos; fig=figura; tel=telefone;
        ed=edição; t=tomo; ca=cerca de; séc=século; ext,ramal=extensão"""
    ),
    inner=words(
        """Cf=Confira; Tel=Telefone; pág=página; págs=páginas; núm=número; vol=volume; fig=figura;
        art=artigo; p.ex=por exemplo; i.e=isto é; e.g=por exemplo; a.m=da manhã; p.m=da tarde;
        cf=confira; aprox=aproximadamente; máx=máximo; mín=mínimo; depto=departamento;
        obs=observação; av=avenida; r=rua; tel=telefone"""
    ),
    final=words(
        """etc=et cetera; a.C=antes de Cristo; d.C=depois de Cristo; V.Exa,V.Exª,V.Ex.ª=vossa
        excelência; S.A=sociedade anônima; Ltda=limitada; E.U.A,EUA=Estados Unidos; S.M=sua
        majestade; P.S=pós-escrito; cia=companhia; Cia=Companhia; V.S.ª,V.Sa=vossa senhoria;
        Jr=júnior"""
    ),
    symbols={
        "&": "e", "+": "mais", "=": "é igual a", "@": "arroba", "%": "por cento", "‰": "por mil",
        "§": "parágrafo", "§§": "parágrafos", "°": "graus", "€": "euros", "$": "dólares",
        "£": "libras", "¥": "ienes", "₽": "rublos", "₩": "wons", "₹": "rupias", "¢": "centavos",
        "©": "copyright", "#": "número", "×": "vezes", "÷": "dividido por", "±": "mais ou menos",
        "<": "menor que", ">": "maior que", "≤": "menor ou igual a", "≥": "maior ou igual a",
        "≠": "diferente de", "≈": "aproximadamente", "√": "raiz de", "∞": "infinito",
        "²": "ao quadrado", "³": "ao cubo", "^": "elevado a", "*": "vezes", "→": "para",
    },
    address_marks={
        ".": "ponto", "/": "barra", "-": "hífen", "_": "sublinhado", "@": "arroba",
        ":": "dois pontos", "?": "ponto de interrogação", "=": "igual", "&": "e", "#": "cerquilha",
        "%": "por cento", "+": "mais", "~": "til", "|": "barra vertical",
    },
    read_domains="com org net edu gov",
    extension="extensão",
    code_as_number=False,
    feminine=r"(?!(?:dias?|mapas?|planetas?|problemas?|sistemas?|poemas?|temas?|idiomas?"
    r"|programas?|sofás?|guardas?|artistas?|poetas?|climas?|dramas?|turistas?|gramas?|quilogramas?"
    r"|cometas?)$)[a-zçáéíóúâêôãõ]{2,}(?:as?|dades|dade|ções|ção|sões|são|gens|gem)|vezes|vez"
    r"|mulheres|mulher|noites|noite|partes|parte|classes|leis|flores|mãos|mão|naves|torres|vozes"
    r"|luzes|cruzes|tardes",
    no_noun=r"de|do|da|dos|das|e|ou|a|ao|à|às|em|no|na|nos|nas|por|que|com|é|são|para|se|mais"
    r"|menos|vírgula|ponto|nem|mas|sem|mil|como|entre|até|desde|foi|era|sobre|contra|cada|milhão"
    r"|milhões|[A-ZÁÉÍÓÚÂÊÔÃÕÇ\W].*|as|o|os|uma|já|não|quando|onde|porque|lhe|há|está|graus|arroba"
    r"|sua|suas|avo|avos|pela|pelas|pelo|pelos|numa|nessa|nesta|foram|segunda|naquela",
)  # fmt: skip
