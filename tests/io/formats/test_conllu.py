"""CoNLL-U: what is not a word is kept, and only the labels are replaced."""

from __future__ import annotations

from pathlib import Path

import pytest

from tagsift.data.documents import Document, Layer
from tagsift.data.lossy import Losses
from tagsift.errors import DataError, InputError
from tagsift.io.formats import Options, read_documents, write_documents

FILE = """\
# newdoc id = d1
# sent_id = s-1
# text = Vámonos al mar, "ya".
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\tvm\tMood=Imp\t0\troot\t0:root\tNER=O
2\tnos\tnosotros\tPRON\t_\t_\t1\tobj\t1:obj\t_
3-4\tal\t_\t_\t_\t_\t_\t_\t_\t_
3\ta\ta\tADP\tsp\t_\t5\tcase\t5:case\t_
4\tel\tel\tDET\tda\t_\t5\tdet\t5:det\t_
5\tmar\tmar\tNOUN\tnc\t_\t1\tobl\t1:obl\tNER=B-LOC|SpaceAfter=No
5.1\tque\tque\tPRON\t_\t_\t_\t_\t1:x\tCopyOf=-1
6\t,\t,\tPUNCT\tfc\t_\t7\tpunct\t7:punct\t_
7\t"\t"\tPUNCT\tfe\t_\t8\tpunct\t8:punct\tSpaceAfter=No
8\tya\tya\tADV\trg\t_\t1\tadvmod\t1:advmod\tSpaceAfter=No
9\t"\t"\tPUNCT\tfe\t_\t8\tpunct\t8:punct\tSpaceAfter=No
10\t.\t.\t_\tfp\t_\t1\tpunct\t1:punct\t_

# a comment of its own
1\tNew York\tNew York\tPROPN\t_\t_\t0\troot\t_\t_

"""


def save(folder: Path, content: str = FILE) -> Path:
    path = folder / "a.conllu"
    path.write_bytes(content.encode())
    return path


def read(path: Path, **told: object) -> list[Document]:
    return list(read_documents(path, None, Options(**told)))  # type: ignore[arg-type]


@pytest.mark.parametrize("key", [None, "UPOS", "XPOS", "NER", "None"])
def test_the_same_file_comes_back(tmp_path: Path, key: str | None) -> None:
    docs = read(save(tmp_path), label_key=key)
    losses = Losses(strict=True)
    write_documents(docs, tmp_path / "b.conllu", options=Options(losses=losses))
    assert (tmp_path / "b.conllu").read_text("utf-8") == FILE


def test_words_labels_and_offsets(tmp_path: Path) -> None:
    first, second = read(save(tmp_path))
    assert (first.id, second.id) == ("s-1", "2")
    assert first.tokens[:6] == ("Vamos", "nos", "a", "el", "mar", ",")
    assert first.text == 'Vámonos al mar, "ya".'
    assert first.offsets is not None and len(first.offsets) == 10
    spelled = [first.text[a:b] for a, b in first.offsets]
    assert spelled == ["Vám", "onos", "a", "l", "mar", ",", '"', "ya", '"', "."]
    assert first.layers[0].tags is not None and first.layers[0].tags[-1] is None
    assert second.tokens == ("New York",) and second.text is None
    named = read(tmp_path / "a.conllu", label_key="NER")
    assert named[0].layers[0].tags == ("O", *[None] * 3, "B-LOC", *[None] * 5)
    assert named[1].layers == ()
    wide = read(tmp_path / "a.conllu", columns="form,lemma,xpos")
    assert wide[0].rows is not None and wide[0].rows[0] == ("Vamos", "ir", "vm")
    with pytest.raises(InputError, match="columns=form"):
        read(tmp_path / "a.conllu", columns="lemma")


@pytest.mark.parametrize(("key", "line"), [("UPOS", "ADV\trg"), ("XPOS", "ADV\tX")])
def test_only_the_labels_are_replaced(tmp_path: Path, key: str, line: str) -> None:
    docs = read(save(tmp_path), label_key=key)
    new = "X" if key == "XPOS" else "ADV"
    ours = [
        d.with_layers([Layer("m", "model", tags=(new,) * len(d.tokens))]) for d in docs
    ]
    losses = Losses()
    options = Options(losses=losses, label_key=key)
    write_documents(ours, tmp_path / "b.conllu", options=options)
    written = (tmp_path / "b.conllu").read_text("utf-8").split("\n")
    for old, now in zip(FILE.split("\n"), written, strict=True):
        a, b = old.split("\t"), now.split("\t")
        place = 3 if key == "UPOS" else 4
        assert a[:place] + a[place + 1 :] == b[:place] + b[place + 1 :]
        if a[0].isdecimal():
            assert b[place] == new
        elif len(a) > 1:
            assert a == b
    assert any(line in one for one in written)
    assert list(losses.counts) == ["name of the annotator, which conllu cannot hold"]


def test_documents_from_elsewhere(tmp_path: Path) -> None:
    document = Document(
        "d",
        "Ann left. Bob, too.",
        tuple((w,) for w in ("Ann", "left", ".", "Bob", ",", "too", ".")),
        ((0, 3), (4, 8), (8, 9), (10, 13), (13, 14), (15, 18), (18, 19)),
        (0, 3, 7),
        (Layer("labels", tags=("B-PER", "O", "O", frozenset({"O", "B-X"}), *"OOO")),),
    )
    losses = Losses()
    path = tmp_path / "a.conllu"
    write_documents([document], path, options=Options(losses=losses))
    assert path.read_text("utf-8").startswith(
        "# newdoc id = d\n# sent_id = d-1\n# text = Ann left.\n"
        "1\tAnn\t_\t_\t_\t_\t_\t_\t_\tNER=B-PER\n"
        "2\tleft\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No|NER=O\n"
    )
    assert len(losses.counts) == 2  # sentences apart, and the candidates
    one, two = read(path, label_key="NER")
    assert one.text == "Ann left." and two.text == "Bob, too."
    assert two.layers[0].tags == (None, "O", "O", "O")
    bad = Document("d", rows=(("a\tb",),), sentences=(0, 1))
    with pytest.raises(InputError, match="words without TAB"):
        write_documents([bad], tmp_path / "c.conllu")


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", None, "found an empty file"),
        ("# only\n\n", 1, "the words of a sentence"),
        ("1\ta\t_\n", 1, "10 columns"),
        ("1\t\t_\t_\t_\t_\t_\t_\t_\t_\n", 1, "an empty one"),
        ("2\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", 1, "expected word 1"),
        ("1-0\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", 1, "expected word 1"),
        ("# x\n1-3\ta\t_\t_\t_\t_\t_\t_\t_\t_\n1\ta" + "\t_" * 8, 1, "too few"),
        ("1\ta" + "\t_" * 8 + "\n2.1\ta" + "\t_" * 8, 2, "expected word 2"),
    ],
)
def test_bad_files(
    tmp_path: Path, content: str, line: int | None, message: str
) -> None:
    with pytest.raises(DataError, match=message) as caught:
        list(read_documents(save(tmp_path, content), "conllu"))
    assert caught.value.line == line


def test_text_that_is_not_spelled_by_the_words(tmp_path: Path) -> None:
    losses = Losses()
    path = save(tmp_path, "# text = b\n1\ta" + "\t_" * 8 + "\n\n")
    (document,) = read(path, losses=losses)
    assert document.text is None and len(losses.counts) == 1
