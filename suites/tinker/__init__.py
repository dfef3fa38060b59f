"""The Tinker protocol from its caller's side: requests written and answers read on raw sockets, without the SDK."""
