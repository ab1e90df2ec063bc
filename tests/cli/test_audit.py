"""Audits by the command line: the sheet, the statement, and a data set's CI."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

import tagsift as package
from tagsift.cleaned import clean
from tests.cleaned.simulated import voted

VOTES = ("--votes", "2:5")


@pytest.fixture(scope="module")
def votes(tmp_path_factory):
    path = tmp_path_factory.mktemp("votes") / "votes.tsv"
    package.write(voted().with_columns(1), path, gold=False)
    return path


@pytest.fixture
def sheet(tagsift, votes, tmp_path):
    """A sheet that somebody has filled in."""
    path = tmp_path / "audit.tsv"
    drawn = tagsift("audit", votes, *VOTES, "-m", "majority", "-n", 50, "-o", path)
    assert drawn.status == 0, drawn.err
    assert "look at 50 sentences, drawn by chance" in drawn.out
    head, *rows = (line.split("\t") for line in path.read_text().splitlines())
    before, t = "", 0
    for row in rows:
        t = t + 1 if row[1] == before else 0
        before = row[1]
        right = voted().gold[int(row[1]) - 1][t]
        row[2], row[5] = "yes" if t == 0 else "", right if right != row[4] else ""
    path.write_text("".join("\t".join(row) + "\n" for row in (head, *rows)))
    return path


def test_python_and_the_command_line_state_the_same(tagsift, votes, sheet):
    plan = package.audit(
        clean(voted().with_columns(1), package.MajorityVote(random_state=0)),
        n=50,
    )
    for s in plan.sentences:
        plan.answer(s, voted().gold[s])
    mine = plan.result()
    facts = tagsift("audit", votes, *VOTES, "--looks", sheet, "--json").json
    assert facts["looks"] == 50
    for name in ("errors", "span_f1", "precision", "recall"):
        own = getattr(mine, name)
        found = [facts[name][key] for key in ("value", "low", "high")]
        assert found == pytest.approx([own.value, own.low, own.high], abs=1e-4)
    said = tagsift("audit", votes, *VOTES, "--looks", sheet, "--max-error", "90%")
    assert "of the labels are wrong (95 % sure; best guess" in said.out
    assert "The aim, 90 %, is met: you can stop." in said.out
    before, after = mine.calibration
    line = f"calibration error {100 * before:.1f} % → {100 * after:.1f} %."
    assert line in said.out


def test_parts_are_stated_together(tagsift, votes, sheet):
    how = ("--looks", sheet, "--by", "annotator")
    outcome = tagsift("audit", votes, *VOTES, *how)
    assert outcome.status == 0
    assert "All bounds of the last column hold at once, 95 % sure." in outcome.out
    parts = tagsift("audit", votes, *VOTES, *how, "--json").json["parts"]
    assert len(parts) == 4 and max(parts, key=lambda x: parts[x]["value"]) == "w03"
    wrong = tagsift("audit", votes, *VOTES, "--looks", sheet, "--by", "word")
    assert wrong.status == 2 and "kind must be" in wrong.err
    alone = tagsift("audit", votes, *VOTES, "--by", "label", "-o", sheet.parent / "n")
    assert alone.status == 2 and "--by needs the sheet" in alone.err


@pytest.mark.parametrize(("aim", "status"), [("0.9", 0), ("1e-6", 1)])
def test_check_ends_with_a_status(tagsift, votes, sheet, tmp_path, aim, status):
    junit = tmp_path / "junit.xml"
    how = ("--looks", sheet, "--max-error", aim, "--junit", junit)
    outcome = tagsift("check", votes, *VOTES, *how)
    assert outcome.status == status
    assert outcome.out.startswith(("passed: ", "failed: ")[status])
    assert len(outcome.out.splitlines()) == 1
    suite = ElementTree.parse(junit).getroot()
    assert suite.get("failures") == str(status)
    assert len(suite.findall("testcase/failure")) == status
    facts = tagsift("check", votes, *VOTES, *how, "--json")
    assert facts.status == status and facts.json["met"] is (status == 0)


@pytest.mark.parametrize("aim", ["3", "-1%", "many", "0"])
def test_an_aim_that_is_no_share_is_refused(tagsift, votes, sheet, aim):
    how = ("--looks", sheet, "--max-error", aim)
    outcome = tagsift("check", votes, *VOTES, *how)
    assert outcome.status == 2
    assert "--max-error: expected 3% or 0.03" in outcome.err


def test_a_corpus_that_changed_is_refused(tagsift, votes, sheet, tmp_path):
    changed = tmp_path / "changed.tsv"
    text = votes.read_text()
    changed.write_text(text.replace(text.split("\t")[0], "Elsewhere", 1))
    how = ("--looks", sheet, "--max-error", "90%")
    outcome = tagsift("check", changed, *VOTES, *how)
    assert outcome.status == 2
    assert "changed since the sentences were drawn" in outcome.err


def test_a_sheet_is_not_written_over(tagsift, votes, sheet):
    outcome = tagsift("audit", votes, *VOTES, "-o", sheet)
    assert outcome.status == 2 and "there is a file already" in outcome.err


def test_finished_labels_are_audited_without_a_model(tagsift, tmp_path):
    data, sheet = tmp_path / "data.conll", tmp_path / "audit.tsv"
    gold = voted().gold
    rows = ([("w", "x", tag) for tag in row] for row in gold)
    data.write_text("\n".join("".join("\t".join(x) + "\n" for x in r) for r in rows))
    drawn = tagsift("audit", data, "--label", 3, "-n", 30, "-o", sheet)
    assert drawn.status == 0, drawn.err
    lines = sheet.read_text().splitlines()
    before = ""
    for k, line in enumerate(lines[1:], 1):
        cells = line.split("\t")
        cells[2] = "yes" if cells[1] != before else ""
        before = cells[1]
        lines[k] = "\t".join(cells)
    sheet.write_text("\n".join(lines) + "\n")
    more = tagsift("audit", data, "--label", 3, "--looks", sheet, "--more", 5)
    assert more.status == 0 and "5 more sentences" in more.out
    how = ("--label", 3, "--looks", sheet, "--max-error", "20%")
    assert tagsift("check", data, *how).status == 0
    data.write_text(data.read_text().replace("\tO\n", "\tB-PER\n", 1))
    outcome = tagsift("check", data, *how)
    assert outcome.status == 2 and "labels have changed" in outcome.err
    wrong = tagsift("audit", data, "--label", 9, "-o", tmp_path / "x.tsv")
    assert wrong.status == 2 and "a column from 2 to 3" in wrong.err
