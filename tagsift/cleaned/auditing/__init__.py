"""Audits: looks drawn by chance, and a statement that holds whatever the model says.

In the order of the work: `labels` freezes what the statement is about, `drawing` says
which sentences are looked at, `shares` what is counted in them, `bound` what follows,
`statement` and `plan` are what people use, and `sheet` what they fill in.
"""

from __future__ import annotations

from tagsift.cleaned.auditing.plan import AuditPlan as AuditPlan
from tagsift.cleaned.auditing.plan import audit as audit
from tagsift.cleaned.auditing.statement import Estimate as Estimate
from tagsift.cleaned.auditing.statement import Statement as Statement

__all__ = ["AuditPlan", "Estimate", "Statement", "audit"]
