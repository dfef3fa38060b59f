"""Results that survive: scripts of what callers of futures do, lived through on real sockets, and judged."""
