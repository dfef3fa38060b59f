"""The real Tinker SDK as the caller, in a process of its own."""
