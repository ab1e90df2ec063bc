"""What a person is shown to check: where it stands, whole names, and what to write."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

MINISTRY = "Bundesministerium für wirtschaftliche Zusammenarbeit und Entwicklung"
TEXT = f"Eva Braun kam nach Bad Tölz. Das {MINISTRY} schwieg."
NAMES = {"Eva Braun": "PER", "Bad Tölz": "LOC", MINISTRY: "ORG"}
#: What each of three people marks; most of them miss Eva Braun.
MARKED = {
    "ann": ("Eva Braun", "Bad Tölz", MINISTRY),
    "bob": ("Bad Tölz", MINISTRY),
    "eve": ("Bad Tölz",),
}
QUICK = ("-m", "majority", "-q")


def span(name: str) -> dict[str, object]:
    start = TEXT.index(name)
    end = start + len(name)
    return {"start": start, "end": end, "text": name, "labels": [NAMES[name]]}


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """Label Studio's tasks of two sentences each, with numbers of their own."""
    about = {"from_name": "label", "to_name": "text", "type": "labels"}
    tasks = [
        {
            "id": number,
            "data": {"text": TEXT},
            "annotations": [
                {
                    "id": 10 * number + n,
                    "completed_by": {"email": f"{who}@example.org"},
                    "result": [{**about, "value": span(name)} for name in names],
                }
                for n, (who, names) in enumerate(MARKED.items())
            ],
        }
        for number in (4711, 4712)
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks), encoding="utf-8")
    return path


def table(out: str, title: str) -> list[dict[str, str]]:
    """The rows of a table on the screen, lines of one cell put together."""
    rows: list[list[str]] = []
    for line in out.split(title)[1].split("└")[0].splitlines():
        cells = [cell.strip() for cell in re.split("[│┃]", line)[1:-1]]
        if line.startswith("┃"):
            names = cells
        elif cells and cells[0]:
            rows.append(cells)
        elif cells:
            joined = zip(rows[-1], cells, strict=True)
            rows[-1] = [" ".join(filter(None, pair)) for pair in joined]
    return [dict(zip(names, row, strict=True)) for row in rows]


def sheet_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t"))


def fill_in(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)


def test_rank_and_its_sheet_say_which_task_it_is(tagsift, export, tmp_path):
    sheet, out = tmp_path / "looks.tsv", tmp_path / "out.json"
    told = tagsift("rank", export, *QUICK, "-o", sheet)
    assert told.status == 0, told.err
    for title in ("Tokens to", "Spans to", "Sentences to"):
        assert {row["document"] for row in table(told.out, title)} == {"4711", "4712"}
    facts = tagsift("rank", export, *QUICK, "--json").json
    for unit in ("tokens_first", "spans_first", "sentences_first"):
        for one in facts[unit]:
            assert one["document"] == ("4711" if one["sentence"] < 3 else "4712")
    rows = sheet_of(sheet)
    assert {(row["document"], row["sentence"]) for row in rows} == {
        ("4711", "1"), ("4711", "2"), ("4712", "3"), ("4712", "4")
    }  # fmt: skip
    row = next(r for r in rows if (r["sentence"], r["word"]) == ("3", "Eva"))
    row["right_label"] = "B-PER"
    fill_in(sheet, rows)
    told = tagsift("clean", export, *QUICK, "--exact", sheet, "-o", out)
    assert told.status == 0, told.err
    found = {task["id"]: task["predictions"][0]["result"] for task in tasks_of(out)}
    assert [len(found[number]) for number in (4711, 4712)] == [2, 3]
    for one in rows:  # a sheet from before there were ids
        del one["document"]
    fill_in(sheet, rows)
    assert tagsift("clean", export, *QUICK, "--exact", sheet, "-o", out).status == 0
    same = {task["id"]: task["predictions"][0]["result"] for task in tasks_of(out)}
    assert [len(same[number]) for number in (4711, 4712)] == [2, 3]


def tasks_of(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_report_says_which_task_it_is(tagsift, export, tmp_path):
    page = tmp_path / "page.html"
    assert tagsift("report", export, *QUICK, "-o", page).status == 0
    section = page.read_text(encoding="utf-8").split('id="what-to-check-first"')[1]
    heads = re.findall(r"<th scope=\"col\"[^>]*>([^<]*)</th>", section)
    assert heads[:3] == ["in context", "document", "at"]
    assert "<td" in section and ">4711<" in section and ">4712<" in section


def test_columns_have_no_ids(tagsift, votes, tmp_path):
    sheet = tmp_path / "looks.tsv"
    options = ("--votes", "2:5", *QUICK)
    told = tagsift("rank", votes, *options, "-o", sheet)
    assert "document" not in told.out
    assert list(sheet_of(sheet)[0])[:4] == ["rank", "sentence", "token", "word"]
    assert "document" not in tagsift("rank", votes, *options, "--json").out


def test_a_missed_name_of_several_words_is_one_item(tagsift, export):
    found = tagsift("rank", export, *QUICK, "--json", "--top", 9).json["spans_first"]
    missed = [one for one in found if one["label"] == "O" and one["votes"] != "O:3"]
    assert [one["word"] for one in missed] == ["Eva Braun"] * 2
    assert all((one["token"], one["last"]) == (1, 2) for one in missed)
    assert all(one["context"].startswith("[Eva Braun] kam") for one in missed)


@pytest.mark.parametrize(
    ("votes", "items"),
    [
        (["B-PER", "I-PER", "O"], ["Eva Maria", "kam"]),
        (["B-PER", "B-LOC", "O"], ["Eva", "Maria", "kam"]),  # two names side by side
        (["B-PER", "O", "B-LOC"], ["Eva", "Maria", "kam"]),
    ],
)
def test_neighbours_are_one_item_where_a_name_goes_on(tagsift, tmp_path, votes, items):
    path = tmp_path / "votes.tsv"
    words = zip(("Eva", "Maria", "kam"), votes, strict=True)
    path.write_text("".join(f"{w}\t{v}\tO\tO\n" for w, v in words), encoding="utf-8")
    told = tagsift("rank", path, "--votes", "2:4", *QUICK, "--json").json
    found = sorted((one["token"], one["word"]) for one in told["spans_first"])
    assert [word for _, word in found] == items


def test_the_context_never_cuts_the_span(tagsift, export, tmp_path):
    sheet = tmp_path / "looks.tsv"
    told = tagsift("rank", export, *QUICK, "-o", sheet)
    assert told.status == 0, told.err
    shown = [row["in context"] for row in table(told.out, "Spans to check")]
    assert f"… [{MINISTRY}] …" in shown
    assert all(row.count("[") == row.count("]") == 1 for row in shown)
    for row in table(told.out, "Tokens to check"):
        assert re.search(r"\[\S+\]", row["in context"])
    assert all(f"[{row['word']}]" in row["context"] for row in sheet_of(sheet))


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"right_label": "person"}, ["write O, B-NP, I-NP, or ok", "found 'person'"]),
        ({"right_label": "?"}, ["or nothing where you have not looked", "found '?'"]),
        (
            {"right_label": "ok", "label": ""},
            ["found '' as its label"],
        ),
        ({"right_label": "O", "sentence": ""}, ["expected the numbers of a sentence"]),
    ],
)
def test_the_sheet_says_what_to_write(tagsift, votes, tmp_path, cells, words):
    sheet, out = tmp_path / "looks.tsv", tmp_path / "out.tsv"
    options = ("--votes", "2:5", "-m", "majority")
    told = tagsift("rank", votes, *options, "-q", "-o", sheet)
    assert "ok where the label is right, nothing where you have not looked" in told.out
    rows = sheet_of(sheet)
    fill_in(sheet, [rows[0] | cells, *rows[1:]])
    told = tagsift("clean", votes, *options, "--exact", sheet, "-o", out)
    assert told.status == 2 and not out.exists()
    assert "looks.tsv, line 2" in told.err
    for part in words:
        assert part in told.err


def test_a_sheet_that_nobody_filled_in_is_pointed_at(tagsift, votes, tmp_path):
    sheet, out = tmp_path / "looks.tsv", tmp_path / "out.tsv"
    options = ("--votes", "2:5", "-m", "majority")
    tagsift("rank", votes, *options, "-q", "-o", sheet)
    told = tagsift("clean", votes, *options, "--exact", sheet, "-o", out)
    assert told.status == 0
    assert "its column right_label is empty" in told.err


def test_a_sheet_that_is_not_read_back_asks_for_nothing(tagsift, partial, tmp_path):
    sheet = tmp_path / "looks.tsv"
    options = ("--gold", "-m", "word-counts", "-q", "-o", sheet)
    told = tagsift("rank", partial, *options)
    assert told.status == 0
    assert told.out.endswith("tokens, ranked.\n") and "--exact" not in told.out


def test_an_empty_cell_of_a_column_says_what_to_write(tagsift, tmp_path):
    path = tmp_path / "votes.tsv"
    path.write_text("Rome\tB-LOC\t\nfell\tO\tO\n", encoding="utf-8")
    told = tagsift("agree", path, "--votes", "2:3")
    assert told.status == 2
    assert "found column 3 empty; write ? for a vote that was not given" in told.err
