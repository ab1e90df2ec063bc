"""Words that a full stop belongs to, and words that often begin a sentence.

English, German, French, Spanish and Italian together: a text does not say its language,
and a mail in one has names and addresses of another. A word of one that ends sentences
in another is taken as written (`AS_WRITTEN`), or only before a number (`NUMBERED`).
"""

from __future__ import annotations

__all__ = [
    "AS_WRITTEN",
    "ENDING",
    "INNER",
    "MONTHS",
    "NUMBERED",
    "ORDINAL",
    "SECOND",
    "STARTERS",
]

#: Before a name or a number: a sentence does not end here.
INNER = frozenset(
    "mr mrs ms messrs mme mmes mlle mlles dr drs dra prof gen sen sens rep reps gov "
    "govs lt col sgt capt cmdr cpl adm maj brig hon rev pres supt insp det atty ald "
    "st ste mt ft vs cf viz approx fig figs eq eqs vol vols pp eds resp incl sra srta "
    "bzw ggf evtl vgl abb bd hrsg nr nrn tel núm pág ed cie dipl mag rer jur theol "
    "habil frhr gebr geb mgr boul dña excmo excma ilmo ilma sto sta hnos avda gral "
    "cnel rvdo dott avv geom egr spett sigg à-d".split()
)
#: At the end of a sentence, too.
ENDING = frozenset(
    "inc corp co cos ltd bros llc plc assn dept univ mfg intl natl jr sr esq etc al "
    "jan feb apr jun jul aug sept oct nov dec okt dez mär mrz tues thurs ave blvd rd "
    "hwy bldg apt est ph.d ca oz tbsp tbs tsp lb lbs qt qts pt gal fl pkg pkgs lg sm "
    "doz hr hrs mins med env usw str mio mrd mwst ust inkl exkl einschl ausschl zzgl "
    "abzgl bspw bzgl sog dgl rspr bgbl abl gez betr insb insbes lfd ff mult ehem "
    "stellv allg av apr ecc ud uds vd vds".split()
)
#: As `ENDING`, so written only: they are words, too.
AS_WRITTEN = frozenset(
    "Ala Ariz Ark Calif Colo Conn Del Fla Ga Ill Ind Kan Ky La Md Mass Mich Minn Mo "
    "Mont Neb Nev Okla Ore Pa Penn Tenn Tex Va Vt Wash Wis Wyo Ont Que Mar Mon Wed "
    "Fri Di Mi Sa Hr Hrn Fr Frl Fam Fa Ing Inh Abt Sig Gent Lic Mons MM EE UU max min "
    "Min phil nat Tsd Std Stdn Sek Jh Jhd Jhdt Hbf Bhf Urt Beschl".split()
)
#: Before a number or a paragraph sign only.
NUMBERED = frozenset(
    "no nos art artt sec ch p par abs uabs rn rdnr rz tz ziff kap anl anm tab taf "
    "buchst lit hs halbs alt var zi kto az bl gem mind chap cap capp pag pagg págs "
    "apdo tfno".split()
)
#: After a small letter: n. Chr., z. Zt., p. ex., p. ej., p. es.
SECOND = frozenset("chr. zt. ex. ej. es.".split())
#: German words before an ordinal: "am 3.", "der 1.".
ORDINAL = frozenset(
    f"{word}{end}"
    for word, ends in (
        ("d", "er ie as em en es"),
        ("dies jed", "e er es em en"),
        ("ein mein dein sein ihr unser eur kein", " e er es em en"),
    )
    for word in word.split()
    for end in ends.split(" ")
) | frozenset("am im vom zum zur beim ins ans bis ab seit und oder euer".split())
#: German months, which make an ordinal of the number before them.
MONTHS = frozenset(
    "Januar Jänner Februar Feber März April Mai Juni Juli August September Oktober "
    "November Dezember Jan Feb Mär Mrz Apr Jun Jul Aug Sep Sept Okt Nov Dez".split()
)
#: What shows that an abbreviation before it has ended a sentence.
STARTERS = frozenset(
    "The This That These Those There A An In On At By For From With After Before "
    "Since Until While When Where As If Although Though Because He She It They We You "
    "I His Her Its Their Our My But And Or So Yet However Moreover Meanwhile Still "
    "Also Then Thus Both Some Many Most Several All Each Every Other Another One Two "
    "Under Last Among Despite During Even Only What Who Why How Not No Now Here To "
    "Mr. Mrs. Ms. Dr. Der Die Das Ein Eine Er Sie Es Wir Ich Und Aber Auch Dann "
    "Danach Daher Diese Dieser Dieses Wenn Wie Was Bitte Mit Nach Bei Für Les Une Il "
    "Elle Nous Vous Je Ce Cette Dans Mais Una Pero Ella Non".split()
)
