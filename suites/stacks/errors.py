"""What goes wrong with Docker: one exception, with one message that says what to do."""

from suites.subject import SubjectError


class StackError(SubjectError):
    """A stack cannot be had, or the engine does not do what it was asked for (exit code 4)."""
