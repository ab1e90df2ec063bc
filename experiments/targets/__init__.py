"""The experiments, one file each; `python -m experiments NAME` runs NAME.py."""
