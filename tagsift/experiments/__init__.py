"""Section IV of the paper by one command.

In the order of the work: `protocol` cuts the corpora into folds, `suite` reads what
shall be run, `grid` lists its cells, `runner` runs them and `records` keeps what came
out. From the records alone `tables`, `figures`, `comparison` and `claims` are made, and
`page` puts them together. ``python -m tagsift.experiments`` runs a suite without the
packages that draw.
"""
