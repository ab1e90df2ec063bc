"""Words that a full stop belongs to, and words that often begin a sentence."""

from __future__ import annotations

__all__ = ["ENDING", "INNER", "NUMBERED", "PLACES", "STARTERS"]

#: Before a name or a number: a sentence does not end here.
INNER = frozenset(
    "mr mrs ms messrs mme mlle dr drs prof gen sen sens rep reps gov govs lt col sgt "
    "capt cmdr cpl adm maj brig hon rev pres supt insp det atty ald st ste mt ft vs "
    "cf viz approx fig figs eq eqs vol vols pp eds resp incl sra srta dra bzw ggf evtl "
    "vgl abb bd hrsg nr tel núm pág ed v cie".split()
)
#: At the end of a sentence, too.
ENDING = frozenset(
    "inc corp co cos ltd bros llc plc assn dept univ mfg intl natl jr sr esq etc al "
    "jan feb apr jun jul aug sept oct nov dec tues thurs ave blvd rd hwy bldg apt est "
    "ph.d usw str ca".split()
)
#: As `ENDING`, in capital letters only: they are words, too.
PLACES = frozenset(
    "Ala Ariz Ark Calif Colo Conn Del Fla Ga Ill Ind Kan Ky La Md Mass Mich Minn Mo "
    "Mont Neb Nev Okla Ore Pa Penn Tenn Tex Va Vt Wash Wis Wyo Ont Que Mar Mon Wed "
    "Fri".split()
)
#: Before a number only.
NUMBERED = frozenset("no nos art sec ch p par".split())
#: What shows that an abbreviation before it has ended a sentence.
STARTERS = frozenset(
    "The This That These Those There A An In On At By For From With After Before Since "
    "Until While When Where As If Although Though Because He She It They We You I His "
    "Her Its Their Our My But And Or So Yet However Moreover Meanwhile Still Also Then "
    "Thus Both Some Many Most Several All Each Every Other Another One Two Under Last "
    "Among Despite During Even Only What Who Why How Not No Now Here To Mr. Mrs. Ms. "
    "Dr. Der Die Ein Eine Er Sie Es Und Aber Les Une Il Elle Mais Una Pero".split()
)
