"""Sentences of the synthetic newswire: the other half of the bundled corpus's grammar.

The notation is that of `tagsift.data.newswire_phrases`; ``story`` is where a sentence
begins. Everything here was written for tagsift.
"""

from __future__ import annotations

__all__ = ["STORIES"]

STORIES = """
story:
- <money.story>
- <money.story>
- <money.story>
- <market.story>
- <market.story>
- <people.story>
- <people.story>
- <politics.story>
- <politics.story>
- <long.story>
- <sport.story>
- <weather.story>
- <science.story>

money.story:
- <concern.np> [VP said] <figures.change> <quote>
- <concern.np> [VP said] [NP it] <deal.future> <quote>
- <concern.np> <deal.now> <close>
- <concern.np> [VP plans/VBZ to <buy>] <asset.np> <close>
- <concern.np> [VP plans/VBZ] [NP <plans>] [PP on] [NP <trade> <figures>] <close>
- [NP the plans/NNS] [VP call/VBP] [PP for] [NP a <#pct> % <move>] [PP in]
  [NP <goods> <figures>] <close>
- <concern.np> [VP is holding/VBG] [NP talks/NNS] [PP with] [NP <company>]
  [PP about/IN] <plan.np> <close>
- <concern.np> [VP raised/VBD] [NP its holding/NN] [PP in] [NP <company>] [PP to]
  <percent> [PP from] <percent> <close>
- <concern.np> [VP shares/VBZ] [NP the <goods> market/NN] [PP with] [NP <company>] .
- <concern.np> [VP reports/VBZ] [NP its <figures>] <soon> .
- [NP reports/NNS] [PP of] <plan.np> [VP lifted/VBD] [NP <company> shares/NNS] <close>
- [NP (ORG <firm> <suffix>)] , [VP based/VBN] <where> , [VP makes/VBZ] [NP <goods>]
  and [VP owns/VBZ] <asset.np> .
- <concern.np> <deal.past> <reason> <close>
- <concern.np> <deal.past> and <deal.past> <close>
- <concern.np> [VP bought/VBD] [NP the <concern>] [PP from] [NP <company>] [PP for]
  <money> <close>
- [NP <company>] [NP 's offer/NN] [PP for] [NP <company>] [VP was <passed>] <when> .
- <concern.np> [VP offers/VBZ] [NP <money.tag>] [PP for] [NP each share/NN] <close>
- [NP <figure>] [PP at] [NP <company>] [VP <rose>] <percent> , but [NP <figures>]
  [VP <rose>] [PP to] <money> <close>
- <concern.np> [VP had expected/VBN] [NP <figures>] [VP to rise/VB] <soon> .
- [NP the <concern>] [VP expected/VBN to <buy>] [NP (ORG <firm>)] [VP is]
  [NP <company>] .
- <concern.np> [VP set/VBD] [PRT up/RP] [NP a trading/NN <concern>] <where> <close>
- <concern.np> [VP closed/VBD] [PRT down/RP] [NP a <goods> mill/NN] <where> <close>
- <roles.np> [VP put/VBD] [NP the <figures>] [PP of] [NP <company>] [PP at] <money> .
- [NP <company>] [NP 's earnings/NNS] [VP beat/VBD] [NP the forecasts/NNS] [PP of]
  <roles.np> <when> .

money.tag:
- $ <#dec>
- about/IN $ <#dec>

market.story:
- [NP trading/NN] [VP was] [ADJP <mood>] <where> , <roles.np> [VP said] .
- <roles.np> [VP were trading/VBG] [NP <goods>] [PP at] <price> <when> .
- [NP <goods> <figures>] <change> <where> <reason> <close>
- [NP <month> <goods> <figures>] [VP <rose>] <percent> <close>
- [NP shares/NNS] [PP of] [NP <company>] [VP closed/VBD] [PP at] [NP $ <#dec>] ,
  [ADVP up/RB] [NP <#cents> cents/NNS] .
- [NP the <goods> market/NN] [VP closed/VBD] [ADJP <mood>] [PP after/IN]
  [NP early/JJ trading/NN] .
- [PP in] [NP <weekday> trading/NN] , [NP <company> shares/NNS] <change> .
- [SBAR if] [NP <figures>] [VP <rises>] , <roles.np> <deal.they> .
- <roles.np> [VP expect/VBP] [NP <figures>] [VP to <rise>] <percent> <soon> .
- <roles.np> [VP expect/VBP] [NP a <move>] [PP in] [NP <goods> <figures>] <soon> .
- <roles.np> <deal.they> <reason> <close>
- [NP the <move>] [PP in] [NP <figures>] [VP may continue/VB] <soon> ,
  but [NP <roles>] [VP are not] [ADJP <mood>] .
- [NP <goods>] , [NP lead/NN] and [NP <goods>] [VP <rose>] [ADVP <adverb>] <when> .
- [NP lead/NN] [VP may lead/VB] [NP the metals/NNS] [ADVP higher/RBR] <soon> .
- [NP demand/NN] [PP for] [NP <goods>] [VP is] [ADJP <mood>] [SBAR because]
  [NP <roles>] <deal.they> .
- [VP buying/VBG] [NP <goods>] [VP was] [NP a <adj> move/NN] , <person.np> [VP said] .
- [NP buying/NN] [PP of] [NP <goods>] [VP was] [ADJP <mood>] , <person.np> [VP said] .
- [NP the <rising.adj> <figures>] [VP set/VBP] [NP a record/NN] <close>
- [NP <roles>] [VP set/VBD] [NP a record/JJ price/NN] [PP for] [NP <goods>] <when> .
- [NP <roles>] [VP price/VBP] [NP <goods>] [PP at] <price> <reason> .
- [NP the <goods> price/NN] [VP is set/VBN] [PP by] <roles.np> <where> .

people.story:
- <person.np> [VP <thinks>] [SBAR that/IN] <figures.change> .
- <person.np> [VP <thinks>] [SBAR that/IN] <plan.np> [VP would <lift>] [NP <figures>]
  <close>
- `` [NP we] [VP are <buying>] <asset.np> , '' [VP said] <person.np> .
- `` [NP that/DT] [VP is] [NP a <adj> <plan>] , '' [NP <person>] [VP said] <when> .
- [NP (PER <last>)] , [NP who/WP] [VP led/VBD] [NP <company>] [PP until]
  [NP <#year>] , <deal.future> .
- <person.np> [VP will join/VB] <concern.np> [PP as/IN] [NP <role>] <soon> .
- [NP <company>] [VP named/VBD] [NP (PER <first> <last>)] [NP <role>] [PP of]
  [NP its (LOC <city>) <concern>] .
- [NP (PER <first> <last>)] , [NP <#age>] , [VP was named/VBN] [NP <role>] [PP of]
  [NP this <trade> <concern>] .
- [NP (PER <first>)] [VP is reading/VBG] [NP the <plan>] <where> .
- [NP <person>] [VP met/VBD] [NP <person>] <where> <when> .
- [NP (PER <first> <last>)] and [NP (PER <first> <last>)] [VP own/VBP] <percent>
  [PP of] [NP <company>] .
- [NP <person>] [VP left/VBD] [NP (LOC <city>)] [PP for] [NP (LOC <city>)] <when> .
- [NP her/PRP$ <role>] [VP told/VBD] [NP her/PRP] [SBAR that/IN] [NP <company>]
  <deal.past> .
- [NP <person>] [VP is] [ADJP <mood>] [PP about/IN] <plan.np> , but [NP <roles>]
  [VP are not] .
- [NP the <role>] [SBAR that/IN] [NP <company>] [VP hired/VBD] <when> [VP may leave/VB]
  <close>
- <person.np> <deal.past> [PP with] [NP <adj> <roles>] [PP from] [NP (LOC <city>)] .

politics.story:
- <agency.np> [VP <thinks>] [SBAR that/IN] [NP the <thing>] [VP would <lift>]
  [NP <goods> <figures>] <soon> .
- <agency.np> [VP will vote/VB] [PP on] [NP the <thing> <plan>] <soon> .
- <agency.np> <deal.past> <close>
- [NP the <thing> vote/NN] [PP in] [NP (LOC <country>)] [VP was put/VBN] [PRT off/RP]
  <when> .
- [NP <people>] [VP march/VBP] [PP through] [NP (LOC <city>)] [NP each <month>] .
- [NP <#people> <people>] [VP marched/VBD] [PP in] [NP (LOC <city>)] <when> <close>
- [NP the (ORG <agency>)] [VP plans/VBZ] [NP <plans>] [PP on] [NP <thing>] <close>
- [NP (LOC <country>)] and [NP (LOC <country>)] [VP signed/VBD] [NP a <goods> treaty/NN]
  [PP in] [NP (LOC <city>)] <when> .
- [NP a <thing> bill/NN] [PP before/IN] [NP the (ORG <agency>)] [VP would <lift>]
  [NP <goods> <figures>] .
- [NP the (MISC <nationality>) president/NN] , [NP (PER <first> <last>)] ,
  [VP backs/VBZ] [NP the <thing>] .
- [NP <person>] [VP told/VBD] [NP the (ORG <agency>)] [SBAR that/IN] [NP <people>]
  [VP had left/VBN] [NP their homes/NNS] .
- [NP a court/NN] [PP in] [NP (LOC <city>)] [VP set/VBD] [NP a hearing/NN] [PP on]
  [NP the <thing> charge/NN] <when> .
- [NP the (ORG House/NNP)] [VP is expected/VBN to cut/VB] [NP the <goods> tax/NN]
  <soon> .
- [NP the <thing>] , [NP which/WDT] [NP <roles>] [VP oppose/VBP] , [VP may still cut/VB]
  [NP <goods> <figures>] .
- <person.np> [VP appealed/VBD] [PP to] [NP the (ORG <agency>)] [VP to <back>]
  [NP the <thing>] .

sport.story:
- [NP (ORG <team>)] [VP <beat>] [NP (ORG <team>)] [NP <#score>] <when> .
- [NP (ORG <team>)] [VP <beat>] [NP (ORG <team>)] [NP <#score>] [PP in]
  [NP (LOC <city>)] <when> .
- [NP (ORG <team>)] [VP took/VBD] [NP an early/JJ lead/NN] [PP against]
  [NP (ORG <team>)] [PP in] [NP the <game>] .
- [NP (ORG <team>) <player> (PER <first> <last>)] [VP leads/VBZ] [NP the (MISC <event>)]
  [PP after/IN] [NP <#day> races/NNS] .
- [NP <person>] [VP won/VBD] [NP the (MISC <nationality> <event>)] <where> <when> .
- [NP the (MISC <nationality>) <player>] [VP set/VBD] [NP a <game> record/NN] [PP at]
  [NP the (MISC <event>)] .
- [NP (ORG <team>)] [VP are] [ADJP close/JJ] [PP to] [NP the title/NN] [PP after/IN]
  [VP beating/VBG] [NP (ORG <team>)] <when> .
- [NP (PER <last>)] [VP scored/VBD] [ADVP late/RB] [SBAR as/IN] [NP (ORG <team>)]
  [VP held/VBD] [NP (ORG <team>)] [PP to] [NP a draw/NN] .
- [NP (ORG <team>)] [VP drew/VBD] [NP <#draw>] [PP with] [NP (ORG <team>)] [PP in]
  [NP the second/JJ <game>] .
- [NP <player> (PER <first> <last>)] [VP may miss/VB] [NP the <game>] [PP against]
  [NP (ORG <team>)] <soon> .

weather.story:
- [NP a <weather>] [VP <damage>] [NP the <site>] <where> <when> .
- [NP a <weather>] [VP <damage>] [NP the <site>] <where> , [VP leaving/VBG]
  [NP <#people> <people>] [PP without/IN] [NP <goods>] .
- [NP the <weather>] [PP near/IN] [NP (LOC <city>)] [VP has destroyed/VBN]
  [NP <#people> homes/NNS] [ADVP so/RB far/RB] , [NP <roles>] [VP said] .
- [NP <weather> and wind/NN] [VP closed/VBD] [NP the <site>] <where> , but [NP <people>]
  [VP were] [ADJP safe/JJ] .
- [NP <people>] [VP left/VBD] [NP the <site>] [SBAR before/IN] [NP the <weather>]
  [VP <damage>] [NP (LOC <city>)] .
- [NP <goods> <figures>] <change> [SBAR after/IN] [NP a <weather>] [VP hit/VBD]
  [NP (LOC <country>)] .
- [NP the <site> fire/NN] [VP was put/VBN] [PRT out/RP] [NP <weekday>] , [VP said]
  [NP <person>] .

science.story:
- [NP a <research>] [VP made/VBN] [PP by] [NP <company>] [VP may cut/VB]
  [NP <goods> <figures>] <close>
- <person.np> [VP is testing/VBG] [NP a <adj> <research>] [PP at]
  [NP (ORG Lincoln/NNP University/NNP)] .
- [NP the <research> test/NN] <where> [VP was <passed>] <reason> .
- [NP <company>] [VP will test/VB] [NP its <research>] [PP on] [NP <people>]
  [PP in] [NP (LOC <country>)] <soon> .
- [NP testing/NN] [PP of] [NP the <research>] [VP has <risen>] [ADVP <adverb>] ,
  <person.np> [VP said] .
- [NP the (MISC <nationality>) <research>] , [VP built/VBN] [PP by] [NP <company>] ,
  [VP may lead/VB] [PP to] [NP <adj> <plans>] .

long.story:
- [PP in] [NP <#year>] , <concern.np> <deal.past> , but <figures.change> [SBAR after/IN]
  <roles.np> [VP left/VBD] [NP the market/NN] , <person.np> [VP said] .
- [SBAR while] <figures.np> <change> , <concern.np> <deal.past> and [VP said]
  <plan.np> [VP would <lift>] [NP its <figures>] <soon> .
- <person.np> [VP <thinks>] [SBAR that/IN] <figures.change> <reason> , and
  [SBAR that/IN] <concern.np> <deal.future> <soon> .
- [SBAR although] <roles.np> [VP expect/VBP] <figures.np> [VP to <rise>] , <agency.np>
  [VP <thinks>] [SBAR that/IN] [NP the <thing>] [VP may <lift>] [NP <figures>] <close>
- <concern.np> , [NP which/WDT] [VP shares/VBZ] [NP the <goods> market/NN] [PP with]
  [NP <company>] and [NP <company>] , <deal.past> <when> [PP for] <money> <close>
- [NP <people> and <people>] [PP from] [NP (LOC <city>)] , [NP (LOC <city>)] and
  [NP (LOC <city>)] [VP marched/VBD] <when> [PP against] [NP the <thing>] ,
  [NP which/WDT] [NP the (ORG <agency>)] [VP may <back>] <soon> .
"""
