"""The one result: labels, how sure they are, who is reliable, and what to look at."""

from __future__ import annotations

from tagsift.cleaned.alternatives import Alternative as Alternative
from tagsift.cleaned.alternatives import SpanChain as SpanChain
from tagsift.cleaned.auditing import AuditPlan as AuditPlan
from tagsift.cleaned.auditing import Estimate as Estimate
from tagsift.cleaned.auditing import Statement as Statement
from tagsift.cleaned.auditing import audit as audit
from tagsift.cleaned.cleaned import Cleaned as Cleaned
from tagsift.cleaned.cleaning import clean as clean
from tagsift.cleaned.cleaning import cleaned_by as cleaned_by
from tagsift.cleaned.cleaning import counted as counted
from tagsift.cleaned.cleaning import quick as quick
from tagsift.cleaned.cleaning import tagged as tagged
from tagsift.cleaned.cleaning import transduced as transduced
from tagsift.cleaned.cleaning import unlabelled as unlabelled
from tagsift.cleaned.opening import cleaned_from as cleaned_from
from tagsift.cleaned.rendering import register as register
from tagsift.cleaned.saving import KIND as KIND

__all__ = [
    "Alternative",
    "AuditPlan",
    "Cleaned",
    "Estimate",
    "Statement",
    "audit",
    "clean",
]
