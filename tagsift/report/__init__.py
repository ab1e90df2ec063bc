"""Reports: one set of records, rendered as HTML, Markdown or on the screen.

`Report`, `Section`, `Table` and `Figure` are what a report is made of; `write_html`,
`write_markdown` and `print_report` show it. `scores_report` and `demo_report` build
whole reports; the plot functions return figures for reports of one's own.
"""

from tagsift.report.calibration import reliability_diagram, risk_coverage_plot
from tagsift.report.document import (
    Column,
    Figure,
    Mark,
    Report,
    Section,
    Stat,
    Table,
)
from tagsift.report.evolution import Evolution, confidence_evolution
from tagsift.report.html import render_html, write_html
from tagsift.report.lines import Band, LinePanel, line_panels
from tagsift.report.markdown import render_markdown, write_markdown
from tagsift.report.matrices import (
    confusion_plot,
    heat_map,
    sentence_map,
    transition_matrix,
)
from tagsift.report.ranks import critical_difference_diagram
from tagsift.report.records import Suspect, Tagged, Training
from tagsift.report.scores import demo_report, scores_report
from tagsift.report.terminal import print_report, rich_table

__all__ = [
    "Band",
    "Column",
    "Evolution",
    "Figure",
    "LinePanel",
    "Mark",
    "Report",
    "Section",
    "Stat",
    "Suspect",
    "Table",
    "Tagged",
    "Training",
    "confidence_evolution",
    "confusion_plot",
    "critical_difference_diagram",
    "demo_report",
    "heat_map",
    "line_panels",
    "print_report",
    "reliability_diagram",
    "render_html",
    "render_markdown",
    "rich_table",
    "risk_coverage_plot",
    "scores_report",
    "sentence_map",
    "transition_matrix",
    "write_html",
    "write_markdown",
]
