"""Reports: one set of records, rendered as HTML or Markdown.

`Report`, `Section`, `Table` and `Figure` are what a report is made of; `write_html` and
`write_markdown` show it. `data_report` tells of a result, `scores_report` of a tagging;
the plot functions return figures for reports of one's own.
"""

# ruff: noqa: F403
from __future__ import annotations

from tagsift.report.bars import *
from tagsift.report.calibration import *
from tagsift.report.data import *
from tagsift.report.document import *
from tagsift.report.matrices import *
from tagsift.report.notebook import *
from tagsift.report.pages import render_html as render_html
from tagsift.report.pages import render_markdown as render_markdown
from tagsift.report.pages import write_html as write_html
from tagsift.report.pages import write_markdown as write_markdown
from tagsift.report.records import *
from tagsift.report.scores import scores_report as scores_report
from tagsift.report.votes import *
