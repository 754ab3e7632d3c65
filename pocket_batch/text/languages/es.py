"""Spanish."""

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

_UNITS = "|primero|segundo|tercero|cuarto|quinto|sexto|séptimo|octavo|noveno".split("|")
_TENS = (
    "|décimo|vigésimo|trigésimo|cuadragésimo|quincuagésimo|sexagésimo|septuagésimo|octogésimo"
    "|nonagésimo"
).split("|")
_HUNDREDS = (
    "|centésimo|ducentésimo|tricentésimo|cuadringentésimo|quingentésimo|sexcentésimo"
    "|septingentésimo|octingentésimo|noningentésimo"
).split("|")
_TEENS = (
    "décimo|undécimo|duodécimo|decimotercero|decimocuarto|decimoquinto|decimosexto|decimoséptimo"
    "|decimoctavo|decimonoveno"
).split("|")
_TWENTIES = (
    "vigésimo|vigesimoprimero|vigesimosegundo|vigesimotercero|vigesimocuarto|vigesimoquinto"
    "|vigesimosexto|vigesimoséptimo|vigesimoctavo|vigesimonoveno"
).split("|")
_ACCENTS = str.maketrans("áéíóú", "aeiou")


def _cardinal(number: int) -> str:
    said = str(num2words(number, lang="es"))
    said = re.sub(r"veintiuno(?= m)", "veintiún", said)  # `veintiuno mil` -> `veintiún mil`
    return re.sub(r"\buno(?= m)", "un", said)


def _ordinal(number: int, gender: str) -> str:
    """Ordinal of a gender: `m`, `f`, or `a` for the short form before a noun (`primer`)."""
    if not 0 < number < 1_000_000:
        return _cardinal(number)
    thousands, rest = divmod(number, 1000)
    said = [] if not thousands else ["milésimo"]
    if thousands > 1:
        said = [_cardinal(thousands).replace(" ", "") + "milésimo"]
    said.append(_HUNDREDS[rest // 100])
    small = rest % 100
    if small // 10 == 1:
        said.append("decimoprimero" if gender == "a" and small == 11 else _TEENS[small - 10])
    elif small // 10 == 2:
        said.append(_TWENTIES[small - 20])
    else:
        said += [_TENS[small // 10], _UNITS[small % 10]]
    name = " ".join(filter(None, said))
    if gender == "a":
        return re.sub(r"(prime|terce)ro$", r"\1r", name)
    return re.sub(r"o\b", "a", name) if gender == "f" else name


def _denominator(number: int, numerator: int) -> str:
    """`tercio`, `onceavo`, `centésimo`; empty for what is said with `sobre`."""
    many = "s" if numerator != 1 else ""
    if number < 2:
        return ""
    if number == 2:
        return "medio" + many
    if number == 3:
        return "tercio" + many
    if number <= 10:
        return _ordinal(number, "m") + many
    if number < 100:
        stem = _cardinal(number).replace(" y ", "i").translate(_ACCENTS)
        return re.sub(r"a$|(?<=un)o$", "", stem) + "avo" + many
    if number < 1000 and number % 100 == 0:
        return _HUNDREDS[number // 100] + many
    for size, name in ((1_000_000, "millonésimo"), (1000, "milésimo")):
        count, rest = divmod(number, size)
        if count and not rest and (count == 1 or count < 10 or (count % 10 == 0 and count < 1000)):
            return ("" if count == 1 else _cardinal(count).replace(" ", "")) + name + many
    return ""


SPANISH = Language(
    code="es",
    cardinal=_cardinal,
    ordinal=_ordinal,
    year=_cardinal,
    agree={
        "m": ((r"veintiuno$", "veintiún"), (r"\buno$", "un")),
        "f": ((r"uno$", "una"), (r"(cient|quinient)os\b", r"\1as")),
    },
    great=r"\b(?:[mbtc]\w*|cuatr)ill(?:ón|ones)\b",
    point="coma",
    dot="punto",
    decimals="pairs",
    minus="menos",
    plus="más",
    until="a",
    between=("entre", "y"),
    versus="a",
    months="enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre"
    " diciembre",
    short_months="ene feb mar abr may jun jul ago sep,sept,set oct nov dic",
    day=first_day("primero", _cardinal),
    before_month=" de ",
    before_year=" de ",
    day_mark=r"\.?[ºo°]|ro",
    clock=Clock(
        hour=Noun("", "", "f"),
        join=" y ",
        minute="",
        parts={15: "cuarto", 30: "media"},
        suffixes=r"\s?h(?:oras|rs?\.?)?\b",
        marks=r"[:h]",
        before=r"(?:las?|desde|hasta)",
        full="{hours} {minutes} y {seconds}",
        hour_noun=Noun("hora", "horas", "f"),
        minute_noun=Noun("minuto", "minutos"),
        second_noun=Noun("segundo", "segundos"),
        halves={"a": "de la mañana", "n": "del mediodía", "p": "de la tarde", "e": "de la noche"},
    ),
    money=currencies(
        """€,EUR=m euro/euros + m céntimo/céntimos; $=m dólar/dólares + m centavo/centavos;
        US$,USD,U$S=m dólar estadounidense/dólares estadounidenses + m centavo/centavos; £,GBP=f
        libra/libras + m penique/peniques; ¥,JPY=m yen/yenes + m centavo/centavos; CNY=m
        yuan/yuanes; ₩,KRW=m won/wones; ₽,RUB=m rublo/rublos + m kopek/kopeks; ₹,rs,INR=f
        rupia/rupias + f paisa/paisas; kr=f corona/coronas; fr=m franco/francos; CHF=m franco
        suizo/francos suizos + m céntimo/céntimos; ptas,pta,ptas.=f peseta/pesetas; NIO=m
        córdoba/córdobas; CRC,₡=m colón costarricense/colones costarricenses; TTD=m dólar de
        trinidad y tobago/dólares de trinidad y tobago; HNL=m lempira/lempiras; BOB,BOP=m peso
        boliviano/pesos bolivianos; GTQ=m quetzal/quetzales; HKD=m dólar de hong kong/dólares de
        hong kong; R$,BRL=m real/reales + m centavo/centavos; MEX$,MXN=m peso mexicano/pesos
        mexicanos + m centavo/centavos; CUP=m peso cubano/pesos cubanos; ARS=m peso
        argentino/pesos argentinos; CLP=m peso chileno/pesos chilenos; COP=m peso
        colombiano/pesos colombianos; DOP=m peso dominicano/pesos dominicanos; UYU=m peso
        uruguayo/pesos uruguayos; PEN=m sol/soles; S/=m sol/soles; PAB=m balboa/balboas; PYG,₲=m
        guaraní/guaraníes; SVC=m colón salvadoreño/colones salvadoreños; VES,VEF=m
        bolívar/bolívares; CAD=m dólar canadiense/dólares canadienses; AUD=m dólar
        australiano/dólares australianos; SEK=f corona sueca/coronas suecas; NOK=f corona
        noruega/coronas noruegas; DKK=f corona danesa/coronas danesas; ₿,BTC=m bitcoin/bitcoines;
        ₺=f lira/liras; ¢=m centavo/centavos"""
    ),
    magnitudes=nouns(
        """mil=m mil; millón,millones,mill.,M=m millón/millones; billón,billones=m billón/billones;
        trillón,trillones=m trillón/trillones; mil millones=m mil millones; millardo,millardos=m
        millardo/millardos"""
    ),
    after_magnitude="de",
    before_part=" ",
    units=nouns(
        """km=m kilómetro/kilómetros; hm=m hectómetro/hectómetros; m=m metro/metros; dm=m
        decímetro/decímetros; cm=m centímetro/centímetros; mm=m milímetro/milímetros; μm=m
        micrómetro/micrómetros; nm=m nanómetro/nanómetros; km²,km2=m kilómetro
        cuadrado/kilómetros cuadrados; m²,m2=m metro cuadrado/metros cuadrados; cm²,cm2=m
        centímetro cuadrado/centímetros cuadrados; m³,m3=m metro cúbico/metros cúbicos; cm³,cm3=m
        centímetro cúbico/centímetros cúbicos; ha=f hectárea/hectáreas; t=f tonelada/toneladas;
        kg=m kilogramo/kilogramos; g,gr=m gramo/gramos; mg=m miligramo/miligramos; lb=f
        libra/libras; oz=f onza/onzas; l,L=m litro/litros; cl=m centilitro/centilitros; ml=m
        mililitro/mililitros; hl=m hectolitro/hectolitros; gal=m galón/galones; h,hs,hrs=f
        hora/horas; min=m minuto/minutos; s,seg=m segundo/segundos; ms=m
        milisegundo/milisegundos; d=m día/días; W=m vatio/vatios; kW=m kilovatio/kilovatios; MW=m
        megavatio/megavatios; kWh=m kilovatio hora/kilovatios hora; V=m voltio/voltios; kV=m
        kilovoltio/kilovoltios; mV=m milivoltio/milivoltios; A=m amperio/amperios; Hz=m
        hercio/hercios; kHz=m kilohercio/kilohercios; MHz=m megahercio/megahercios; GHz=m
        gigahercio/gigahercios; kB,KB=m kilobyte/kilobytes; MB=m megabyte/megabytes; GB=m
        gigabyte/gigabytes; TB=m terabyte/terabytes; J=m julio/julios; kJ=m kilojulio/kilojulios;
        cal=f caloría/calorías; kcal=f kilocaloría/kilocalorías; CV=m caballo/caballos; hp=m
        caballo de fuerza/caballos de fuerza; dB=m decibelio/decibelios; hPa=m
        hectopascal/hectopascales; ft=m pie/pies; in=f pulgada/pulgadas; mi=f milla/millas; yd=f
        yarda/yardas; mph=f milla por hora/millas por hora; kph,kmh=m kilómetro por
        hora/kilómetros por hora; °C,° C,°c,ºC,º C=m grado Celsius/grados Celsius; °F,° F=m grado
        Fahrenheit/grados Fahrenheit; °K,° K,° k=m grado kelvin/grados kelvin; °=m grado/grados;
        K=m kelvin; %,por 100=m por ciento; ‰=m por mil; Ω=m ohmio/ohmios"""
    ),
    per="por",
    per_hour="por hora",
    denominator=_denominator,
    mixed=" y ",
    over="sobre",
    half="{words} y {half}",
    half_of={"f": "media", "m": "medio"},
    of_fraction=" de ",
    ordinal_marks={
        r"\.?(?:[ºo°]|[rtmvn]o\b|do\b|to\b)": "m",
        r"\.?(?:ª|[rtmvnd]?a\b)": "f",
        r"\.?(?:ᵉʳ|er\b)": "a",
    },
    ordinal_in=None,
    ruler=ruler_to_ten(_ordinal, _cardinal),
    rulers="Felipe Carlos Fernando Alfonso Sancho Enrique Juan Pedro Jaime Ramiro Luis Pablo Pío"
    " Benedicto León Gregorio Clemente Urbano Inocencio Bonifacio Alejandro Julio Sixto Napoleón"
    " Guillermo Jorge Eduardo Ricardo Jacobo Federico Francisco Leopoldo Maximiliano José Nicolás"
    " Iván Gustavo Cristián Ramsés Ptolomeo Darío Jerjes Bermudo García Ordoño Amadeo Teodosio"
    " Constantino Juliano Otón Ramón Abderramán",
    women="Isabel María Catalina Juana Cristina Margarita Cleopatra Ana Berenguela Urraca Victoria",
    numbered="capítulo|cap\\.|tomo|vol\\.|volumen|libro|parte|acto|escena|página|pág\\.|p\\."
    "|artículo|art\\.|canto|sección|año|título|lámina|figura|anexo|fase|tipo|grado|clase"
    "|guerra mundial",
    numbered_after=r"(?i:milenio|centenario|congreso)",
    numbered_after_f=r"(?i:guerra|república|internacional|dinastía|edición)",
    century_word="siglos?|s\\.",
    century=_cardinal,
    lone=ordinal_to_ten(_ordinal, _cardinal),
    titles=words(
        """Sr=señor; Sra=señora; Srta=señorita; Sres=señores; Sras=señoras; Dr=doctor; Dra=doctora;
        D=don; Dª,D.ª=doña; Dña=doña; Prof=profesor; Profa=profesora; Lic=licenciado;
        Ing=ingeniero; Arq=arquitecto; Gral=general; Cnel=coronel; Cap=capitán; Tte=teniente;
        Sto=santo; Sta=santa; Fr=fray; Mons=monseñor; Rvdo=reverendo; Excmo=excelentísimo;
        Ilmo=ilustrísimo; Mr=míster; Mrs=místers; Hno=hermano; Hna=hermana; Vda=viuda;
        Avda,Av=avenida; Pza,Pl=plaza; Esq=esquina; C/=calle"""
    ),
    before_number=words(
        """núm,nº,n.º,n°=número; núms=números; pág,p,pg=página; págs,pp=páginas; cap=capítulo;
        caps=capítulos; vol=volumen; op=opus; art=artículo; arts=artículos; fig=figura;
        tel,tfno,teléf=teléfono; ed=edición; s=siglo; t=tomo; ca=circa; aprox=aproximadamente;
        lám=lámina; apdo=apartado"""
    ),
    inner=words(
        """Cf=Confróntese; Vid=Véase; Tel=Teléfono; pág=página; págs=páginas; núm=número;
        vol=volumen; fig=figura; art=artículo; p.ej=por ejemplo; p.e=por ejemplo;
        v.gr=verbigracia; i.e=es decir; e.g=por ejemplo; q.e.p.d=que en paz descanse; a.m=de la
        mañana; p.m=de la tarde; vid=véase; cf=confróntese; aprox=aproximadamente; máx=máximo;
        mín=mínimo; dpto,depto=departamento; izq=izquierda; dcha=derecha; tel=teléfono;
        esq=esquina; avda=avenida; gral=general; admón=administración"""
    ),
    final=words(
        """etc=etcétera; EE.UU=Estados Unidos; ee.uu=estados unidos; a.C,a.de C,A.C=antes de Cristo;
        d.C,d.de C,D.C=después de Cristo; a.e.c=antes de la era común; e.c=era común; ec=era
        común; Ud,Vd,ud,vd=usted; Uds,Vds,uds,vds=ustedes; S.A=sociedad anónima; S.M=su majestad;
        SS.MM=sus majestades; cía=compañía; Cía=Compañía; pza=plaza; pdo=pasado; dto=descuento;
        FF.AA=fuerzas armadas; RR.HH=recursos humanos; P.D=posdata; V.M=vuestra merced"""
    ),
    symbols={
        "&": "y", "+": "más", "=": "es igual a", "@": "arroba", "%": "por ciento", "‰": "por mil",
        "§": "párrafo", "§§": "párrafos", "°": "grados", "€": "euros", "$": "dólares",
        "£": "libras", "¥": "yenes", "₽": "rublos", "₩": "wones", "₹": "rupias", "¢": "centavos",
        "©": "copyright", "#": "número", "×": "por", "÷": "entre", "±": "más menos",
        "<": "menor que", ">": "mayor que", "≤": "menor o igual que", "≥": "mayor o igual que",
        "≠": "distinto de", "≈": "aproximadamente", "√": "raíz de", "∞": "infinito",
        "²": "al cuadrado", "³": "al cubo", "^": "elevado a", "*": "por", "→": "a",
    },
    address_marks={
        ".": "punto", "/": "barra", "-": "guion", "_": "guion bajo", "@": "arroba",
        ":": "dos puntos", "?": "signo de interrogación", "=": "igual", "&": "y",
        "#": "almohadilla", "%": "por ciento", "+": "más", "~": "virgulilla", "|": "barra vertical",
    },
    read_domains="com",
    extension="extensión",
    code_as_number=True,
    endings=((r"\baec\b\.?", "antes de la era común"), (r"\bec\b\.?", "era común")),
    feminine=r"(?!(?:días?|mapas?|planetas?|problemas?|sistemas?|poemas?|temas?|idiomas?"
    r"|programas?|sofás?|guardias?|artistas?|poetas?|tranvías?|climas?|dramas?"
    r"|turistas?)$)[a-zñáéíóú]{2,}(?:as?|dades|dad|ciones|ción|siones|sión|tudes)|veces|vez"
    r"|mujeres|mujer|noches|noche|calles|calle|partes|parte|clases|clase|leyes|ley|flores|manos"
    r"|mano|naves|torres|voces|luces|cruces|almas",
    no_noun=r"de|del|y|o|u|e|a|al|en|por|que|con|es|son|para|se|más|menos|coma|punto|ni|pero|sin"
    r"|mil|como|entre|hasta|desde|fue|era|sobre|contra|cada|millón|millones|[A-ZÁÉÍÓÚÑ\W].*|la|las"
    r"|el|los|una|ya|no|si|cuando|donde|porque|lo|le|hay|está|grados|mide|igual|arroba|su|sus"
    r"|según|tras",
)  # fmt: skip
