"""The evidence matrix: what bare HTTP clients see of every fault of the catalogue."""
