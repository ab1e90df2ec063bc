"""Words of the synthetic newswire: the lexicon behind `tagsift.data.synthetic`.

Everything here was written for tagsift. Names of people, companies and teams are made
up; whatever the sentences say about anybody is invented.

Many words stand in several lists on purpose: ``Jordan`` is a country, a first name, a
surname and part of a company's name; ``May`` a month and a surname (``may`` a verb);
``Reading`` a town (and ``reading`` a verb); ``lead`` a metal, a margin and a verb.
Words are drawn with falling frequency in the order given. ``_`` joins the words of a
name.
"""

from __future__ import annotations

__all__ = ["CLOSED", "LEXICON"]

#: Words with one part of speech, written in templates without it.
CLOSED: dict[str, str] = {
    word: pos
    for pos, words in {
        "DT": "the a an this these both some any all no another each",
        "IN": "of in on at for with by from into under over against during between "
        "because if while although whether amid despite until through among",
        "CC": "and or but",
        "PRP": "it they he she we",
        "PRP$": "its their his our",
        "MD": "would could will may might must should can",
        "TO": "to",
        "WP": "who what",
        "VBD": "was were had did said",
        "VBZ": "is has does says",
        "VBP": "are have do say",
        "VB": "be",
        "VBN": "been",
        "RB": "not also now still never nearly sharply slightly further again soon "
        "already only even too later",
        ".": ".",
        ",": ",",
        ":": "-- ;",
        "``": "``",
        "''": "''",
        "POS": "'s",
        "CD": "million billion two three four five six ten",
        "$": "$",
        "NN": "% cent",
    }.items()
    for word in words.split()
}

#: Name of a list -> part of speech and words.
LEXICON: dict[str, tuple[str, str]] = {
    # --- people -----------------------------------------------------------------------
    "first": (
        "NNP",
        "Carol Mark Jordan Bill David Austin Rose April Grant Will Florence Peter "
        "Paris Laura Chad Georgia Simon Victoria Frank Helen Sydney Robert Maria Drew "
        "James Elena Thomas Madison Nina Victor Dean Martin Ruth Chase Daniel Irene "
        "Paul Clara Jack Henry Alice Faith Hope Owen Leila Hugo Ingrid Yusuf Pilar "
        "Amir Greta Tomas Naomi Felix Oscar Judith Rashid Sofia Anton Wanda Milan "
        "Dora Elias Hanna",
    ),
    "last": (
        "NNP",
        "May Washington Jordan Price Lincoln Kent Young Banks Mercer Hale Long Grant "
        "Houston Marsh Rivers Jackson Fields Brooks Stone Cook Baker Carter Miller "
        "Porter Knight Bishop West Day Noble Sharp Frost Rice Page Reed Bell Hill "
        "Church Park Lane Thornton Ellison Okafor Tanaka Silva Moreau Lindqvist "
        "Haddad Novak Rossi Keller Petrov Mensah Duarte Whitlock Ansari Bergman "
        "Castellano Driscoll Eriksen Fontaine Gallagher Hidalgo Ivanov Jansen Kovacs "
        "Lombardi Mwangi Nakamura Ostrowski Papadakis Quinlan Romero Sandoval "
        "Tremblay Ueda Vasquez Winslow Zeller",
    ),
    "title": ("NNP", "Mr. Ms. President Senator Judge Governor General Minister Mayor"),
    "role": (
        "NN",
        "chairman president analyst spokesman director economist manager spokeswoman "
        "lawyer trader coach founder banker treasurer editor",
    ),
    "roles": (
        "NNS",
        "analysts traders dealers officials economists investors executives lawyers "
        "brokers managers critics rivals lenders workers farmers residents voters "
        "producers builders exporters auditors pilots diplomats soldiers doctors",
    ),
    # --- places -----------------------------------------------------------------------
    "city": (
        "NNP",
        "Washington London Paris Houston New_York Reading Lincoln Boston Tokyo Austin "
        "Chicago Denver Jackson Florence Sydney Phoenix Madison Geneva Cleveland "
        "Mobile Bath Vienna Amman Nice Orlando Victoria Oslo Madrid Cork Warsaw Lima "
        "Nairobi Osaka Lyon Bergen San_Marco Hong_Kong Porto Tunis Quito Dresden "
        "Bilbao Tampere",
    ),
    "country": (
        "NNP",
        "Jordan China Turkey France Germany Georgia Japan Chile Britain Canada Chad "
        "Mexico Brazil Poland Hungary Kenya Norway Greece South_Africa Peru India "
        "Cuba Mali Ireland New_Zealand Guinea Portugal Finland Ghana Tunisia Bolivia "
        "Nepal",
    ),
    "nationality": (
        "JJ",
        "Japanese French German Jordanian Turkish British Chinese Polish Canadian "
        "Brazilian Mexican Kenyan Chilean Norwegian Greek Hungarian Irish Peruvian "
        "Cuban Indian Georgian Finnish Portuguese Tunisian Bolivian",
    ),
    # --- organisations ----------------------------------------------------------------
    "firm": (
        "NNP",
        "Mercer Jordan Lincoln Delta Washington Hale Summit Kent Northern Phoenix "
        "Marsh Atlantic Carter Sterling Stone Pioneer Baker Pacific Cleveland Apex "
        "Victoria National Granite Harbor Beacon Meridian Falcon Orion Cascade "
        "Redwood Tidewater Halcyon Ironbridge Larkspur Norwood Quarry Silverton "
        "Trident Vanguard Westmark",
    ),
    "suffix": (
        "NNP",
        "Holding Trading Industries Bank Oil Motors Airlines Steel Energy Foods Group "
        "Partners Stores Systems Mills Insurance Press Mining Chemical Shipping Paper "
        "Foundries Textiles Instruments Laboratories Railways",
    ),
    "legal": ("NNP", "Corp. Inc. Co. Ltd."),
    "agency": (
        "NNP",
        "Treasury Congress Senate Central_Bank House Finance_Ministry Supreme_Court "
        "Parliament Labor_Department National_Union Trade_Commission "
        "Justice_Department Farmers_Party Transport_Board Red_Lion_Club "
        "Energy_Council Lincoln_University",
    ),
    "team": (
        "NNP",
        "Houston Denver Reading Boston Phoenix Chicago Cleveland Washington Lincoln "
        "Cork Bath Orlando Nice Madrid Chelmsford_United Oslo_Rovers Harbor_City "
        "Real_Porto Kent_County Lyon_Athletic",
    ),
    "event": (
        "NNP",
        "World_Cup Open Grand_Prix Olympic_Games Harbor_Cup Masters Spring_Classic",
    ),
    # --- time -------------------------------------------------------------------------
    "month": (
        "NNP",
        "May March August June October April September January July November December "
        "February",
    ),
    "weekday": ("NNP", "Monday Tuesday Friday Wednesday Thursday Sunday Saturday"),
    "period": ("NN", "year month week quarter season summer decade"),
    "ordinal": ("JJ", "first second third fourth latest"),
    # --- money and trade --------------------------------------------------------------
    "goods": (
        "NN",
        "oil steel lead gold copper gas coffee coal wheat sugar paper cotton timber "
        "zinc cement soybean silver rubber tin fish",
    ),
    "trade": (
        "NN",
        "trading banking building insurance housing shipping airline car retail "
        "mining publishing drug computer textile engineering brewing farming printing",
    ),
    "concern": (
        "NN",
        "company bank group unit concern maker firm holding venture agency subsidiary "
        "retailer producer lender",
    ),
    "figure": (
        "NN",
        "profit income revenue output demand spending lending trading trade inflation "
        "growth debt cash production investment turnover employment",
    ),
    "figures": (
        "NNS",
        "sales shares prices rates costs profits earnings orders exports stocks "
        "imports bonds wages reserves loans losses taxes deliveries holdings "
        "dividends margins rents fares premiums",
    ),
    "move": ("NN", "rise fall increase cut drop decline gain jump advance loss climb"),
    "plan": (
        "NN",
        "plan offer deal bid sale report merger order contract proposal forecast "
        "offering building project loan bill agreement purchase listing study move",
    ),
    "plans": (
        "NNS",
        "plans talks reports offers deals orders bids forecasts proposals contracts "
        "projects rules bills changes loans cuts studies hearings",
    ),
    "adj": (
        "JJ",
        "new big strong weak foreign large recent small record domestic major early "
        "high low public private local long quiet sharp rich young modest costly "
        "steady fresh central annual joint rival official giant troubled cheap "
        "sluggish idle",
    ),
    "mood": (
        "JJ",
        "heavy light strong weak quiet high low likely ready steady close free "
        "optimistic cautious sluggish willing unlikely brisk dull",
    ),
    "adverb": (
        "RB",
        "sharply slightly steadily quickly again recently further briefly quietly "
        "suddenly heavily modestly unexpectedly broadly",
    ),
    "rose": (
        "VBD",
        "rose fell increased dropped climbed declined gained jumped advanced slipped "
        "tumbled surged dipped soared eased",
    ),
    "rise": ("VB", "rise fall increase drop gain climb decline advance recover ease"),
    "rises": ("VBP", "rise fall increase drop climb gain decline"),
    "risen": ("VBN", "risen fallen increased dropped climbed gained eased"),
    "rising": ("VBG", "rising falling increasing climbing dropping gaining"),
    "modal": ("MD", "will may would could might must should"),
    "buy": ("VB", "buy sell lease close open build finance lead expand leave"),
    "bought": ("VBD", "bought sold closed leased opened built led left financed"),
    "buying": (
        "VBG",
        "buying selling closing leasing opening building leaving leading",
    ),
    "buys": ("VBP", "buy sell lease close build open lead"),
    "back": (
        "VB",
        "back review offer approve plan report delay drop study price support oppose "
        "shelve",
    ),
    "backed": (
        "VBD",
        "backed reviewed offered approved planned reported delayed dropped studied "
        "completed opposed shelved",
    ),
    "backing": (
        "VBG",
        "backing reviewing offering planning delaying dropping studying reporting "
        "pricing",
    ),
    "passed": (
        "VBN",
        "approved delayed rejected reviewed planned offered set reported dropped "
        "backed expected opposed shelved",
    ),
    "lift": ("VB", "cut raise increase lift lower hold limit double"),
    "lifted": ("VBD", "cut raised increased lifted held lowered doubled limited"),
    "thinks": (
        "VBD",
        "said reported expected believed forecast announced argued noted estimated "
        "warned insisted predicted hinted",
    ),
    # --- politics, courts, weather, sport, science ------------------------------------
    "thing": (
        "NN",
        "law vote budget tax election court case trial reform strike protest border "
        "treaty inquiry ruling campaign security appeal charge amendment mandate "
        "embargo ceasefire petition",
    ),
    "people": (
        "NNS",
        "people troops students families refugees teachers members police lawmakers "
        "drivers miners villagers nurses passengers tourists fishermen volunteers",
    ),
    "weather": (
        "NN",
        "storm flood snow rain wind fire drought earthquake heat fog frost landslide",
    ),
    "site": (
        "NN",
        "river coast harbor airport bridge factory mill mine border capital village "
        "hospital port valley plant market park stadium warehouse refinery lighthouse",
    ),
    "works": ("NN", "plant mill mine refinery warehouse hospital brewery smelter"),
    "damage": (
        "VBD",
        "hit closed damaged struck cut reached crossed flooded destroyed covered "
        "delayed threatened isolated",
    ),
    "beat": ("VBD", "beat led held met defeated routed edged"),
    "game": (
        "NN",
        "game match race lead season title record goal final draw trophy playoff",
    ),
    "player": (
        "NN",
        "captain striker goalkeeper champion runner keeper coach pitcher veteran "
        "winger",
    ),
    "research": (
        "NN",
        "drug test vaccine engine satellite reactor laser sensor telescope enzyme "
        "protein",
    ),
}
