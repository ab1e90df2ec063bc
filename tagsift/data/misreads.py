"""Files that are not what their reader takes them for, recognised by their content.

A file of words in columns can be read in the wrong way without any line being bad: a
header becomes a token, the votes of annotators become features, token numbers become
tokens. Each case has a look of its own. It is refused with one sentence that says what
it looks like and what to do; naming the columns is the user's way to insist.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn

from tagsift.data.columns import ANY, Block, PathName
from tagsift.data.layout import Layout
from tagsift.data.lookalikes import PROSE_END, numbered_sentence, recognise_head
from tagsift.data.usable import are_tags
from tagsift.errors import DataError

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
    first: tuple[str, ...] = ()
    line: int = 0
    seen: dict[int, set[str]] = field(default_factory=dict)  # values by column
    sample: list[tuple[str, ...]] = field(default_factory=list)
    counts_tokens: bool = True
    names_sentences: bool = True
    longest: int = 0

    def see(self, block: Block) -> None:
        """Look at one sentence."""
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
        if not self.first:
            self.first, self.line = self.sample[0], block.lines[0]
            layout = self.layout
            watched = {*layout.rows, *layout.votes, layout.label, layout.gold}
            if layout.rows[0] == 0:  # tokens are many, and nothing asks for them
                watched -= {0}
            self.seen = {i: set() for i in watched if i is not None}
            columns = [column[1:] for column in columns]
        for i, values in self.seen.items():
            values.update(columns[i])

    def end(self) -> None:
        """Raise where the file looks like something else."""
        if not self.first:
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
        for i, values in self.seen.items():
            values.add(self.first[i])
        if all(len(c) > 1 and c[0] == c[-1] == '"' for row in self.sample for c in row):
            self._refuse(
                "all cells stand in quotation marks, which would belong to the tokens "
                "and labels; write the table without them."
            )
        if not self.tabs:
            self._check_prose()
        self._check_labels()

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
        layout = self.layout
        roles: dict[int | None, str] = dict.fromkeys(layout.rows, "x")
        roles |= dict.fromkeys(layout.votes, "vote")
        roles |= {layout.rows[0]: "token", layout.label: "label", layout.gold: "gold"}
        names = [roles.get(i, "") for i in range(len(self.first))]
        shown = ",".join(names if len(names) <= 12 else [*names[:3], "…", names[-1]])
        return f"name the columns (--columns {shown}; in Python columns=)"

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
        if not (layout.votes or layout.label) or are_tags(_parts(given)):
            return False
        if len(given) > 1 and len(set(given)) == len(given) and len(self.sample) > 5:
            return True
        alone = len(self.sample) > 20 or _LETTERS.fullmatch(given[0]) is not None
        typed = any("-" in cell for cell in others)
        return alone and typed and are_tags(_parts(others))

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
        labels = _parts(cells)
        gold, first = layout.gold, layout.rows[0]
        if gold is not None and len(self.sample) >= 5:
            if labels.isdisjoint(self.seen[gold]):
                self._refuse(
                    f"none of the gold labels in column {gold + 1} (such as "
                    f"{min(self.seen[gold])!r}) is a label elsewhere in the file; "
                    f"leave out --gold if there is no such column, or {self._insist()}."
                )
        if first and layout.votes and _parts(self.seen[first]) <= labels:
            self._refuse(
                f"expected words in column {first + 1}, the first that is not "
                "named as votes, found labels; count the columns from 1, the token "
                "first."
            )
        votes = [i for i in layout.rows[1:] if self._like_votes(self.seen[i], labels)]
        if votes:
            self._refuse(self._votes_sentence(votes))
        for i in layout.rows[1:]:
            chunks = sum(cell[1:2] == "-" for cell in self.seen[i]) > 1
            if chunks and are_tags(_parts(self.seen[i])) and not are_tags(labels):
                self._refuse(
                    f"column {i + 1} holds chunk tags and the last one other labels "
                    f"({min(labels)}); say which is the label: {self._insist()}."
                )

    def _like_votes(self, cells: set[str], labels: set[str]) -> bool:
        """Whether a feature column holds what the labels are."""
        values = _parts(cells)
        shared = len(values & labels)
        if not shared or len(cells) < 2:
            return False
        if values <= labels:
            return True
        if ANY in cells:
            return shared >= len(values) / 2
        return shared >= 2 and shared >= len(values | labels) / 2

    def _votes_sentence(self, votes: list[int]) -> str:
        """Say that columns look like votes, or like the truth."""
        layout = self.layout
        if layout.votes:
            return (
                f"column {votes[0] + 1} lies outside the votes and holds nothing but "
                "labels; if it is the truth, put it last and say --gold (in Python "
                f"gold={votes[0] + 1}), or, if it is a feature, {self._insist()}."
            )
        if any("|" in cell for i in votes for cell in self.seen[i]):
            return (
                f"column {votes[0] + 1} holds candidates for the labels of the last "
                "one; if that is the truth, say --gold (in Python "
                f"read_partial(gold=True)), or {self._insist()}."
            )
        labels = _parts(self.seen[layout.label or 0])
        if len(votes) > 1:  # some annotators may have given one label, or others too
            votes = [i for i in layout.rows[1:] if _parts(self.seen[i]) & labels]
        low, high = votes[0] + 1, votes[-1] + 1
        which = ",".join(str(i + 1) for i in votes)
        if high - low + 1 == len(votes):
            which = f"{low}:{high}" if high > low else f"{low}"
        return (
            f"column{'s' * (len(votes) > 1)} {which} hold{'s' * (len(votes) == 1)} the "
            "same labels as the last one, as the votes of annotators do; say --votes "
            f"{which} --gold if the last one is the truth, --votes {which},"
            f"{len(self.first)} if it is one more annotator (in Python read_votes), "
            f"or, if these are features, {self._insist()}."
        )


def _parts(cells: Iterable[str]) -> set[str]:
    """Labels named by cells of labels, candidates or votes."""
    return {name for cell in cells for name in cell.split("|")} - {ANY}
