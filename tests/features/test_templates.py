from __future__ import annotations

import pytest

from tagsift.errors import InputError
from tagsift.features import Template, column_templates, default_templates
from tagsift.features.templates import DEFAULT_GROUPS, attribute, word_shape


@pytest.mark.parametrize(
    ("word", "shape", "brief"),
    [
        ("German", "Xxx", "Xx"),
        ("IBM", "XX", "X"),
        ("1,250.75", "d,dd.dd", "d,d.d"),
        ("McDonald's", "XxXxx'x", "XxXx'x"),
        ("...", "..", "."),
        ("", "", ""),
        ("Ünïted", "Xxx", "Xx"),
        ("x\n\n\ny", "x\n\nx", "x\nx"),
    ],
)
def test_shapes(word, shape, brief):
    assert word_shape(word) == shape
    assert word_shape(word, 1) == brief


@pytest.mark.parametrize(
    ("name", "word", "value"),
    [
        ("word", "The", "The"),
        ("lower", "The", "the"),
        ("prefix1", "The", "t"),
        ("prefix3", "The", "the"),
        ("prefix4", "The", None),
        ("suffix2", "Making", "ng"),
        ("suffix4", "Making", "king"),
        ("suffix1", "", None),
        ("digits", "1996", "all"),
        ("digits", "1996-97", "some"),
        ("digits", "ninety", None),
        ("numeral", "1996-B7", "0000-b0"),
        ("numeral", "ninety", None),
        ("capitals", "German", "initial"),
        ("capitals", "EU", "all"),
        ("capitals", "U.N.", "all"),
        ("capitals", "I", "single"),
        ("capitals", "eBay", "inner"),
        ("capitals", "'Tis", "inner"),
        ("capitals", "rejects", None),
        ("capitals", "12", None),
        ("pos", "NNP", "NNP"),
        ("column7", "x", "x"),
    ],
)
def test_attributes(name, word, value):
    assert attribute(name).value(word) == value


def test_columns_of_attributes():
    assert attribute("suffix3").column == 0
    assert attribute("pos").column == 1
    assert attribute("column12").column == 12


def test_written_and_read_again():
    for template in default_templates():
        assert Template.parse(template.group, template.name) == template


def test_default_groups():
    templates = default_templates()
    assert {t.group for t in templates} == set(DEFAULT_GROUPS)
    assert len({t.name for t in templates}) == len(templates)
    assert all(-2 <= place <= 2 for t in templates for _, place in t.parts)
    assert {k for t in templates for k in t.columns} == {0, 1}
    only = default_templates(["pos", "word"])
    assert [t.group for t in only][-1] == "word"
    assert {t.group for t in only} == {"pos", "word"}


def test_column_templates():
    templates = column_templates(2, (0, 1))
    assert [t.name for t in templates] == ["column2[0]", "column2[1]"]
    assert {t.group for t in templates} == {"column2"}
    assert templates[0].columns == {2}


@pytest.mark.parametrize("text", ["lower", "lower[]", "lower[a]", "", "lower[0]|"])
def test_bad_template(text):
    with pytest.raises(InputError, match=r"such as 'lower\[-1\]'"):
        Template.parse("window", text)


def test_unknown_names():
    with pytest.raises(InputError, match="no attribute 'stem' .* lower"):
        Template.parse("window", "stem[0]")
    with pytest.raises(InputError, match="no group .* 'stems'; choose from word"):
        default_templates(["stems"])
