"""Linear chains over whole batches of sentences.

In the order of use: `layout` (how tokens are packed), `potentials` (all scores in one
matrix), `lattice` (sums over label sequences, with its log-domain twin `log_lattice`),
`viterbi`, `linear_chain` (the model that every chained method stands on), `objective`
and `lbfgs` (how it is fitted), `span_bonus` (which spans are worth their risk),
`decoders` (those of the max-margin methods), and the paper's own `weighted_viterbi`.
"""
