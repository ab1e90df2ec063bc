"""The one door: files of any format in, and out again."""

# ruff: noqa: F403
from __future__ import annotations

from tagsift.io.chunked import *
from tagsift.io.column_file import column_lines as column_lines
from tagsift.io.column_roles import parse_columns as parse_columns
from tagsift.io.columns import *
from tagsift.io.format_choice import *
from tagsift.io.formats import *
from tagsift.io.formats._format import open_source as open_source
from tagsift.io.formats._format import open_target as open_target
from tagsift.io.formats._layers import of_annotator as of_annotator
from tagsift.io.formats.text import check_prose as check_prose
from tagsift.io.formats.text import read_bursts as read_bursts
from tagsift.io.merge import merged as merged
from tagsift.io.reading import *
from tagsift.io.review_sheet import *
from tagsift.io.to_tables import *
from tagsift.io.validate import check_learnable as check_learnable
from tagsift.io.validate import check_text as check_text
from tagsift.io.validate import check_votes as check_votes
from tagsift.io.writing import *
