"""brat's folders: standoff, several annotators, and names that lead elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tagsift.data.documents import Document, Layer, Mark
from tagsift.data.lossy import Losses
from tagsift.errors import DataError, InputError
from tagsift.io.formats import Options, detect, read_documents, write_documents

TEXT = "Ann 🦉 saw left\nand right atria."
ANN = """\
T1\tPER 0 3\tAnn
T4\tBODY 10 14;25 30\tleft atria
T2\tBODY 10 14;15 18\tleft and
A1\tNegation T4
M2\tLevel T4 high
R1\tSees Arg1:T1 Arg2:T4\t
E1\tSee:T1 Theme:T4
*\tEquiv T1 T4
N1\tReference T1 Wikipedia:123\tAnn
#1\tAnnotatorNotes T1\tnot sure, see p. 3
#2\tAnnotatorNotes T4\tscore=0.75
"""


def save(folder: Path, files: dict[str, str]) -> Path:
    for name, content in files.items():
        path = folder / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    return folder / "corpus"


def read(path: Path, **told: Any) -> list[Document]:
    return list(read_documents(path, None, Options(**told)))


def test_everything_comes_back(tmp_path: Path) -> None:
    path = save(tmp_path, {"a.txt": TEXT, "a.ann": ANN, "b.txt": "x", "c/d.txt": "y"})
    (path / "c" / "d.ann").write_bytes(b"")
    assert detect(path).name == "brat"
    first, second, third = read(path)
    assert [one.id for one in (first, second, third)] == ["a", "b", "c/d"]
    assert second.layers == () and third.layers[0].marks == ()
    marks = first.layers[0].marks or ()
    assert [(m.start, m.end, m.labels, m.score, m.pieces) for m in marks] == [
        (0, 3, ("PER",), None, ()),
        (10, 30, ("BODY",), 0.75, ((10, 14), (25, 30))),
        (10, 18, ("BODY",), None, ()),  # brat cuts spans where lines end
    ]
    options = Options(losses=Losses(strict=True))
    write_documents([first, second, third], tmp_path / "b", "brat", options)
    assert read(tmp_path / "b") == [first, second, third]
    written = (tmp_path / "b" / "a.ann").read_text("utf-8")
    others = [line for line in ANN.split("\n") if line[:2] != "#2"]
    assert sorted(others + ["#2\tAnnotatorNotes T4\tscore=0.75"]) == sorted(
        written.split("\n")
    )
    assert "[entities]\nBODY\nPER\n" in (tmp_path / "b" / "annotation.conf").read_text()


@pytest.mark.parametrize(
    ("line", "told", "found"),
    [
        ("T1\tX 6 9\tsaw", "auto", (6, 9)),
        ("T1\tX 7 10\tsaw", "auto", (6, 9)),  # UTF-16
        ("T1\tX 9 12\tsaw", "auto", (6, 9)),  # bytes
        ("T1\tX 7 10", "utf-16", (6, 9)),
        ("T1\tX 9 12", "bytes", (6, 9)),
        ("T1\tX 7 10", "characters", (7, 10)),
        ("T1\tX 7 10\tlion", "auto", (7, 10)),
    ],
)
def test_offsets_are_told_by_the_quoted_text(
    tmp_path: Path, line: str, told: str, found: tuple[int, int]
) -> None:
    path = save(tmp_path, {"a.txt": TEXT, "a.ann": line})
    losses = Losses()
    (document,) = read(path, offsets=told, losses=losses)
    (mark,) = document.layers[0].marks or ()
    assert (mark.start, mark.end) == found
    assert bool(losses.counts) == ("lion" in line)


def test_subfolders_with_the_same_texts_are_annotators(tmp_path: Path) -> None:
    a, b = "T1\tPER 0 3\tAnn\n", "T1\tORG 0 3\tAnn\n"
    files = {"eve/1.txt": TEXT, "eve/1.ann": a, "bob/1.txt": TEXT, "bob/1.ann": b}
    path = save(tmp_path, files | {"eve/2.txt": "x", "eve/2.ann": ""})
    one, two = list(read_documents(path, "brat"))
    assert [x.annotator for x in one.layers] == ["bob", "eve"]
    assert [x.annotator for x in two.layers] == ["eve"] and two.id == "2"
    write_documents([one, two], tmp_path / "b", "brat")
    assert read(tmp_path / "b") == [one, two]
    (path / "bob" / "2.txt").write_text("y")
    with pytest.raises(DataError, match="the same text 2.txt"):
        list(read_documents(path, "brat"))
    (path / "bob" / "1.txt").write_text("Ann")  # now they are parts of a corpus
    assert [d.id for d in read_documents(path, "brat")] == [
        "bob/1", "bob/2", "eve/1", "eve/2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["../x", "/etc/x", "..", ".", "a/../../x", "~/x", "C:\\x", "a\0b", ".hidden", "",
     "a//b", "x" * 300, "a\nb", "https://x.org/a?b=c", " ", "con:"],
)  # fmt: skip
def test_no_id_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    inside = tmp_path / "deep" / "er"
    inside.mkdir(parents=True)
    losses = Losses()
    document = Document(name, "a", layers=(Layer("brat", marks=()),))
    options = Options(losses=losses)
    write_documents([document, document], inside / "out", "brat", options)
    files = {p for p in tmp_path.rglob("*") if p.is_file()}
    assert all(p.is_relative_to(inside / "out") for p in files) and len(files) == 5
    assert losses.counts["id that cannot name a file, changed"] >= 1
    assert len(list(read_documents(inside / "out", "brat"))) == 2


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    path = save(tmp_path, {"a.txt": TEXT})
    (tmp_path / "secret").write_text("secret")
    (path / "b.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(DataError, match="a link out of it"):
        list(read_documents(path, "brat"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("T1\tPER 0\tAnn", "expected a line of brat"),
        ("T1 PER 0 3", "expected a line of brat"),
        ("T1\tPER 0 99\tAnn", "in the 31 characters"),
        ("T1\tPER 3 0\tAnn", "in the 31 characters"),
        ("T1\tPER 0 " + "9" * 99, "expected a line of brat"),
        ("nonsense", "expected a line of brat"),
    ],
)
def test_bad_lines(tmp_path: Path, line: str, message: str) -> None:
    path = save(tmp_path, {"a.txt": TEXT, "a.ann": f"\n{line}\n"})
    with pytest.raises(DataError, match=message) as caught:
        read(path)
    assert caught.value.line == 2 and str(caught.value.path).endswith("a.ann")


def test_where_it_cannot_be_written(tmp_path: Path) -> None:
    path = save(tmp_path, {"a.txt": TEXT})
    with pytest.raises(DataError, match="a new or an empty folder"):
        write_documents([], path, "brat")
    with pytest.raises(InputError, match="the name of a folder"):
        write_documents([], "-", "brat")
    with pytest.raises(DataError, match="found none of this name"):
        list(read_documents(tmp_path / "none", "brat"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match=r"expected \.txt files"):
        list(read_documents(tmp_path / "empty", "brat"))
    write_documents([], tmp_path / "empty", "brat")


def test_what_spans_can_be(tmp_path: Path) -> None:
    marks = (Mark(0, 3, ("A", "B c"), 0.5), Mark(4, 5, ("A",)))
    losses = Losses()
    document = Document("1", TEXT, layers=(Layer("m", "model", marks=marks),))
    options = Options(losses=losses, offsets="utf-16")
    write_documents([document], tmp_path / "a", "brat", options)
    assert (tmp_path / "a" / "1.ann").read_text("utf-8") == (
        "T1\tA 0 3\tAnn\nT2\tB_c 0 3\tAnn\nT3\tA 4 6\t🦉\n"
        "#1\tAnnotatorNotes T1\tscore=0.5\n#2\tAnnotatorNotes T2\tscore=0.5\n"
    )
    assert len(losses.counts) == 3  # its kind, its name, and spaces in a label


def test_tags_that_break_their_scheme_are_counted(tmp_path: Path) -> None:
    layer = Layer("brat", tags=("O", "I-X", "B-X"), scheme="iob2")
    document = Document("1", rows=(("a",), ("b",), ("c",)), layers=(layer,))
    losses = Losses()
    write_documents([document], tmp_path / "a", "brat", Options(losses=losses))
    (one,) = read(tmp_path / "a")
    marks = one.layers[0].marks or ()
    assert [(m.start, m.end) for m in marks] == [(2, 3), (4, 5)]
    kind = "sentence with tags that break their scheme, mended as spans"
    assert losses.counts[kind] == 1
