"""Files that look like something else: what is refused, what is not, how to insist."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tagsift
from tagsift.data import LabelSet
from tagsift.errors import DataError, InputError
from tagsift.io import check_learnable, check_text, check_votes, iter_text

GOOD = (
    "the\tDT\tB-NP\ndog\tNN\tI-NP\nbarks\tVBZ\tB-VP\n.\t.\tO\n\n"
    "a\tDT\tB-NP\ncat\tNN\tI-NP\nsleeps\tVBZ\tB-VP\n.\t.\tO\n\n"
)
VOTES = (
    "the\tB-NP\tB-NP\tO\tB-NP\ndog\tI-NP\tI-NP\tI-NP\tI-NP\n\n"
    "barks\tO\t?\t?\tO\ndogs\tB-NP\t?\tI-NP\tB-NP\n\n"
)
PROSE = (
    "The old man went home\nA young dog ran away\nMy cat likes warm milk\nSome go on"
)
CONLLU = (
    "# text = The dog barks.\n"
    "1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_\n"
    "2\tdog\tdog\tNOUN\tNN\t_\t3\tnsubj\t_\t_\n"
    "3\tbarks\tbark\tVERB\tVBZ\t_\t0\troot\t_\tSpaceAfter=No\n"
    "4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_\n\n"
)
ROLES = "-,token,-,label,-,-,-,-,-,-"


def read_labels(path: Path, **options: Any) -> Any:
    return tagsift.read(path, "conll", **options)


def read_votes(path: Path, columns: str, **options: Any) -> Any:
    named = "columns" if "token" in columns else "votes"
    return tagsift.read(path, "conll", **{named: columns}, **options)


def read_text(path: Path, **options: Any) -> Any:
    return [list(rows) for rows in iter_text(path, **options)]


@pytest.fixture
def save(tmp_path: Path) -> Callable[[str], Path]:
    def write(content: str) -> Path:
        path = tmp_path / "file.conll"
        path.write_text(content, encoding="utf-8")
        return path

    return write


def words_of(count: int, end: str = "") -> str:
    lines = [" ".join(line.split()[:count]) + end for line in PROSE.split("\n")[:3]]
    return "\n".join([*lines, *lines[:1]]) + "\n"


@pytest.mark.parametrize("read", [read_labels, read_text])
@pytest.mark.parametrize("content", [words_of(3), words_of(5), words_of(2, " .")])
def test_running_text(save: Any, read: Any, content: str) -> None:
    with pytest.raises(DataError, match="looks like running text with . words"):
        read(save(content))


def test_running_text_of_uneven_lines(save: Any) -> None:
    with pytest.raises(DataError, match="looks like running text; a column file"):
        read_text(save("The dog barks.\nIt sleeps.\n"))


@pytest.mark.parametrize(
    "header",
    [
        "token pos label",
        "Word POS Tag",
        "FORM UPOS NER",
        "id pos chunk",
        "wort a etikett",
    ],
)
@pytest.mark.parametrize("separator", ["\t", " "])
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_a_header(save: Any, header: str, separator: str, gap: str) -> None:
    text = (header.replace(" ", "\t") + gap + GOOD).replace("\t", separator)
    path = save(text)
    for read in (read_labels,):
        with pytest.raises(DataError, match=r"line 1: .*header .*--header") as caught:
            read(path)
        assert caught.value.line == 1
        assert len(read(path, header=True)) == 2
    names = ",".join(("token", "x", "label"))
    assert len(read_labels(path, columns=names, scheme="plain").label_set) == 5


def test_a_header_of_text_and_of_votes(save: Any) -> None:
    with pytest.raises(DataError, match="header"):
        read_text(save("token\tpos\nthe\tDT\ndog\tNN\n"))
    with pytest.raises(DataError, match="header"):
        read_text(save("token\nthe\ndog\n"))
    for names in ("token\tw01\tw02\tw03\tgold\n", "Wort\tanna\tbob\teve\twahr\n"):
        path = save(names + VOTES * 2)
        with pytest.raises(DataError, match="header"):
            read_votes(path, columns="2:4", gold=-1)
        votes = read_votes(path, columns="2:4", gold=-1, header=True)
        assert tuple(x.name for x in votes.annotators) == tuple(names.split("\t")[1:4])
        assert len(votes) == 4


def test_a_header_that_puts_the_token_elsewhere(save: Any) -> None:
    path = save("sentence_id\tword\ttag\n1\tNew\tB-LOC\n1\tYork\tI-LOC\n")
    with pytest.raises(DataError, match="found 'word' as the name of column 2"):
        read_labels(path, header=True)
    named = read_labels(path, header=True, columns="-,token,label")
    assert named.tokens == [["New", "York"]]


@pytest.mark.parametrize("sign", [",", ";"])
@pytest.mark.parametrize("read", [read_labels, read_text])
def test_a_table_with_other_signs(save: Any, read: Any, sign: str) -> None:
    text = f"word{sign}tag\nNew{sign}B-LOC\nYork{sign}I-LOC\n"
    with pytest.raises(DataError, match="looks like a table with .* its 2 columns"):
        read(save(text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"tokens": ["a"], "candidates": [["O"]]}\n', "looks like JSON"),
        ("<s>\n<w>the</w>\n</s>\n", "looks like XML"),
        ("the/DT\ndog/NN\n./.\n", "tags behind a slash"),
    ],
)
def test_other_formats(save: Any, text: str, message: str) -> None:
    for read in (read_labels, read_text):
        with pytest.raises(DataError, match=message):
            read(save(text))


@pytest.mark.parametrize("comments", [False, True])
@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("read", [read_labels, read_text])
def test_conllu(save: Any, read: Any, strip: bool, comments: bool) -> None:
    text = re.sub(r"(?m)^#.*\n", "", CONLLU) if strip else CONLLU
    with pytest.raises(DataError, match=f"CoNLL-U.*--columns {ROLES}"):
        read(save(text * 2), comments=comments)


def test_conllu_with_named_columns(save: Any) -> None:
    corpus = read_labels(save(CONLLU), comments=True, columns=ROLES)
    assert corpus.tokens == [["The", "dog", "barks", "."]]
    assert corpus.labels == [["DET", "NOUN", "VERB", "PUNCT"]]
    ranged = CONLLU.replace("1\tThe", "1-2\tThe" + "\t_" * 8 + "\n1\tThe")
    with pytest.raises(DataError, match=r"line 2: .*found '1-2', a range"):
        read_labels(save(ranged), comments=True, columns=ROLES)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("1\tNew\tB-L\n2\tYork\tI-L\n3\tis\tO\n", "counts the tokens"),
        ("7\tNew\tB-L\n7\tYork\tI-L\n8\tis\tO\n", "holds numbers only"),
        ("s1\tNew\tB-L\ns1\tYork\tI-L\n\ns2\tis\tO\ns2\tbig\tO\n", "names sentences"),
    ],
)
def test_token_and_sentence_numbers(save: Any, text: str, what: str) -> None:
    with pytest.raises(DataError, match=f"{what}.*--columns (-|sentence),token,label"):
        read_labels(save(text))


@pytest.mark.parametrize("read", [read_labels])
def test_forgotten_votes(save: Any, read: Any) -> None:
    with pytest.raises(DataError, match="columns 2:4 .* --votes 2:4 --gold .* 2:4,5"):
        read(save(VOTES))
    with pytest.raises(
        DataError, match=r"columns 2:4 .* \(--columns token,-,-,-,label"
    ):
        read(save(VOTES), columns="token,x,x,x,label")
    plain = read(save(VOTES), columns="token,x,x,x,label", features_hold_labels=True)
    assert len(plain.rows[0][0]) == 4


def test_forgotten_votes_where_an_annotator_is_last(save: Any) -> None:
    last = "\n".join(line.rpartition("\t")[0] for line in VOTES.split("\n"))
    with pytest.raises(DataError, match="columns 2:3 hold the same labels"):
        read_labels(save(last))


def test_labels_among_the_features(save: Any) -> None:
    twice = re.sub(r"\t(\S+)\n", r"\t\1\t\1\n", GOOD)
    with pytest.raises(DataError, match="column 3 holds the same labels"):
        read_labels(save(twice))
    assert read_labels(save(twice), columns="token,pos,-,label").rows[0][0] == (
        "the",
        "DT",
    )
    with pytest.raises(DataError, match="column 2 holds candidates .* --gold"):
        read_labels(save("a\tB-X|O\tO\nb\tO\tO\nc\tB-X\tB-X\n"))
    with pytest.raises(DataError, match="column 4 holds labels of the file"):
        read_votes(save(VOTES), columns="2:3", gold=-1)
    with pytest.raises(DataError, match="expected words in column 4"):
        read_votes(save(VOTES), columns="1:3", gold=-1)


def test_a_label_column_that_is_not_last(save: Any) -> None:
    swapped = re.sub(r"\t(\S+)\t(\S+)\n", r"\t\2\t\1\n", GOOD)
    with pytest.raises(DataError, match="column 2 holds chunk tags and the last one"):
        read_labels(save(swapped))
    assert read_labels(save(swapped), columns="token,label,pos").rows == [
        [("the", "DT"), ("dog", "NN"), ("barks", "VBZ"), (".", ".")],
        [("a", "DT"), ("cat", "NN"), ("sleeps", "VBZ"), (".", ".")],
    ]


def test_quotation_marks(save: Any) -> None:
    with pytest.raises(DataError, match="in quotation marks"):
        read_labels(save('"the"\t"DT"\n"dog"\t"NN"\n'))


def test_gold_where_there_is_none(save: Any) -> None:
    with pytest.raises(DataError, match="none of the gold labels in column 3"):
        read_labels(save(GOOD), gold=True)
    pos = re.sub(r"\t(\S+)\n", r"\tNN\n", VOTES * 2)
    with pytest.raises(DataError, match="none of the gold labels in column 5"):
        read_votes(save(pos), columns="2:4", gold=-1)


def test_scores_where_labels_are_due(save: Any) -> None:
    for cells in (("0.981", "1.000"), ("O=0.2", "O=.5")):
        text = f"the\tO\t{cells[0]}\ndog\tB-X\t{cells[1]}\n"
        with pytest.raises(DataError, match="found numbers such as"):
            read_labels(save(text))
        assert read_labels(save(text), columns="token,label,-").labels == [["O", "B-X"]]


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("\t", " "),
        "Rates B-NP\nfell B-VP\n",
        "Word NN\nis VBZ\nhere RB\n",  # no header: a sentence about a word
        "The DT\n",
        "Text NN O\n",
        "dogs dog NNS\ncats cat NNS\nran run VBD\nsat sit VBD\n",  # a lemma column
        "4-2\tCD\n50-1\tCD\n",
        "1\tCD\n2\tCD\n",
        "U.S. NNP\nCorp. NNP\n",
        "a\tNN\tO\nb\tO\tO\nc\tVB\tB-X\n",
        "EU\tNNP\tB-NP\tB-ORG\nrejects\tVBZ\tB-VP\tO\nit\tPRP\tB-NP\tO\n.\t.\tO\tO\n",
    ],
)
def test_no_false_alarm(save: Any, text: str) -> None:
    for read in (read_labels, read_text):
        read(save(text))


def test_no_false_alarm_in_small_votes(save: Any) -> None:
    read_votes(save("Jordan\tB-PER\tB-LOC\nrose\tO\tO\n"), columns="2:3")
    read_votes(save("run\tNN\tVB\n"), columns="2:3")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("token,label", "expected 2 columns, as many as were named .* found 3"),
        ("token,pos,-", "expected a column named 'label'"),
        ("a,b,label", "expected one column to be named 'token', found 0"),
        ("token,label,label", "'label', found 2"),
        ("token,,label", "a name for every column"),
        ("", "a name for every column"),
    ],
)
def test_refused_names(save: Any, columns: str, message: str) -> None:
    with pytest.raises((DataError, InputError), match=message):
        read_labels(save(GOOD), columns=columns)


def test_names_in_any_order(save: Any) -> None:
    path = save("B-NP\tx\tDT\tthe\nI-NP\ty\tNN\tdog\n")
    corpus = read_labels(path, columns=["label", "-", "pos", "token"])
    assert corpus.rows == [[("the", "DT"), ("dog", "NN")]]
    assert corpus.labels == [["B-NP", "I-NP"]]
    assert read_text(path, columns="label,-,pos,token") == corpus.rows
    partial = read_labels(path, columns="gold,label,-,token")
    assert partial.gold == [["B-NP", "I-NP"]]
    assert partial.label_set.names == ("x", "y")
    with pytest.raises(InputError, match="named 'gold'"):
        read_labels(path, columns="label,-,pos,token", gold=True)
    votes = read_votes(path, columns="gold,vote,vote,token")
    assert votes[0].votes == {"w00": ["x", "y"], "w01": ["DT", "NN"]}


@pytest.mark.parametrize("odd", ["nan", "None", "-", "_", "B_PER"])
def test_what_is_no_tag_among_chunk_tags(save: Any, odd: str) -> None:
    text = f"Ann\tB-PER\tB-PER\nLee\tI-PER\t{odd}\nleft\tO\tO\n\n" * 3
    path, sentence = save(text), f"such as 'B-PER' throughout, found '{odd}'"
    for read in (
        lambda **more: read_votes(path, columns="2:3", **more),
        lambda **more: read_votes(path, columns="token,vote,vote", **more),
        lambda **more: read_labels(path, columns="token,-,label", **more),
    ):
        with pytest.raises(DataError, match=sentence):
            read()
        assert read(scheme="plain").scheme == "plain"
    assert len(read_text(path)) == 3  # where no label is asked for


def test_labels_to_learn_from(save: Any) -> None:
    for text, message in (
        ("a\tO\nb\tO\n", "only 'O'"),
        ("a\tx\nb\ty\nc\tz\n", "3 different labels for 3 tokens"),
    ):
        partial = read_labels(save(text))
        with pytest.raises(DataError, match=message):
            check_learnable("file", partial.candidates, partial.label_set)
    good = read_labels(save(GOOD))
    check_learnable("file", good.candidates, good.label_set)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["B-X", "L-X", "U-Y", "O"], "prefixes L and U"),
        (["b-x", "i-x", "o"], "small letters"),
        (["B_X", "I_X", "O"], "underscores"),
        (["X-B", "X-I", "O"], "type before the prefix"),
    ],
)
def test_chunk_tags_in_another_spelling(labels: list[str], message: str) -> None:
    label_set = LabelSet(tuple(labels))
    candidates = [[{name} for name in labels] * 3]
    with pytest.raises(DataError, match=f"{message}.*--scheme plain"):
        check_learnable("file", candidates, label_set)
    check_learnable("file", candidates, label_set, "plain")


def test_votes_to_learn_from() -> None:
    with pytest.raises(DataError, match="votes hold only 'O'.*columns of the votes"):
        check_learnable("file", [[{"O"}] * 3], LabelSet(("O",)), votes=True)
    words = LabelSet(tuple("abcde"))
    candidates = [[{name} for name in words]]
    with pytest.raises(DataError, match="5 different labels.*token,vote,vote"):
        check_learnable("file", candidates, words, votes=True)
    check_learnable("file", candidates, words, votes=True, named=True)


def test_annotators_who_write_in_different_schemes(save: Any) -> None:
    rows = [("Ann", "B-X", "B-X"), ("Lee", "I-X", "E-X"), ("left", "O", "O")]
    text = "".join("\t".join(row) + "\n" for row in rows) + "\n"
    votes = read_votes(save(text * 2), columns="2:3")
    with pytest.raises(DataError, match=r"w01 writes .*iobes \(such as 'E-X'\), w00 w"):
        check_votes("file", votes)
    check_votes("file", votes, "iobes")
    check_votes("file", read_votes(save(text), columns="2:3"))  # too few to tell
    mixed = save((text * 2).replace("\tB-X\tB-X", "\tX\tB-X"))
    with pytest.raises(DataError, match="throughout, found 'X' among them"):
        read_votes(mixed, columns="2:3")


def test_a_column_of_features_among_the_votes(save: Any) -> None:
    rows = [("Ann", "NNP", "B-X", "B-X"), ("Lee", "NNP", "I-X", "O")]
    rows += [("left", "VBD", "O", "O"), (".", ".", "O", "?")]
    path = save("".join("\t".join(row) + "\n" for row in rows))
    columns = "token,vote,vote,vote"
    with pytest.raises(DataError, match=r"throughout, found '\.' among them"):
        read_votes(path, columns=columns)
    votes = read_votes(path, columns=columns, scheme="plain")
    with pytest.raises(DataError, match=r"w00 gives .*'\.', and others 'B-X'.*--votes"):
        check_votes("file", votes)
    with pytest.raises(DataError, match="w00 gives labels that nobody else gives"):
        check_votes("file", votes, "plain")
    check_votes("file", votes, "plain", named=True)
    check_votes("file", read_votes(path, columns="3:4"))
    # A rule may have labels of its own, where it says something.
    labels = [("B-Y", "a"), ("I-Y", "b"), ("B-Z", "c")]
    text = "".join(f"{w}\tB-X\t?\n{w}\tO\t{label}\n" for label, w in labels)
    rules = save(text)
    check_votes("file", read_votes(rules, columns="2:3"))


def test_plain_labels_are_learnt() -> None:
    labels = ("NN", "VB", "O", "noun-sg", "b", "L")
    check_learnable("file", [[{name} for name in labels] * 3], LabelSet(labels))


def test_text_for_a_model(save: Any) -> None:
    rows = read_text(save("the\tDT\ndog\tNN\n"))
    check_text("file", rows, 2, ("O",), {"DT", "NN", "VB"})
    with pytest.raises(DataError, match="expected 3 columns, .* found 2; add the miss"):
        check_text("file", rows, 3, ("O",))
    with pytest.raises(DataError, match="expected 1 column, .* found 2; name"):
        check_text("file", rows, 1, ("O",))
    with pytest.raises(DataError, match="holds labels of the model: say --gold"):
        check_text("file", rows, 1, ("DT", "NN", "VB"))
    with pytest.raises(DataError, match="the second column as the model was trained"):
        check_text("file", rows, 2, ("O",), {"NOUN", "DET"})
