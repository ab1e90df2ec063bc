"""Learn sequence taggers from labels nobody is sure of."""
