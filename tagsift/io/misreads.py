"""Files that are not what their reader takes them for, recognised by their content.

A file of words in columns can be read in the wrong way without any line being bad: a
header becomes a token, the votes of annotators become features, token numbers become
tokens. Each case has a look of its own. It is refused with one sentence that says what
it looks like and what to do; naming the columns is the user's way to insist. Features
that hold labels are refused even then: a column that somebody wants to be rid of easily
becomes one, and tells the model the truth.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NoReturn

from tagsift.errors import DataError
from tagsift.io.column_file import Block, PathName
from tagsift.io.column_roles import Layout, write_columns, write_names
from tagsift.io.leaks import INSIST, hold_labels, labels_in
from tagsift.io.sniff import PROSE_END, numbered_sentence, recognise_head
from tagsift.io.validate import are_tags

__all__ = ["Watch"]

_WORDS = frozenset("token tokens word words form text surface id sentence sent".split())
_NAMES = _WORDS | frozenset(
    "label labels tag tags ner ner_tag ner_tags pos upos xpos pos_tag chunk chunks iob "
    "bio gold truth true annotator annotators worker vote votes lemma feats head "
    "deprel deps misc entity entities class category target prediction predicted "
    "sent_id sentence_id token_id doc doc_id rank candidates recovered majority score "
    "confidence".split()
)
_NUMBERED = re.compile(r"(?:annotator|worker|rater|coder|vote|label|w|a)[ _-]?\d+")
_STOP = re.compile(r"[.!?…]+")
_WORD = re.compile(r"[^\W\d_][^\W\d_A-Z]+")
_LETTERS = re.compile(r"[^\W\d_]{3,}")
_SCORE = re.compile(r"(?:.+=)?\d?\.\d+")
_TOKEN_NUMBER = re.compile(r"\d+[-.]\d+")
_SAMPLE = 200


@dataclass
class Watch:
    """Looks on while a file is read, and says at its end what it looks like."""

    path: PathName
    layout: Layout
    tabs: bool
    header: bool  # whether there was one, so that none is left to find
    names: tuple[str, ...] | None = None  # of the columns, if somebody has named them
    features_hold_labels: bool = False  # somebody knows, and wants it so
    first: tuple[str, ...] = ()
    line: int = 0
    seen: dict[int, Counter[str]] = field(default_factory=dict)  # values by column
    sample: list[tuple[str, ...]] = field(default_factory=list)
    counts_tokens: bool = True
    names_sentences: bool = True
    longest: int = 0

    def see(self, block: Block) -> None:
        """Look at one sentence."""
        columns = block.columns
        if not self.first:
            self._begin(block)
            columns = [column[1:] for column in columns]
        for i, values in self.seen.items():
            values.update(columns[i])
        if self.names is not None:
            return
        columns = block.columns
        tokens = columns[0]
        if len(self.sample) < _SAMPLE:
            self.sample += zip(*columns, strict=True)
        if self.counts_tokens:
            numbers = [cell for cell in tokens if not _TOKEN_NUMBER.fullmatch(cell)]
            self.counts_tokens = numbers == [str(n + 1) for n in range(len(numbers))]
            self.longest = max(self.longest, len(numbers))
        if self.names_sentences and len(tokens) > 1:
            self.names_sentences = len(set(tokens)) == 1

    def _begin(self, block: Block) -> None:
        """Keep the first row, which may be a header, apart from the values."""
        self.first = tuple(column[0] for column in block.columns)
        self.line = block.lines[0]
        layout = self.layout
        watched = {*layout.rows, *layout.votes, layout.label, layout.gold, layout.exact}
        if layout.rows[0] == 0:  # tokens are many, and nothing asks for them
            watched -= {0}
        self.seen = {i: Counter() for i in watched if i is not None}

    def end(self) -> None:
        """Raise where the file looks like something else."""
        if not self.first:
            return
        if self.names is not None:
            self._count_first()
            self._check_features()
            return
        many = self.longest > 1 and len(self.sample) > 2 and len(self.first) > 1
        if self.counts_tokens and many:
            self._refuse(numbered_sentence(len(self.first)))
        self._check_first_column()
        if not self.header and self._has_header():
            self._refuse(
                f"the first line looks like a header ({', '.join(self.first[:6])}"
                f"{', …' * (len(self.first) > 6)}); read it as the names of the "
                "columns with --header (in Python header=True), or, if it is a token, "
                f"{self._insist()}."
            )
        self._count_first()
        if all(len(c) > 1 and c[0] == c[-1] == '"' for row in self.sample for c in row):
            self._refuse(
                "all cells stand in quotation marks, which would belong to the tokens "
                "and labels; write the table without them."
            )
        if not self.tabs:
            self._check_prose()
        self._check_labels()

    def _count_first(self) -> None:
        for i, values in self.seen.items():
            values[self.first[i]] += 1

    def _check_first_column(self) -> None:
        """Refuse numbers or names of sentences where tokens are due."""
        size = len(self.sample)
        if len(self.first) < 3 or size < 3 or self.layout.rows[0] != 0:
            return
        numbers = all(row[0].isdecimal() for row in self.sample)
        words = sum(_WORD.fullmatch(row[1]) is not None for row in self.sample)
        if words > size / 2 if self.names_sentences else numbers and words:
            named = "sentence" if self.names_sentences else "-"
            what = "names sentences" if self.names_sentences else "holds numbers only"
            self._refuse(
                f"expected a token in the first column, which {what} (such as "
                f"{self.first[0]!r}); name the columns, such as --columns "
                f"{named},token,label (in Python columns=)."
            )

    def _refuse(self, sentence: str) -> NoReturn:
        raise DataError(sentence, self.path, self.line)

    def _insist(self) -> str:
        """Say how to insist on the columns as they were read."""
        return f"name the columns ({self._named()})"

    def _named(self, without: Collection[int] = ()) -> str:
        """The option that names the columns as read, some of them left out."""
        layout = self.layout
        roles: dict[int | None, str] = dict.fromkeys(layout.rows, "x")
        roles |= dict.fromkeys(layout.votes, "vote")
        roles |= {layout.label: "label", layout.gold: "gold", layout.exact: "exact"}
        roles |= {layout.rows[0]: "token"}
        names = self.names or [roles.get(i, "") for i in range(len(self.first))]
        kept = ("-" if i in without else name for i, name in enumerate(names))
        return f"--columns {write_names(kept)}; in Python columns="

    def _has_header(self) -> bool:
        """Whether the first line names columns instead of holding a token."""
        names = [cell.lower() for cell in self.first]
        layout = self.layout
        if len(names) == 1:
            return self.first[0] in ("token", "tokens", "word")
        places = layout.votes or (layout.label or len(names) - 1,)
        given = [self.first[i] for i in places]
        others: set[str] = set().union(*(self.seen.get(i, ()) for i in places))
        if not others.isdisjoint(given) or not others:
            return False
        known = [name in _NAMES or bool(_NUMBERED.fullmatch(name)) for name in names]
        if sum(known) > 1 and (names[0] in _WORDS or sum(known) > len(known) / 2):
            return True
        if not (layout.votes or layout.label) or are_tags(labels_in(given)):
            return False
        if len(given) > 1 and len(set(given)) == len(given) and len(self.sample) > 5:
            return True
        alone = len(self.sample) > 20 or _LETTERS.fullmatch(given[0]) is not None
        typed = any("-" in cell for cell in others)
        return alone and typed and are_tags(labels_in(others))

    def _check_prose(self) -> None:
        """Refuse running text with equally many words in each line."""
        last = [row[-1] for row in self.sample]
        size, width = len(last), len(self.first)
        head = self.first[0]
        if head[0] in "{[<" or (width == 1 and set(",;/") & set(head)):
            better = recognise_head(self.path)
            if better is not None:
                self._refuse(better)
        if width == 1:
            return
        varied = len(set(last)) > size / 2
        ended = sum(
            bool(PROSE_END.search(end))
            or (bool(_STOP.fullmatch(end)) and first[:1].isalpha())
            for first, *_, end in self.sample
        )
        words = sum(bool(_WORD.fullmatch(cell)) for cell in last)
        alike = sum(a[:2].casefold() == z[:2].casefold() for a, *_, z in self.sample)
        looks = ended >= size / 2 and (varied or ended > size / 2)
        looks |= size > 3 and varied and words >= 0.8 * size and alike < size / 2
        if looks and (size < 10 or varied or width > 3):
            self._refuse(
                f"this looks like running text with {width} words in each line; a "
                "column file has one token a line, and a blank line after each "
                "sentence: say --from text (in Python, read(format='text')) or, if "
                f"these are columns, {self._insist()}."
            )

    def _check_labels(self) -> None:
        """Refuse labels among the features, and scores where labels are due."""
        layout = self.layout
        where = layout.votes or (() if layout.label is None else (layout.label,))
        if not where:
            return
        cells: set[str] = set().union(*(self.seen[i] for i in where))
        if all(_SCORE.fullmatch(cell) for cell in cells):
            self._refuse(
                f"expected labels in column {where[0] + 1}, found numbers such as "
                f"{min(cells)!r}: the confidences or marginals of an earlier run? Name "
                "the columns, such as --columns token,label,- (in Python columns=)."
            )
        labels = labels_in(cells)
        gold, first = layout.gold, layout.rows[0]
        if gold is not None and len(self.sample) >= 5:
            if labels.isdisjoint(self.seen[gold]):
                self._refuse(
                    f"none of the gold labels in column {gold + 1} (such as "
                    f"{min(self.seen[gold])!r}) is a label elsewhere in the file; "
                    f"leave out --gold if there is no such column, or {self._insist()}."
                )
        if first and layout.votes and labels_in(self.seen[first]) <= labels:
            self._refuse(
                f"expected words in column {first + 1}, the first that is not "
                "named as votes, found labels; count the columns from 1, the token "
                "first."
            )
        self._check_features()
        for i in layout.rows[1:]:
            chunks = sum(cell[1:2] == "-" for cell in self.seen[i]) > 1
            if chunks and are_tags(labels_in(self.seen[i])) and not are_tags(labels):
                self._refuse(
                    f"column {i + 1} holds chunk tags and the last one other labels "
                    f"({min(labels)}); say which is the label: {self._insist()}."
                )

    def _check_features(self) -> None:
        """Refuse features that hold labels of the file, unless they are meant to."""
        layout = self.layout
        places = (*layout.votes, layout.label, layout.gold, layout.exact)
        cells = (self.seen[i] for i in places if i is not None)
        labels = labels_in(set().union(*cells))
        features, half = layout.rows[1:], self.names is None
        leaks = [i for i in features if hold_labels(self.seen[i], labels, half=half)]
        if not leaks or self.features_hold_labels:
            return
        alone = not layout.votes and self.names is None
        if alone and len(leaks) > 1:  # annotators may have given one label, or none
            few = (i for i in features if labels_in(self.seen[i]) <= labels)
            leaks = sorted({*leaks, *few})
        which = write_columns(i + 1 for i in leaks)
        are = f"column {which} holds" if len(leaks) == 1 else f"columns {which} hold"
        it = "it" if len(leaks) == 1 else "them"
        leave = f"leave {it} out ({self._named(leaks)})"
        meant = "features" if len(leaks) > 1 else "a feature"
        insist = f"or, if you mean {it} as {meant}, {INSIST}."
        if alone and any("|" in cell for i in leaks for cell in self.seen[i]):
            self._refuse(
                f"{are} candidates for the labels of the last one; if that is the "
                f"truth, say --gold (in Python gold=-1), else {leave}, "
                f"{insist}"
            )
        if alone:
            self._refuse(
                f"{are} the same labels as the last one, as the votes of annotators "
                f"do; say --votes {which} --gold if the last one is the truth, --votes "
                f"{which},{len(self.first)} if it is one more annotator (in Python "
                f"votes=), else {leave}, {insist}"
            )
        truth = "name the truth gold and an annotator vote"
        if self.names is None:
            last = leaks[-1] + 1
            truth = f"put the truth last and say --gold (in Python gold={last})"
        example = min(labels_in(self.seen[leaks[0]]) & labels - {"O"}, default="O")
        self._refuse(
            f"{are} labels of the file (such as {example!r}), which would tell a model "
            f"what it shall find; {leave}, {truth}, {insist}"
        )
