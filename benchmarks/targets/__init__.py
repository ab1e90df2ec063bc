"""The benchmarks, one file each; `python -m benchmarks NAME` runs NAME.py."""
