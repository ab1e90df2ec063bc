"""Reports: one set of records, rendered as HTML or Markdown.

`Report`, `Section`, `Table` and `Figure` are what a report is made of; `write_html` and
`write_markdown` show it. `scores_report`, `demo_report` and `data_report` build
whole reports; the plot functions return figures for reports of one's own.
"""

# ruff: noqa: F403
from __future__ import annotations

from tagsift.report.bars import *
from tagsift.report.calibration import *
from tagsift.report.data import *
from tagsift.report.document import *
from tagsift.report.matrices import *
from tagsift.report.pages import *
from tagsift.report.records import *
from tagsift.report.scores import *
from tagsift.report.votes import *
