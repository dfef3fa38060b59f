"""What the SDK asks for, what the router answers, and the result that the SDK reads; no sockets and no state."""
