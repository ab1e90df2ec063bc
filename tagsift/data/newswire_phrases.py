"""Phrases of the synthetic newswire: one half of the grammar of the bundled corpus.

Everything here was written for tagsift; no sentence comes from a corpus. The notation:

``[NP … ]``
    a chunk;
``(ORG … )``
    a named entity;
``word/POS``
    a word, or ``word`` alone where its part of speech is in the list of closed classes;
``<name>``
    one of the alternatives of that rule, or a word of that list;
``<#name>``
    a number.

Alternatives start with ``-``. A comma, full stop or conjunction outside brackets is
outside chunks.
"""

from __future__ import annotations

__all__ = ["PHRASES"]

PHRASES = """
company:
- (ORG <firm>)
- (ORG <firm> <suffix>)
- (ORG <firm> <suffix> <legal>)
- (ORG <firm> and/CC <firm> <legal>)
- (ORG <last> <suffix>)

person:
- (PER <first> <last>)
- (PER <last>)
- <title> (PER <last>)
- (PER <first> <#initial> <last>)

the:
- the
- a
- its
- the (MISC <nationality>)
- the <adj>
- a <adj>
- this

concern.np:
- [NP the <trade> <concern>]
- [NP the (LOC <city>) <concern>]
- [NP a <adj> <goods> <concern>]
- [NP the (MISC <nationality>) <concern>]
- [NP <company>]
- [NP <company>]
- [NP <company>] , [NP the <adj> <trade> <concern>] ,
- [NP (LOC <country>)] [NP 's largest/JJS <goods> <concern>]

person.np:
- [NP <person>]
- [NP <person>]
- [NP (PER <first> <last>)] , [NP <role>] [PP of] [NP <company>] ,
- [NP (PER <first> <last>)] , [NP a <trade> <role>] [PP at] [NP <company>] ,
- [NP <company>] [NP <role> (PER <first> <last>)]
- [NP <company>] [NP 's <role>]
- [NP the (MISC <nationality>) <role>]
- [NP (MISC <nationality>) Prime/NNP Minister/NNP (PER <first> <last>)]

agency.np:
- [NP the (ORG <agency>)]
- [NP the (MISC <nationality>) government/NN]
- [NP (LOC <country>)]
- [NP (LOC <city>)]
- [NP the (ORG <agency>)] [PP in] [NP (LOC <city>)]

roles.np:
- [NP <roles>]
- [NP <adj> <roles>]
- [NP (MISC <nationality>) <roles>]
- [NP <goods> <roles>]
- [NP some <trade> <roles>]
- [NP <roles>] [PP in] [NP (LOC <country>)]
- [NP <roles> and <roles>]

figure.np:
- [NP <figure>]
- [NP <goods> <figure>]
- [NP <month> <figure>]
- [NP reported/VBN <figure>]
- [NP the <concern>] [NP 's <figure>]
- [NP (MISC <nationality>) <goods> <figure>]

figures.np:
- [NP <figures>]
- [NP <goods> <figures>]
- [NP <month> <figures>]
- [NP <trade> <figures>]
- [NP the company/NN] [NP 's <figures>]
- [NP <adj> <figures>]
- [NP <figures>] [PP of] [NP <goods>]
- [NP <goods> and <goods> <figures>]
- [NP <figures>] [PP in] [NP (LOC <country>)]
- [NP increased/VBN <goods> <figures>]
- [NP (MISC <nationality>) <goods> <figures>]

asset.np:
- [NP <the> <goods> mill/NN]
- [NP its <trade> and <goods> units/NNS]
- [NP <the> <trade> <concern>]
- [NP a <#pct> % stake/NN] [PP in] [NP <company>]
- [NP <the> holding/NN] [PP in] [NP <company>]
- [NP the (LOC <city>) <works>]
- [NP <the> building/NN] [PP in] [NP (LOC <city>)]
- [NP <company>]

plan.np:
- [NP <the> <plan>]
- [NP <the> <goods> <plan>]
- [NP the planned/VBN <plan>]
- [NP the proposed/VBN <trade> <plan>]
- [NP a <#size> <plan>]
- [NP <adj> <plans>]
- [NP the <thing> <plan>]
- [NP <the> <plan>] [PP for] [NP <adj> <figures>]
- [NP <the> offering/NN] [PP of] [NP <#big> shares/NNS]

deal.past:
- [VP <bought>] <asset.np>
- [VP <backed>] <plan.np>
- [VP <lifted>] [NP its <figures>]
- [VP <lifted>] [NP <goods> <figures>] [PP by] <percent>

deal.future:
- [VP <modal> <buy>] <asset.np>
- [VP <modal> <back>] <plan.np>
- [VP <modal> <lift>] [NP its <figures>]
- [VP <modal> not <lift>] [NP its <figures>]

deal.now:
- [VP is <buying>] <asset.np>
- [VP is <backing>] <plan.np>

deal.they:
- [VP <buys>] [NP <goods>]
- [VP <modal> <buy>] [NP <adj> <concern.pl>]
- [VP are <buying>] [NP <adj> <concern.pl>]
- [VP are <backing>] [NP <plans>]
- [VP plan/VBP] [NP <adj> <plans>]

concern.pl:
- banks/NNS
- mills/NNS
- companies/NNS
- shares/NNS
- stores/NNS

figures.change:
- <figure.np> <change>
- <figures.np> <change>
- <figures.np> <change.they>

price:
- [NP $ <#amount>] [NP a ton/NN]
- [NP <#cents> cents/NNS] [NP a pound/NN]
- [NP about/IN $ <#amount>] [NP a ton/NN]

when:
- [PP in] [NP <month>]
- [PP on] [NP <weekday>]
- [NP <weekday>]
- [NP last/JJ <period>]
- [PP in] [NP the <ordinal> quarter/NN]
- [NP <month> <#day>]
- [PP in] [NP <#year>]
- [NP a <period>] [ADVP ago/RB]
- [NP last/JJ <month>]

soon:
- [PP in] [NP <month>]
- [PP on] [NP <weekday>]
- [NP next/JJ <period>]
- [PP by] [NP year-end/NN]
- [PP before/IN] [NP <month>]
- [NP this <period>]
- [NP <month> <#day>]
- [ADVP soon]

where:
- [PP in] [NP (LOC <city>)]
- [PP in] [NP (LOC <country>)]
- [PP near/IN] [NP the <site>]
- [PP in] [NP (LOC <city>)] , [NP (LOC <country>)] ,
- [PP outside/IN] [NP (LOC <city>)]
- [PP near/IN] [NP a <site>] [PP in] [NP (LOC <city>)]
- [PP along/IN] [NP the (MISC <nationality>) border/NN]

percent:
- [NP <#pct> %]
- [NP about/IN <#pct> %]
- [NP more/JJR than/IN <#pct> %]
- [NP <#dec> %]
- [NP a record/JJ <#dec> %]

money:
- [NP $ <#amount> million]
- [NP about/IN $ <#dec> billion]
- [NP $ <#dec>] [NP a share/NN]
- [NP <#cents> cents/NNS] [NP a share/NN]
- [NP $ <#amount>] [NP a ton/NN]

change:
- [VP <rose>] <percent>
- [VP <rose>] <percent> [PP to] <money>
- [VP <rose>] [ADVP <adverb>]
- [VP <rose>] [PP to] <money> [PP from] <money>
- [VP had <risen>] [PP by] <percent>
- [VP <modal> <rise>] <percent>

change.they:
- [VP have <risen>] <percent> [PP since/IN] [NP <month>]
- [VP were <rising>] [ADVP <adverb>]
- [VP are <rising>] [ADVP again]

quote:
- , [NP <person>] [VP said] .
- , <roles.np> [VP said] .
- , [VP said] <person.np> .
- , <concern.np> [VP said] .
- <when> .
- .

close:
- .
- <when> .
- <where> .
- , [NP <role> (PER <first> <last>)] [VP said] .
- , [PP according/VBG] [PP to] [NP the report/NN] .

reason:
- [SBAR because] <figures.change>
- [SBAR after/IN] <concern.np> <deal.past>
- [PP after/IN] <plan.np>
- [PP amid] [NP <rising.adj> <figures>]
- [PP because/IN of/IN] [NP <adj> <figures>]
- [SBAR as/IN] <roles.np> [VP bought/VBD] [NP <goods>]
- [PP before/IN] [NP the <thing>]
- [SBAR before/IN] [NP <roles>] [VP closed/VBD] [NP their books/NNS]
- [SBAR while] [NP <goods> <figures>] [VP <rose>]

rising.adj:
- rising/VBG
- falling/VBG
- increased/VBN
- record/JJ
- lower/JJR
"""
