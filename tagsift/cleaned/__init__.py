"""The one result: labels, how sure they are, who is reliable, and what to look at."""

from __future__ import annotations

from tagsift.cleaned.auditing import AuditPlan as AuditPlan
from tagsift.cleaned.auditing import Estimate as Estimate
from tagsift.cleaned.auditing import Statement as Statement
from tagsift.cleaned.auditing import audit as audit
from tagsift.cleaned.cleaned import Cleaned as Cleaned
from tagsift.cleaned.cleaning import clean as clean
from tagsift.cleaned.cleaning import found_by as found_by

__all__ = ["AuditPlan", "Cleaned", "Estimate", "Statement", "audit", "clean"]
