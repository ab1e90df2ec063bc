"""What both Gaussian processes share.

`kernels` (one per label, or a sum over feature groups), `inducing` (which tokens carry
a posterior), `search` (for hyperparameters).
"""
