"""Words of English writing and how they are said: data for the rules of `text`."""

# Always before a name, so the stop never ends a sentence.
TITLES = {
    "Mr": "Mister",
    "Mrs": "Missus",
    "Messrs": "Messieurs",
    "Mme": "Madame",
    "Mlle": "Mademoiselle",
    "Prof": "Professor",
    "Rev": "Reverend",
    "Revd": "Reverend",
    "Capt": "Captain",
    "Cpt": "Captain",
    "Col": "Colonel",
    "Gen": "General",
    "Lt": "Lieutenant",
    "Lieut": "Lieutenant",
    "Sgt": "Sergeant",
    "Sergt": "Sergeant",
    "Cpl": "Corporal",
    "Maj": "Major",
    "Cmdr": "Commander",
    "Adm": "Admiral",
    "Gov": "Governor",
    "Sen": "Senator",
    "Rep": "Representative",
    "Hon": "Honourable",
    "Supt": "Superintendent",
    "Insp": "Inspector",
    "Mt": "Mount",
    "Ft": "Fort",
    "Ms": "Ms",
    "Mx": "Mx",
    "Fr": "Father",
    "Pvt": "Private",
    "Brig": "Brigadier",
    "Msgr": "Monsignor",
    "Pres": "President",
    "Amb": "Ambassador",
    "Atty": "Attorney",
    "Wm": "William",
    "Chas": "Charles",
    "Thos": "Thomas",
    "Geo": "George",
    "Jas": "James",
    "Robt": "Robert",
}
# Without a stop in British writing: `Mr Darcy`.
BARE_TITLES = ("Mr", "Mrs", "Messrs", "Mme", "Mlle", "Prof", "Revd", "Capt", "Sgt")
# Without a stop only where a name follows: `Lt Dan`, `Mt Fuji`.
BARE_BEFORE_NAMES = ("Lt", "Col", "Cpl", "Maj", "Brig", "Mt", "Ft")

# In the middle of a sentence: the stop goes.
INNER = {
    "e.g": "for example",
    "i.e": "that is",
    "viz": "namely",
    "vs": "versus",
    "v": "versus",
    "cf": "compare",
    "approx": "approximately",
    "incl": "including",
    "esp": "especially",
}

# Before a number or a Roman numeral: the stop goes.
BEFORE_NUMBER = {
    "no": "number",
    "nos": "numbers",
    "p": "page",
    "pp": "pages",
    "vol": "volume",
    "vols": "volumes",
    "ch": "chapter",
    "chap": "chapter",
    "bk": "book",
    "pt": "part",
    "fig": "figure",
    "figs": "figures",
    "sec": "section",
    "sect": "section",
    "art": "article",
    "ex": "example",
    "c": "circa",
    "ca": "circa",
    "v": "verse",
    "vv": "verses",
    "ext": "extension",
    "apt": "apartment",
    "ste": "suite",
    "rm": "room",
    "par": "paragraph",
    "para": "paragraph",
    "app": "appendix",
    "eq": "equation",
    "eqs": "equations",
    "ser": "series",
    "ll": "lines",
    "cl": "clause",
    "op": "opus",
    "fn": "footnote",
    "mk": "mark",
    "rt": "route",
    "bldg": "building",
}

# May end a sentence: the stop stays when one does.
FINAL = {
    "etc": "et cetera",
    "&c": "et cetera",
    "jr": "Junior",
    "sr": "Senior",
    "jun": "Junior",
    "sen": "Senior",
    "esq": "Esquire",
    "inc": "Incorporated",
    "co": "Company",
    "corp": "Corporation",
    "ltd": "Limited",
    "bros": "Brothers",
    "dept": "Department",
    "ave": "Avenue",
    "blvd": "Boulevard",
    "rd": "Road",
    "hwy": "Highway",
    "expy": "Expressway",
    "assn": "Association",
    "ibid": "ibidem",
    "et al": "and others",
    "jan": "January",
    "feb": "February",
    "apr": "April",
    "aug": "August",
    "sept": "September",
    "oct": "October",
    "nov": "November",
    "dec": "December",
}

# Words that begin a sentence far more often than they go on after an abbreviation.
STARTERS = frozenset(
    "A An And As At But By For From He Her His How I If In It Its My No Not Of On One Or Our She "
    "So That The Their Then There These They This Those Thus To We What When Where Which While "
    "Who Why With Yes You Your".split()
)

# Before `St.` these do not name a street.
NO_STREET_NAMES = STARTERS | frozenset(
    "Lake Fort Mont Mount Port Bay Cape Church Isle River Rue Sault Miss Missus Mister Sir Lady "
    "Lord Old Upper Near Saint Doctor Captain Mary Pierre Jean Feast Island Cathedral".split()
)

MONTHS = {
    "jan": "January",
    "feb": "February",
    "mar": "March",
    "apr": "April",
    "may": "May",
    "jun": "June",
    "jul": "July",
    "aug": "August",
    "sep": "September",
    "sept": "September",
    "oct": "October",
    "nov": "November",
    "dec": "December",
}
MONTHS |= {name.lower(): name for name in MONTHS.values()}
WEEKDAYS = {
    "Mon": "Monday", "Tue": "Tuesday", "Tues": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday",
    "Thur": "Thursday", "Thurs": "Thursday", "Fri": "Friday", "Sat": "Saturday", "Sun": "Sunday",
}  # fmt: skip
MONTH_NAMES = tuple(dict.fromkeys(MONTHS.values()))

# Before a Roman numeral that is said as a cardinal.
NUMBERED = (
    "chapter|book|part|volume|act|scene|canto|section|stave|letter|appendix|article|number|psalm|"
    "lecture|phase|figure|plate|table|class|type|grade|lesson|stage|level|episode|season|war|"
    "bowl|apollo|gemini|mark|route|title|tome|verse|page|pages|note|exercise|problem|case|series"
)
# Before a Roman numeral that is said as an ordinal: `Louis XIV`.
RULERS = (
    "Adrian|Albert|Alexander|Alfonso|Amenhotep|Antiochus|Artaxerxes|Baldwin|Basil|Benedict|"
    "Boniface|Carl|Carol|Catherine|Charles|Christian|Clement|Constantine|Cyrus|Darius|Edward|"
    "Elizabeth|Emmanuel|Emanuel|Eugene|Ferdinand|Francis|Frederick|Friedrich|George|Gregory|"
    "Gustav|Gustavus|Haakon|Harald|Henri|Henry|Innocent|Isabella|Ivan|James|John|Joseph|Julius|"
    "Karl|Leo|Leopold|Louis|Malcolm|Mary|Maximilian|Mehmed|Michael|Murad|Napoleon|Nicholas|Olaf|"
    "Otto|Paul|Pedro|Peter|Philip|Pius|Ptolemy|Ramses|Ramesses|Richard|Robert|Rudolf|Selim|"
    "Sixtus|Stephen|Suleiman|Sylvester|Theodosius|Thutmose|Umberto|Urban|Victor|Wilhelm|William|"
    "Xerxes"
)
# Before `Charles I`, these tell a ruler from a speaker.
RANKS = (
    "King|Queen|Emperor|Empress|Pope|Tsar|Czar|Kaiser|Prince|Sultan|Duke|under|of|by|Saint|"
    "against|between|and|after|before|since"
)

# Said letter by letter or as a name, even in a line of capitals.
ACRONYMS = frozenset(
    "NASA NATO USA USSR UK EU UN UNESCO UNICEF BBC CNN NBC CBS ABC FBI CIA KGB NSA MI5 MI6 NYPD "
    "LAPD TV PM AD BC BCE CE DNA RNA AIDS HIV GPS IBM IQ NYC DC RAF HMS USS SS VIP CEO PhD "
    "MP MPS POW SOS UFO URL HTML JFK FDR FAA TSA EPA IRS NRA NBA NFL MLB NHL FIFA UEFA IOC IMF "
    "WTO OPEC ASEAN NAFTA EEC GDR PLO ANC NAACP ACLU AFL AAA AMA MIT UCLA FAQ API CPU GPU USB "
    "PDF ATM SUV ISBN IOU AOL HBO ESPN MTV CFO CTO EKG ICU MRI UV AC UAV IED UNHCR OAS USAF USMC "
    "RAAF GI EMT DEA ATF OSS MGM RCA NYU NSDAP SPD KKK YMCA YWCA USAID II III IV".split()
)
