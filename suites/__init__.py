"""Subjects, the driver of a run, and the checks that judge it."""
