"""Measurements: each prints what it measured, and says in its exit code whether that is enough."""
