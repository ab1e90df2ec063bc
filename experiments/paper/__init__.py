"""Section IV of the paper: its grid of cells, and all that is made of the records.

`suite` reads what shall be run, `grid` lists the cells, `results` finds records by
task, method and setting; `tables`, `figures`, `comparison` and `claims` are made of
them, and `page` puts everything together.
"""
