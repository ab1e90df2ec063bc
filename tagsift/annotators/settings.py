"""Every constant of the method, with its meaning, its unit and what set it.

They were set on simulated annotators, on `weak_ncbi` train and valid, on the
development files of other weak sources and on parts of crowd NER; `docs/research.md`
has the experiments, by the names in brackets.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CONSTANTS", "VoteConstants"]


@dataclass(frozen=True)
class VoteConstants:
    """Constants of `VoteTagger` and of what is told of its labels."""

    # Annotators' tables, in votes [tables]
    #: Of the pooled table without context in the pooled one with it.
    pooled: float = 10.0
    #: For the truth, and for every label, in the pooled table without context.
    diagonal: float = 2.0
    any_label: float = 0.1
    #: How many times a token counts whose label is known exactly.
    exact: float = 5.0
    #: The share of a vote that every label has at every token, and `O` once more.
    share: float = 1e-3
    #: Of every label in what MACE knows of annotators.
    mace: float = 0.1
    #: Cells of all tables from which on no vote is counted with the one before.
    most_cells: int = 50_000_000

    # Who copies whom [copies]
    #: Tokens from which on two can be copies, and the share of equal votes on them.
    copied_tokens: int = 20
    copied_share: float = 0.95

    # Beginnings [where the rounds begin]
    #: Steps of expectation–maximisation after MACE, from so many tokens on.
    steps: int = 2
    steps_tokens: int = 5_000
    #: Rounds that each beginning has before one of them goes on.
    trial_rounds: int = 2
    #: By how much the votes must be likelier, in nats a vote, for MACE to count.
    margin: float = 0.005
    #: How many times as unlikely the votes may be where models are counted once, under
    #: what people say, as where they are counted with people.
    people_first: float = 1.5
    #: After the union, which knows nothing of annotators: τ in the first round, at
    #: least, and the share of the tables with context.
    union_weight: float = 0.5
    union_context: float = 0.5
    #: Quasi-Newton steps of a text's first fit, of the later ones, and of the tagger.
    first_steps: int = 40
    later_steps: int = 15
    tagger_steps: int = 60
    #: Rounds of an update, at most.
    update_rounds: int = 2

    # Views of the text [views]
    #: From how many tokens on features that occur once are left out.
    rare_features_tokens: int = 2_000
    #: Penalty of the second view against that of the first, where there are no vectors.
    tighter: float = 10 / 3
    #: Columns of the smooth view, its length scale where vectors have mean norm 1, and
    #: what its columns are multiplied by.
    waves: int = 512
    waves_length: float = 1.3
    waves_scale: float = 6.0

    # Weight τ of the votes, in votes' worth of evidence on a token [weight of votes]
    #: Of sources that abstain, τ = worth / (sources that speak where any does).
    source_worth: float = 1.3
    #: The least of people and of models; in any case at least this τ, and of people
    #: (of models) at most.
    person_worth: float = 1.1
    model_worth: float = 2.1
    least_weight: float = 0.25
    most_worth: float = 0.6
    model_weight: float = 0.7
    #: τ of people before there is a text, at least; the most beside word vectors.
    first_weight: float = 0.3
    #: The share of the rare labels that a text finds unless it is poor; the least that
    #: is believed of one, and the most that the least τ becomes beside a poor one.
    text_finds: float = 0.5
    text_finds_least: float = 0.25
    poor_weight: float = 1.2

    # Models among the annotators [votes of models]
    #: How many times further the text is from votes with context than without, from
    #: which on they are taken for models'; and that beside word vectors.
    model_ratio: float = 1.35
    model_ratio_vectors: float = 1.5
    #: Votes of one annotator from which on that is asked, and so many are enough.
    model_votes: int = 300
    model_votes_most: int = 2_000
    #: The share of the table with context in theirs.
    model_context: float = 0.5

    # Factor T of all scores in the confidences [temperature]
    #: T where τ* d² = 1; the least contradiction d that counts; and the tokens with
    #: several votes at which the corpus counts as much as a typical one.
    temperature: float = 0.48
    least_contradiction: float = 0.05
    #: Weight τ of the votes in the other posterior, against that in the first.
    other_posterior: float = 0.5
    typical_tokens: float = 100.0
    #: T with ChainGP as text model, which is surer of itself, against a partial CRF.
    chain_gp: float = 0.76

    # Where a second look pays [ranking]
    #: What the log-odds of the text count beside those of the confidence.
    text_odds: float = 0.2
    #: Errors that are taken for granted of every label, expected and seen.
    label_errors: float = 5.0
    #: From this chance of a span on, neighbours outside all spans may be one that was
    #: missed: 9 of 23 missed names of several words come whole.
    missed: float = 0.15
    #: People of a sentence that are left out in turn, and from how many votes on.
    turns: int = 3
    held_out_votes: int = 1_000
    #: How often trees are grown, from as many seeds.
    forests: int = 4
    #: Shares of the votes of less reliable people than the poor and good ones that are
    #: compared, and the most that their errors may be alike.
    poor: float = 0.2
    good: float = 0.95
    alike: float = 0.8
    #: How many times as often as typical a difference is a habit; votes of all in it.
    habit: float = 3.0
    habit_votes: float = 30.0
    #: What the trees count beside confidence and text, and means over the same word
    #: with the same label and over the span beside a token's own log-odds.
    taught: float = 0.6
    by_word: float = 0.4
    by_span: float = 0.3

    # How many labels are wrong [when to stop]
    #: Length of the correction of log-odds, and how far apart the places are at which
    #: it is found.
    outlook_length: float = 2.0
    places_apart: float = 0.5
    #: By how much the variance of a count of errors is larger than that of single
    #: ones: they come in pairs and more; standard deviations of a range of nine in ten.
    errors_together: float = 2.0
    nine_in_ten: float = 1.645

    # What is said of labels and annotators, in words
    #: The share of votes against a label, the text's chance of it, its frequency; and
    #: what the text leaves open where there are no votes.
    split: float = 0.25
    doubted: float = 0.5
    rare: float = 0.005
    clear: float = 0.95
    #: Spans of the average annotator that each one's reliability is drawn by.
    reliability_spans: float = 10.0
    #: Tokens below which an annotator is too little known; how far below the middle
    #: one, or how little of what others see, is odd; the least share of a habit.
    few_tokens: int = 200
    far_below: float = 0.25
    hardly_any: float = 0.3
    told_habit: float = 0.1
    #: The share of `O`, at so many tokens of which another says something, with which
    #: an annotator seems to abstain; before a fit, where asking costs nothing, fewer.
    quiet: float = 0.99
    quiet_tokens: int = 50
    quiet_tokens_asked: int = 20


CONSTANTS = VoteConstants()
