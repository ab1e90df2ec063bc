"""Experiments: what is claimed of tagsift, run again by one command.

``python -m experiments NAME`` runs one of the files in `targets`; that is all an
experiment is. In the order of the work: `folds` reads corpora, cuts them and computes
features; `fitting` fits and scores; `experiment` says what a target must offer;
`runner` runs its cells, side by side and resumable; `records` keeps what came out, one
JSON line a cell; `tables` lays records out. `paper` holds the tables, figures and
claims of the paper's section IV. Nothing here is part of the installed package.
"""
