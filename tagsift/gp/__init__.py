"""The structured Gaussian process: prior, likelihood, posterior, ascent, prediction."""
