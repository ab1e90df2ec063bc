"""The review page: look at doubtful spans, decide, and let the model learn from it.

``corpus_view`` sentences, their documents, and the labels that there can be
``state``       a result, cut into what is looked at; at first, the votes counted
``results``     the last result in the store, for the next start
``rulings``     what decisions say of a sentence, laid over the labels found
``store``       decisions and leases in SQLite; nothing is ever overwritten
``queue``       what to look at next: states, filters, search
``ledger``      decisions in force, and the spans under them
``leases``      who has which sentence in hand
``describing``  an item as the page shows it
``forecast``    how far the review is, and what is left
``session``     one review: items go out, decisions come in
``learning``    fits in a process of their own
``exports``     the checked corpus, decisions, predictions
``requests``    what requests say, checked
``guard``       who may ask what: token, origin, sizes, headers
``http_errors`` what is refused
``pages``       templates; what is refused, as a page or as JSON
``app``         the web application; it and ``serving`` need the extra ``review``
``serving``     where it listens
"""

# ruff: noqa: F403
from __future__ import annotations

from tagsift.review.corpus_view import *
from tagsift.review.learning import *
from tagsift.review.ledger import *
from tagsift.review.session import *
from tagsift.review.state import *
from tagsift.review.store import *
