"""What each language knows about full stops: abbreviations, and words that begin a sentence.

The lists are our own, of words that printed prose abbreviates. Abbreviations are in small letters
and without the last full stop.
"""

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class StopRules:
    """When a full stop after an abbreviation does not end the sentence.

    `never` stand before what they belong to (`Mr.`, `e.g.`); `numbered` do so before a number
    (`p. 55`); `soft` end a sentence only where a word of `openers` follows (`usw.`, `U.S.`).
    `never_first` are words that begin no sentence (`Ltd.`). `has_ordinal_stops` tells that a
    full stop after a number may make it an ordinal (`am 3. Mai`).
    """

    never: frozenset[str] = frozenset()
    numbered: frozenset[str] = frozenset()
    soft: frozenset[str] = frozenset()
    openers: frozenset[str] = frozenset()
    never_first: frozenset[str] = frozenset()
    has_ordinal_stops: bool = False


@cache
def stop_rules(language: str) -> StopRules | None:
    """The rules of a primary language tag; None for a language without a table here."""
    tables = _TABLES.get(language)
    if tables is None:
        return None
    return StopRules(
        never=_words(tables["never"]),
        numbered=_words(tables["numbered"]),
        soft=_words(tables["soft"]),
        openers=_words(tables["openers"]),
        never_first=_words("ltd inc corp llc plc co jr sr esq bros gmbh"),
        has_ordinal_stops=language == "de",
    )


def _words(table: str) -> frozenset[str]:
    return frozenset(table.split())


_EN = {
    "never": """
        mr mrs ms messrs mme mlle mlles dr drs prof profs rev revd capt cpt cmdr comdr cdr brig
        pfc ens sgt maj cpl pvt adm gov pres amb supt insp det msgr mgr sra srta bp abp ald atty vs
        v viz i.e e.g f.e cf ie eg ca approx esp incl""",
    "numbered": """
        no nos p pp vol vols fig figs ch chap chaps sec secs sect art arts l ll n nn par pars para
        paras pt pts app bk col cols ed eds ex lib cap c cca circa ref refs tab tel ext rs
        jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat
        sun op nr n° nº №""",
    "soft": """
        st ste mt mm ft pt rt lt col gen fr hon rep sen sr univ dept assn inst acad natl intl govt
        ala ariz calif colo conn fla kan ky md mich minn mont neb nev okla tenn tex vt wis wyo
        al""",
    "openers": """
        i he she it we you they this that these those there here the a an my your his her
        its our their who what when where why how which whose whom if as at by for from in
        into of on to with without after before since while until although though because
        once unless whether and but or nor so yet then thus now later soon still also even
        only perhaps maybe never always not no yes another each every some any many most few
        several all both none one two dozens hundreds thousands millions billions more much
        other others such did do does is are was were have has had can could will would
        shall should may might must let please first firstly secondly next hence see however
        moreover therefore meanwhile nevertheless indeed instead afterwards finally suddenly
        today yesterday tomorrow tonight during despite under over between among about above
        behind beside beyond near through upon everyone everything someone something nobody
        nothing anyone anything somebody i'm i've i'd i'll he's she's it's that's there's
        they're we're you're what's who's let's don't""",
}

_DE = {
    "never": """
        hr hrn fr frl dr prof dipl ing mag med phil jur rer nat theol hl sr st z d i vgl bzw ca
        geb gest gez sog bes insb ggf evtl inkl exkl zzgl abzgl ausschl einschl z.b d.h u.a.m
        v.a i.a i.e m.a.w z.t z.zt s gen oberst lt hptm kap vs röm kath ev allg betr bspw
        entspr max min ungef urspr verh vorm wg zw""",
    "numbered": """
        nr nrn s seite abs art abb bd bde kap tab ziff anm aufl ausg fig lit bl sp f ff jan feb
        mär mrz apr jun jul aug sep sept okt nov dez mo di mi do fr sa so p tel str""",
    "soft": """
        usw etc u.a u.ä o.ä u.dgl a b u v ä o ö ü h g r t n e k l m q w x y jh jhd jhdt str pl
        co ltd inc fa abt mio mrd tsd std min sek""",
    "openers": """
        der die das den dem des ein eine einen einem einer eines ich er sie es wir ihr du man
        mein meine dein deine sein seine unser unsere euer eure ihre dieser diese dieses diesem
        jener jene jenes jeder jede jedes alle alles viele einige manche mehrere beide kein keine
        wer was wie wo wann warum weshalb woher wohin welche welcher welches ob wenn als nachdem
        bevor während weil obwohl damit dass da dann doch aber und oder denn sondern so nun jetzt
        hier dort dann danach darauf deshalb daher darum dabei dazu trotzdem jedoch allerdings
        auch nur noch schon immer nie niemals nicht nichts niemand jemand etwas vielleicht heute
        gestern morgen plötzlich endlich schließlich später bald zuerst zuletzt in im an am auf
        aus bei beim mit nach von vom vor zu zum zur für durch gegen ohne um über unter zwischen
        seit bis trotz wegen ja nein bitte hat haben ist sind war waren wird werden kann""",
}

_FR = {
    "never": """
        m mm mme mmes mlle mlles mgr me dr pr prof st ste cf p.ex ex env av apr ch chap art fig
        vs c.-à-d c.à.d gén col cap lt sgt cdt""",
    "numbered": """
        n no nº n° nos p pp t vol tom chap ch fig art al par éd liv v vv tél
        janv févr avr juil sept oct nov déc""",
    "soft": "al j.-c jr sr bd av ltd inc cie",
    "openers": """
        le la les l un une des du de d il elle ils elles je j tu nous vous on ce c cet cette ces
        ça cela ceci mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs qui que qu
        quoi où quand comment pourquoi combien quel quelle quels quelles si comme lorsque puisque
        parce mais ou et donc or ni car puis alors ainsi aussi enfin ensuite bientôt soudain
        maintenant aujourd'hui hier demain toujours jamais encore déjà peut-être oui non pas plus
        tout toute tous toutes chaque plusieurs certains quelques beaucoup aucun personne rien
        dans en à au aux avec sans sous sur pour par chez vers entre depuis pendant avant après
        contre malgré selon voici voilà est était y n s m t""",
}

_ES = {
    "never": """
        sr sra srta sres sras d dña dn da dr dra drs dras prof profa lic licda ing arq gral cnel
        cap tte sgto mons excmo excma ilmo ilma rvdo fr sto sta mt st p.ej ej vs ud uds vd vds
        av avda cía tel depto""",
    "numbered": """
        n no nº n° nro núm núms num p pp pág págs pag pags vol vols t cap caps art arts fig figs
        ed lám ap apdo inc ene feb mar abr may jun jul ago sep sept oct nov dic lun mié jue vie
        sáb dom tel""",
    "soft": "ee.uu ee uu ff.aa ff aa cc oo s.a s.l a.c d.c a.m p.m m c l ltd inc jr cía",
    "openers": """
        el la los las lo un una unos unas él ella ellos ellas yo tú usted ustedes nosotros
        vosotros este esta esto estos estas ese esa eso esos esas aquel aquella aquello mi mis tu
        tus su sus nuestro nuestra que qué quien quién quiénes cual cuál cómo como cuando cuándo
        donde dónde cuánto cuántos cuánta por porque para pero y e o u ni sino si sí no también
        tampoco así entonces luego después antes ahora hoy ayer mañana siempre nunca jamás ya aún
        todavía quizá quizás tal acaso en de del a al con sin sobre bajo entre desde hasta hacia
        según durante tras contra todo toda todos todas cada muchos muchas algunos algunas varios
        nada nadie algo alguien es era fue son hay había ha se me te le les nos""",
}

_IT = {
    "never": """
        sig sigg sig.ra sig.na dott dott.ssa dr prof prof.ssa avv ing arch rag geom on gen col
        cap ten serg mons don s ss p.es es ad cfr v vs egr gent.ma gent spett""",
    "numbered": """
        n nn no nº n° num p pp pag pagg vol voll cap capp art artt fig figg t tav ed sec sez par
        gen feb mar apr mag giu lug ago set sett ott nov dic lun mer gio ven sab dom tel""",
    "soft": "a.c d.c s.p.a s.r.l spa srl ltd inc jr c",
    "openers": """
        il lo la i gli le l un uno una egli ella lui lei esso essa essi loro io tu noi voi questo
        questa questi queste quello quella quelli quelle quel mio mia tuo tua suo sua nostro
        vostro che chi cosa quale quali come quando dove perché quanto se ma e ed o oppure né non
        anche neppure così allora poi dopo prima ora adesso oggi ieri domani sempre mai già ancora
        forse infatti dunque quindi però intanto infine in nel nella nello nei nelle di del della
        dei delle a al alla ai alle da dal dalla dai con senza su sul sulla per tra fra sotto
        sopra verso durante contro tutto tutti tutta ogni molti molte alcuni alcune nessuno
        niente qualcuno qualcosa è era fu sono c'è c'era ci si mi ti vi ne sì no""",
}

_NL = {
    "never": """
        dhr hr mevr mw mej dr drs ir ing mr prof ds past jhr st bijv bv d.w.z o.a m.b.t i.p.v
        t.a.v cf vgl vs gen kol kap lt sgt ca zgn resp incl excl max min i.v.m t.o.v""",
    "numbered": """
        nr nrs no blz p pp pag vol fig art afb hfst h dl deel jan feb mrt apr jun jul aug sep sept
        okt nov dec tel""",
    "soft": "e.d e.a n.v b.v v.chr n.chr a.u.b s.v.p ltd inc",
    "openers": """
        de het een hij zij ze ik jij je u wij we jullie men dit dat deze die er hier daar mijn
        jouw zijn haar ons onze hun wie wat waar wanneer waarom hoe welk welke als toen nadat
        voordat terwijl omdat hoewel of en maar want dus dan nu ook nog al altijd nooit niet geen
        misschien vandaag gisteren morgen plotseling eindelijk later daarna daarom toch echter in
        op aan bij met zonder van voor na naar om over onder tussen door tegen tot uit sinds
        tijdens volgens alle alles iedereen niemand iets niets veel sommige elke elk ja nee is was
        waren heeft hebben kan""",
}

_PT = {
    "never": """
        sr sra srs sras srta d dr dra drs dras prof profa profª eng arq gen cel cap ten sgt exmo
        exma ilmo ilma v s sto sta st mons p.ex ex vs av pe fr""",
    "numbered": """
        n no nº n° núm num p pp pág págs pag vol vols t cap caps art arts fig figs ed
        jan fev mar abr mai jun jul ago set out nov dez tel""",
    "soft": "a.c d.c s.a ltda cia ltd inc jr",
    "openers": """
        o a os as um uma uns umas ele ela eles elas eu tu você vocês nós este esta isto estes
        estas esse essa isso esses essas aquele aquela aquilo meu minha teu tua seu sua nosso
        nossa que quem qual quais como quando onde quanto por porque porquê para mas e ou nem se
        sim não também assim então depois antes agora hoje ontem amanhã sempre nunca já ainda
        talvez logo enfim em no na nos nas de do da dos das ao à aos às com sem sobre sob entre
        desde até durante contra todo toda todos todas tudo cada muitos muitas alguns algumas
        vários nada ninguém algo alguém é era foi são há havia""",
}

_TABLES = {"en": _EN, "de": _DE, "fr": _FR, "es": _ES, "it": _IT, "nl": _NL, "pt": _PT}
