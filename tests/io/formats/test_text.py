import gzip
import io
import os
import sys
import threading
import tracemalloc

import pytest

from tagsift.errors import DataError, InputError
from tagsift.io.formats import Options, detect, format_to_write, read_documents
from tagsift.io.formats.text import read_bursts
from tests.io.formats.files import read
from tests.waiting import LIMIT

TEXT = "Ann left. Bob's here.\r\n\r\n  東京。 \u05e9\u05dc\u05d5\u05dd\n\nend"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT.encode())
    return path


def test_a_line_is_a_document(path):
    first, second, third = read(path)
    assert first.id == "1" and first.text == "Ann left. Bob's here."
    assert first.tokens == ("Ann", "left", ".", "Bob", "'s", "here", ".")
    assert first.sentences == (0, 3, 7)
    assert second.id == "3" and second.tokens == ("東", "京", "。", "שלום")
    assert [second.text[a:b] for a, b in second.offsets] == list(second.tokens)
    assert (third.id, third.tokens) == ("5", ("end",))


def test_other_shapes(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\nA wrapped\r\nline.\n \nNext\n\n")
    parts = read(path, shape="paragraphs")
    assert [(d.id, d.text) for d in parts] == [
        ("2", "A wrapped\r\nline."),
        ("5", "Next"),
    ]
    (whole,) = read(path, shape="file")
    assert whole.text == "\nA wrapped\r\nline.\n \nNext\n"
    assert whole.sentences == (0, 4, 5)
    with pytest.raises(InputError, match="one of lines, paragraphs, file, found 'x'"):
        read(path, shape="x")


def test_another_tokenizer(path):
    assert read(path, tokenizer="spaces")[0].tokens[:2] == (
        "Ann",
        "left.",
    )


def test_the_format_is_told_by_the_ending(path, tmp_path):
    assert detect(path).name == "text"
    with pytest.raises(InputError, match="read only"):
        format_to_write(tmp_path / "b.txt", "text", None)


def test_gzip_and_standard_input(path, tmp_path, monkeypatch):
    packed = tmp_path / "a.txt.gz"
    packed.write_bytes(gzip.compress(TEXT.encode()))
    expected = list(read(path))
    assert list(read(packed)) == expected
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert list(read_documents("-", "text")) == expected


def test_empty_and_bad_files(tmp_path):
    path = tmp_path / "a.txt"
    for empty in (b"", b"\n \r\n", "\ufeff".encode()):
        path.write_bytes(empty)
        assert len(read(path)) == 0
        assert len(read(path, shape="file")) == 0
    for bad in (b"a\nb\0\n", b"a\n\xff\n"):
        path.write_bytes(bad)
        with pytest.raises(DataError, match=r"a\.txt, line 2"):
            read(path)


def test_long_lines_come_whole(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("word " * 50_000 + "\n" + "x" * 200_000)
    first, second = read(path)
    assert len(first.tokens) == 50_000 and second.tokens == ("x" * 200_000,)


def test_what_a_pipe_has_is_given_at_once(monkeypatch):
    """A line is read before the next one is written."""
    back, forth = os.pipe()
    heard, said = threading.Event(), []

    def speak():
        for word in ("one", "two"):
            os.write(forth, f"{word}\n".encode())
            assert heard.wait(LIMIT)
            heard.clear()
        os.close(forth)

    pipe = io.TextIOWrapper(os.fdopen(back, "rb"))
    monkeypatch.setattr(sys, "stdin", pipe)
    speaker = threading.Thread(target=speak)
    speaker.start()
    for documents in read_bursts("-", Options()):
        said += [document.text for document in documents]
        heard.set()
    speaker.join()
    pipe.close()
    assert said == ["one", "two"]


def test_memory_is_bounded(tmp_path):
    path = tmp_path / "a.txt"
    peaks = []
    for size in (8_000, 40_000):
        path.write_text("Ann lives in New York, they say.\n" * size)
        tracemalloc.start()
        assert sum(1 for _ in read_documents(path, "text")) == size
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 2**20
