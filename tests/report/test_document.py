"""The records of a report."""

from __future__ import annotations

import dataclasses

import pytest

from tagsift.errors import InputError
from tagsift.report import Badge, Column, Figure, Report, Section, Table
from tagsift.report.document import prose


@pytest.mark.parametrize(
    ("column", "cell", "text"),
    [
        (Column("a", ".1f", 100), 0.1234, "12.3"),
        (Column("a", ".1f"), None, "–"),
        (Column("a", ".1f"), float("nan"), "–"),
        (Column("a", ",d"), 12345, "12,345"),
        (Column("a", ".1f"), "text", "text"),
        (Column("a"), 3, "3"),
        (Column("a"), Badge("yes", "good"), "yes"),
    ],
)
def test_cells_are_written(column, cell, text):
    assert column.text(cell) == text


def test_columns_are_aligned_by_kind():
    assert Column("a").side == "left"
    assert Column("a", ".1f").side == "right"
    assert Column("a", align="right").side == "right"


def test_best_values_stand_out_as_printed():
    columns = (Column("m"), Column("f1", ".1f", 100), Column("loss", ".2f"))
    rows = [("a", 0.8001, 0.5), ("b", 0.8003, None), ("c", 0.5, 0.3)]
    table = Table.best(columns, rows, higher=[1], lower=[2])
    # 80.0 twice: what looks equal is equally good.
    assert table.strong == {(0, 1), (1, 1), (2, 2)}
    alone = Table.best(columns, rows[:1], higher=[1])
    assert alone.strong == frozenset()


def test_ragged_rows_are_refused():
    with pytest.raises(InputError, match=r"Row 1 .* 'T' has 1 cells .* 2 columns"):
        Table((Column("a"), Column("b")), ((1, 2), (1,)), title="T")


def test_section_sorts_its_content_and_report_knows_missing_drawings():
    table = Table((Column("a"),), ((1,),))
    bare = Figure("F", "alt", (), table)
    section = Section("S", content=(table, bare))
    assert section.tables == (table,)
    assert section.figures == (bare,)
    assert "'.[plots]'" in Report("R", (section,), notices=("N.",)).all_notices[1]
    assert Report("R", (Section("S", content=(table,)),)).all_notices == ()
    with pytest.raises(dataclasses.FrozenInstanceError):
        section.title = "T"


def test_prose():
    parts = prose("A line\nand more.\n\n- one\n- two\n\n\nEnd.\n")
    assert [part.bullets for part in parts] == [False, True, False]
    assert parts[0].lines == ("A line and more.",)
    assert parts[1].lines == ("one", "two")
    assert prose("") == []
